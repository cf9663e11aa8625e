import type { JsonObject, JsonPatch, JsonPath, JsonValue } from '../ports/json.js';
import { createReader, type HeldMessage, type WatchRange } from '../wire/json/reader.js';
import { compileWatchTree, type WatchNode } from '../wire/json/watch-tree.js';
import { insertMember, replaceRange } from './edits.js';
import { isObject } from './request.js';

const FOUND = 'found';
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

/** The text with its members set or removed; every other byte is untouched. */
export function patchText(text: Buffer, patches: readonly JsonPatch[]): Buffer {
  // one after the other: they are few, the texts are short, and a patch may stand in what the one before made
  return patches.reduce(patchOne, text);
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
  return message.ranges.find(
    (range) => range.path.length === path.length && range.path.every((key, index) => key === path[index]),
  );
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
