import { isObject } from '../../../json/value.js';
import type { JsonObject, JsonValue } from '../../../ports/json.js';

/** Characters of texts times characters of values: a server decides how many there are of both. */
const MOST_SEARCHED = 16 * 1024 * 1024;

/** Places in a text where a value is a part of another word, after which the search for it ends. */
const MOST_PARTS = 100;

/**
 * True for texts that have all texts and numbers of a structure in them. `true`, `false` and `null` are mostly said in words.
 * What is not looked for, because it would take too long, counts as not said.
 */
export function saysAll(texts: readonly string[], structure: JsonObject): boolean {
  const said = texts.flatMap((text) => (text.includes('\\u') ? [text, unescaped(text)] : [text]));
  const values = valuesOf(structure);
  if (lengthOf(said) * lengthOf(values) > MOST_SEARCHED) return false;
  return values.every((value) => said.some((text) => has(text, value) || has(text, escaped(value))));
}

/** So many characters of base64, and nothing else, are bytes. */
const BYTES = /^(?:data:[^,]{0,200},)?[A-Za-z0-9+/]{100,}={0,2}$/;

/** A copy in which texts of base64, of which a model reads nothing, are empty. */
export function withoutBytes(structure: JsonObject): JsonObject {
  const entries = Object.entries(structure).map(([key, member]) => [
    key,
    member === undefined ? null : blanked(member),
  ]);
  return Object.fromEntries(entries) as JsonObject;
}

function blanked(value: JsonValue): JsonValue {
  if (typeof value === 'string') return BYTES.test(value) ? '' : value;
  if (Array.isArray(value)) return value.map(blanked);
  // a number that a double does not hold has no prototype, and stays what it is
  return isObject(value) && Object.getPrototypeOf(value) !== null ? withoutBytes(value) : value;
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0);
}

/** Texts and numbers, as they are spelled. What has been taken out of the message is empty here. */
function valuesOf(value: JsonValue): string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value.trim()];
  if (typeof value === 'number') return [String(value)];
  if (Array.isArray(value)) return value.flatMap(valuesOf);
  // a number that a double does not hold is an object with its spelling
  return isObject(value) ? Object.values(value).flatMap((member) => valuesOf(member ?? null)) : [];
}

/** True where a text has a value that is not a part of another word: `c_1` is not in `c_12`. */
function has(text: string, value: string): boolean {
  let at = text.indexOf(value);
  for (let parts = 0; at >= 0 && parts < MOST_PARTS; parts++) {
    if (!isInWord(text, at) && !isInWord(text, at + value.length)) return true;
    at = text.indexOf(value, at + 1);
  }
  return false;
}

/** True where a letter or digit follows another one. */
function isInWord(text: string, at: number): boolean {
  return at > 0 && /^\w\w$/.test(text.slice(at - 1, at + 1));
}

/** As in JSON. */
function escaped(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

/** Servers in Python write each letter that is not English as four digits. */
function unescaped(text: string): string {
  return text.replace(/\\u([0-9a-fA-F]{4})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}
