import type { JsonPath } from '../ports/json.js';
import type { HeldMessage } from '../wire/json/reader.js';
import { RANGE } from './ranges.js';

/** One response in a message: a batch may have several, with other messages between them. */
export interface Answer {
  /** Its place: empty, or its index in a batch. */
  base: JsonPath;
  /** The id as JSON text. */
  id: string;
}

/** An integer in its shortest spelling, so that its other spelling is known. */
const INTEGER = /^-?(?:0|[1-9]\d{0,14})$/;

/**
 * The responses in a message, in order. For a repeated id the last one counts, as for a parser. A response has a result
 * or an error: anything else with the id of a request, such as a log line of a server, is not an answer.
 */
export function answersIn(message: HeldMessage): Answer[] {
  const calls = new Set<string>();
  for (const { name, path } of message.captures) if (name === 'method') calls.add(elementOf(path));
  const answers = new Map<string, Answer>();
  for (const { name, path, text } of message.captures) {
    const element = elementOf(path);
    if (name === RANGE.id && !calls.has(element)) answers.set(element, { base: path.slice(0, -1), id: text });
  }
  if (answers.size === 0) return [];
  // of a discarded or malformed message nothing more was recorded; its requests get an error
  if (message.discarded || message.malformed) return [...answers.values()];
  const outcomes = outcomesIn(message);
  return [...answers].flatMap(([element, answer]) => (outcomes.has(element) ? [answer] : []));
}

const ELICIT = 'elicitation/create';

/**
 * The id, as JSON text, of a server's request to ask its client's user, however it is spelled; undefined for any other
 * message.
 */
export function elicitationIn(message: HeldMessage): string | undefined {
  const asks = message.captures.some(({ name, text }) => name === 'method' && spells(text, ELICIT));
  return asks ? (message.captured(RANGE.id) ?? 'null') : undefined;
}

/** JSON may spell every character of a string in several ways. */
function spells(text: string, value: string): boolean {
  if (text === `"${value}"`) return true;
  if (!text.includes('\\')) return false;
  try {
    return JSON.parse(text) === value;
  } catch {
    return false;
  }
}

/** Finds the response that contains a path: in a batch by its index, so that many paths among many responses cost little. */
export function answersByPlace<T extends Answer>(answers: readonly T[]): (path: JsonPath) => T | undefined {
  const places = new Map(answers.map((answer) => [answer.base[0], answer]));
  return (path) => places.get(undefined) ?? places.get(path[0]);
}

/**
 * The id that a request is known under when an answer names it. Some servers answer 2 as "2", and the official SDKs
 * accept that.
 * @param id as JSON text
 */
export function knownId(known: { has(id: string): boolean }, id: string): string {
  if (known.has(id)) return id;
  const other = otherSpelling(id);
  return other !== undefined && known.has(other) ? other : id;
}

function otherSpelling(id: string): string | undefined {
  if (INTEGER.test(id)) return `"${id}"`;
  const inner = id.slice(1, -1);
  return id.startsWith('"') && INTEGER.test(inner) ? inner : undefined;
}

/** Paths of the messages, single or in a batch, that have a result or an error. */
function outcomesIn(message: HeldMessage): Set<string> {
  const outcomes = new Set<string>();
  for (const { name, path } of message.ranges) {
    if ((name === RANGE.result || name === RANGE.error) && path.length <= 2) outcomes.add(elementOf(path));
  }
  return outcomes;
}

/** Which message of a batch a member at its top is in, as text; empty for a single message. */
export function elementOf(path: JsonPath): string {
  return path.slice(0, -1).join('/');
}
