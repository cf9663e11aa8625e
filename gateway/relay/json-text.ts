import type { JsonObject, JsonPatch, JsonPath, JsonValue } from '../ports/json.js';
import { createReader, type HeldMessage, type WatchRange } from '../wire/json/reader.js';
import { compileWatchTree, type WatchNode } from '../wire/json/watch-tree.js';
import { inOrder, insertMember, replaceRange } from './edits.js';
import { isObject } from './request.js';

const FOUND = 'found';

const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;

/** Where values stand in a JSON text, and which keys on the way to them came twice. */
export interface Located {
  message: HeldMessage;
  at(path: JsonPath): WatchRange | undefined;
  duplicate: { path: string; key: string } | undefined;
}

/**
 * Finds values by their paths without touching a byte of the text, which must be one JSON value that parses.
 * @param isBatch the paths begin with the index of a message
 */
export function locate(text: Buffer, paths: readonly JsonPath[], isBatch = false): Located {
  const root: WatchNode = {};
  for (const path of paths) {
    let node = root;
    for (const key of isBatch ? path.slice(1) : path) node = below(node, key);
    node.watch = FOUND;
  }
  let found: HeldMessage | undefined;
  const reader = createReader('json', {
    tree: compileWatchTree(root),
    maxHeld: Number.POSITIVE_INFINITY,
    maxDepth: Number.POSITIVE_INFINITY,
    slotMin: Number.POSITIVE_INFINITY,
    handler: {
      slot: () => ({ write: () => {}, end: () => {} }),
      message: (message) => {
        found = message;
      },
    },
  });
  reader.feed(text);
  reader.end();
  const message = found;
  if (!message || message.malformed) throw new Error('not one JSON value');
  return { message, at: (path) => rangeOf(message, path), duplicate: message.duplicates[0] };
}

/** One after the other, each patch looks at the whole text again: 5000 of them took 5 s. */
const MANY_PATCHES = 48;

/**
 * The text with its members set or removed; every other byte is untouched. Where there are many, the objects that have
 * such members are written anew.
 */
export function patchText(text: Buffer, patches: readonly JsonPatch[]): Buffer {
  return patches.length > MANY_PATCHES ? patchObjects(text, patches) : patches.reduce(patchOne, text);
}

function patchObjects(text: Buffer, patches: readonly JsonPatch[]): Buffer {
  const before = JSON.parse(text.toString('utf8')) as JsonObject;
  const after = patchValue(before, patches);
  const members = new Set<string>();
  const objects = new Map<string, JsonPath>();
  for (const { path } of patches) {
    let length = path.length - 1;
    while (length > 0 && !isObject(valueAt(before, path.slice(0, length)))) length -= 1;
    if (length === 0) members.add(String(path[0]));
    else objects.set(JSON.stringify(path.slice(0, length)), path.slice(0, length));
  }
  const outermost = [...objects.values()].filter(
    (path) =>
      !members.has(String(path[0])) &&
      path.every((_, length) => length === 0 || !objects.has(JSON.stringify(path.slice(0, length)))),
  );
  const { message } = locate(text, outermost);
  const ranges = new Map(message.ranges.map((range) => [JSON.stringify(range.path), range]));
  const edits = outermost.flatMap((path) => {
    const range = ranges.get(JSON.stringify(path));
    return range ? [replaceRange(range, JSON.stringify(valueAt(after, path)))] : [];
  });
  const written = Buffer.concat(message.render(inOrder(edits)) as Buffer[]);
  return [...members].map((key) => ({ path: [key], value: after[key] })).reduce(patchOne, written);
}

function valueAt(value: JsonValue, path: JsonPath): JsonValue | undefined {
  return path.reduce<JsonValue | undefined>(
    (at, key) => (Array.isArray(at) ? at[Number(key)] : isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined),
    value,
  );
}

/** The same on a value. */
export function patchValue(value: JsonObject, patches: readonly JsonPatch[]): JsonObject {
  const copy = structuredClone(value);
  for (const { path, value: member } of patches) {
    let object: JsonValue = copy;
    for (const key of path.slice(0, -1)) object = childOf(object, key);
    setMember(object, path.at(-1), member);
  }
  return copy;
}

function patchOne(text: Buffer, { path, value }: JsonPatch): Buffer {
  const ways = path.map((_, length) => path.slice(0, length + 1));
  const { message, at } = locate(text, [[], ...ways]);
  const target = at(path);
  if (value === undefined) {
    const parent = at(path.slice(0, -1));
    if (!target || !parent) return text;
    if (message.ranges.filter((range) => isAt(range, path)).length === 1) return withoutMember(text, target);
    // a key that came twice goes twice
    const object = JSON.parse(text.toString('utf8', parent.start, parent.end)) as JsonObject;
    delete object[String(path.at(-1))];
    return render(message, replaceRange(parent, JSON.stringify(object)));
  }
  if (target) return render(message, replaceRange(target, JSON.stringify(value)));
  const depth = ways.findLastIndex((way) => at(way) !== undefined) + 1;
  const parent = at(path.slice(0, depth));
  // a member of what is no object cannot be set
  if (!parent || text[parent.start] !== OPEN_OBJECT) return text;
  const member = path.slice(depth + 1).reduceRight<JsonValue>((inner, key) => ({ [key]: inner }), value);
  return render(
    message,
    insertMember(message, parent, `${JSON.stringify(String(path[depth]))}:${JSON.stringify(member)}`),
  );
}

/** The text without the member whose value stands there, its key and one comma. */
function withoutMember(text: Buffer, value: { start: number; end: number }): Buffer {
  const colon = text.lastIndexOf(':', value.start - 1);
  let start = text.lastIndexOf('"', text.lastIndexOf('"', colon) - 1);
  // inside a string every quote is escaped
  while (isEscaped(text, start)) start = text.lastIndexOf('"', start - 1);
  let { end } = value;
  while (isSpace(text[end])) end += 1;
  if (text[end] === COMMA) return Buffer.concat([text.subarray(0, start), text.subarray(end + 1)]);
  let before = start - 1;
  while (isSpace(text[before])) before -= 1;
  const from = text[before] === COMMA ? before : start;
  return Buffer.concat([text.subarray(0, from), text.subarray(value.end)]);
}

function isEscaped(text: Buffer, at: number): boolean {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function render(message: HeldMessage, edit: ReturnType<typeof replaceRange>): Buffer {
  return Buffer.concat(message.render([edit]) as Buffer[]);
}

function below(node: WatchNode, key: string | number): WatchNode {
  if (typeof key === 'number') {
    node.items ??= {};
    return node.items;
  }
  // names come from peers: `__proto__` must be a key like any other
  node.keys ??= Object.create(null) as Record<string, WatchNode>;
  node.keys[key] ??= {};
  return node.keys[key];
}

function rangeOf(message: HeldMessage, path: JsonPath): WatchRange | undefined {
  return message.ranges.find((range) => isAt(range, path));
}

function isAt(range: WatchRange, path: JsonPath): boolean {
  return range.path.length === path.length && range.path.every((key, index) => key === path[index]);
}

function childOf(value: JsonValue, key: string | number): JsonValue {
  if (Array.isArray(value)) return value[Number(key)] as JsonValue;
  if (!isObject(value) || key === '__proto__') throw new Error('a path leads through no object');
  value[key] ??= {};
  return value[key];
}

function setMember(object: JsonValue, key: string | number | undefined, member: JsonValue | undefined): void {
  if (!isObject(object) || key === undefined || key === '__proto__') throw new Error('a path ends in no object');
  if (member === undefined) delete object[key];
  else object[key] = member;
}
