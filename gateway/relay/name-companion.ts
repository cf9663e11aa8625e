import type { Encoding, FileSlot } from '../ports/file-slot.js';
import type { JsonObject, JsonValue } from '../ports/json.js';
import { EACH } from './file-slots.js';
import { isObject } from './request.js';
import { placeOf } from './schema-place.js';

/** What an argument's name says of its encoding and not of the file. */
const ENCODING = /(?:base64|b64|data|content|bytes|uri)$/;

/** Encodings with the name in them. */
const CARRIES_NAME = new Set<Encoding>(['dataUriNamed', 'object']);

/** Arguments for the name of the only file beside them. */
const ALONE: ReadonlySet<string> = new Set(['filename', 'originalfilename', 'originalname']);

/**
 * The slots of a tool, with the arguments that are given their files' names. A server that declares a file and cannot
 * be told its name inside of it has a separate argument for that, which only its own name points out: `photo_name` of
 * `photo`. What the operator configured, and what a declaration names itself, is not guessed at.
 */
export function withNameCompanions(tool: JsonObject, slots: readonly FileSlot[]): FileSlot[] {
  return slots.map((slot) => {
    if (slot.declaredBy === 'config' || slot.companions.name !== undefined || !needsName(slot)) return slot;
    const name = nameCompanion(tool, slot, slots);
    return name === undefined ? slot : { ...slot, companions: { ...slot.companions, name } };
  });
}

function needsName({ deliveries }: FileSlot): boolean {
  return !deliveries.some((delivery) => delivery.kind === 'encoded' && CARRIES_NAME.has(delivery.encoding));
}

function nameCompanion(tool: JsonObject, slot: FileSlot, slots: readonly FileSlot[]): string | undefined {
  const isList = slot.path.at(-1) === EACH;
  const path = isList ? slot.path.slice(0, -1) : slot.path;
  const key = path.at(-1);
  const parent = path.slice(0, -1);
  if (key === undefined || key === EACH) return undefined;
  const schema = parent.length === 0 ? tool.inputSchema : placeOf(tool, parent)?.schema;
  const siblings = isObject(schema) && isObject(schema.properties) ? schema.properties : {};
  const files = new Set(slots.filter((other) => isBeside(other, parent)).map((other) => other.path[parent.length]));
  const called = (wanted: ReadonlySet<string>) =>
    Object.keys(siblings).find(
      (name) => !files.has(name) && wanted.has(plain(name, isList)) && holdsNames(siblings[name], isList),
    );
  const name = called(namesFor(key)) ?? (files.size === 1 ? called(ALONE) : undefined);
  return name && (isList ? `${name}${EACH}` : name);
}

function isBeside({ path }: FileSlot, parent: readonly string[]): boolean {
  return path.length > parent.length && parent.every((segment, index) => path[index] === segment);
}

function namesFor(key: string): ReadonlySet<string> {
  const own = plain(key, false);
  const stems = new Set([own, own.replace(/s$/, ''), own.replace(ENCODING, '')].filter(Boolean));
  return new Set([...stems].flatMap((stem) => [`${stem}name`, `${stem}filename`]));
}

/** `photo_name`, `photoName` and `photo-name` are one; of a list, a plural is its singular. */
function plain(name: string, isList: boolean): string {
  const letters = name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
  return isList ? letters.replace(/names$/, 'name') : letters;
}

/** A text that may be any, or a list of them. */
function holdsNames(schema: JsonValue | undefined, isList: boolean): boolean {
  if (!isObject(schema)) return false;
  if (isList) return schema.type === 'array' && holdsNames(schema.items, false);
  const branches = [schema.anyOf, schema.oneOf].flatMap((union) => (Array.isArray(union) ? union : []));
  if (branches.length > 0) return branches.some((branch) => holdsNames(branch, false));
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  return types.includes('string') && schema.enum === undefined && schema.const === undefined;
}
