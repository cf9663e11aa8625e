import { breathe } from '../../budget/turn.js';
import type { GatewayError } from '../../errors.js';
import { isObject } from '../../json/value.js';
import type { ParamHeader } from '../../mcp/param-headers.js';
import { invalid } from '../../mcp/read-message.js';
import type { Limits } from '../../policy/limits.js';
import { isTakenFor, PROTOTYPE, readInC } from '../../policy/pattern.js';
import type { JsonObject, JsonPath, JsonValue } from '../../ports/json.js';
import type { Owner } from '../../ports/owner.js';
import { besidePath, EACH, isEach } from '../../schema/argument-path.js';
import { isSpecial } from '../../schema/segments.js';
import type { ToolSlot } from '../../tools/tool.js';
import { parseJson } from '../../wire/json/parse.js';
import { createReader, type WatchRange } from '../../wire/json/reader.js';
import { compileWatchTree, nodeBelow, type WatchNode } from '../../wire/json/watch-tree.js';
import type { PendingRequest } from '../pending-request.js';

/** Bytes read in one step: some milliseconds, whatever their content. */
const STEP = 64 * 1024;

/** Most bytes of a name with quotes in it, beside the arguments that may be files. */
const LONGEST_KEY = 64 * 1024;

const WANTED = 'wanted';
/** A member beside those that lead to a wanted one: some servers may take it for one of them. */
const BESIDE = 'beside';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;

/**
 * The arguments of a call; of very many, only those declared as files, or accompanying them, and a promise of them.
 * @returns undefined when they are not an object
 * @throws GatewayError `request_invalid`
 */
export function argumentsOf(
  { params, heavyArguments }: Pick<PendingRequest, 'params' | 'heavyArguments'>,
  slots: readonly ToolSlot[],
  paramHeaders: readonly ParamHeader[],
  { owner, limits }: { owner: Owner; limits: Pick<Limits, 'values'> },
): JsonObject | undefined | Promise<JsonObject> {
  const { arguments: args = {} } = params;
  if (!heavyArguments) return isObject(args) ? args : undefined;
  const paths = [...slots.flatMap(pathsOf), ...paramHeaders.map(({ path }) => path)];
  // any name may be a file's
  if (paths.some(({ length }) => length === 0)) throw tooMany(limits.values);
  return readArguments(heavyArguments, paths, owner, limits);
}

function pathsOf({ path, lifted, companions }: ToolSlot): (readonly string[])[] {
  const { name, mimeType, size } = companions;
  const siblings = [name, mimeType, size].filter((companion) => companion !== undefined);
  return [
    upToMap(path),
    ...(lifted === undefined ? [] : [[lifted], ...(isEach(path) ? [[lifted, EACH]] : [])]),
    ...siblings.map((companion) => upToMap(besidePath(path, companion))),
  ];
}

/** A map is read as a whole: the reader, which keeps no bytes, knows only names that it looks for. So is a list of unlike items. */
function upToMap(path: readonly string[]): readonly string[] {
  const map = path.findIndex((segment) => segment !== EACH && isSpecial(segment));
  return map < 0 ? path : path.slice(0, map);
}

/**
 * Reads the values at some paths from arguments that are too many to be parsed, at the places they have there;
 * everything else is left out. A value that is itself too large becomes an empty one of its kind, because it is not a
 * file.
 * @param text of the arguments, a valid object
 * @param paths in the form of slots
 * @param owner whose call it is
 * @throws GatewayError `request_invalid` when too many values are at those paths
 */
export async function readArguments(
  text: Buffer,
  paths: readonly (readonly string[])[],
  owner: Owner,
  { values: most }: Pick<Limits, 'values'>,
): Promise<JsonObject> {
  const args: JsonObject = {};
  const places = placesOf(paths);
  const take = taker(text, args, places, most);
  const reader = createReader('json', {
    tree: compileWatchTree(places.root),
    holds: false,
    handler: {
      closed: (range, message) => {
        take(range);
        message.forgetRange();
      },
      message: () => {},
    },
  });
  for (let at = 0; at < text.length; at += STEP) {
    reader.feed(text.subarray(at, at + STEP));
    await breathe(owner);
  }
  return args;
}

/** What the reader looks for, by {@link keyOf}. */
interface Places {
  root: WatchNode;
  /** Names of the members that lead to wanted ones, by the place of their object. */
  names: ReadonlyMap<string, ReadonlySet<string>>;
  wanted: ReadonlySet<string>;
  /** Paths where a value that is not a list takes the place of one. */
  lists: ReadonlySet<string>;
  /** Paths that only lead to a wanted one. */
  above: ReadonlySet<string>;
}

function placesOf(paths: readonly (readonly string[])[]): Places {
  const root: WatchNode = {};
  const lists = new Set<string>();
  const above = new Set<string>();
  for (const path of paths) {
    const end = path.at(-1) === EACH ? path.length - 1 : path.length;
    for (let length = 1; length < end && path[length - 1] !== EACH; length++) {
      watch(root, path.slice(0, length));
      above.add(keyOf(path.slice(0, length)));
    }
    watch(root, path);
    if (end === path.length) continue;
    watch(root, path.slice(0, end));
    lists.add(keyOf(path.slice(0, end)));
  }
  const wanted = new Set(paths.map(keyOf));
  for (const key of wanted) above.delete(key);
  return { root, names: namesOn(paths), wanted, lists, above };
}

function namesOn(paths: readonly (readonly string[])[]): Map<string, Set<string>> {
  const names = new Map<string, Set<string>>();
  for (const path of paths) {
    for (const [at, name] of path.entries()) {
      if (name === EACH) continue;
      const parent = keyOf(path.slice(0, at));
      names.set(parent, (names.get(parent) ?? new Set()).add(name));
    }
  }
  return names;
}

/** Puts what the reader finds into the arguments, and counts it. */
function taker(
  text: Buffer,
  args: JsonObject,
  { names, wanted, lists, above }: Places,
  most: number,
): (range: WatchRange) => void {
  let count = 0;
  const countOne = () => {
    count += 1;
    if (count > most) throw tooMany(most);
  };
  const lengths = new Set([...names.values()].flatMap((some) => [...some].map(({ length }) => length)));
  const takeBeside = ({ path, start, end, values }: WatchRange) => {
    const key = keyBefore(text, start);
    // of a million members, few have such a length
    if (key !== PROTOTYPE && !lengths.has(readInC(key).length)) return;
    const parent = path.slice(0, -1);
    const meant = names.get(keyOf(parent)) ?? [];
    if (![...meant].some((name) => key === PROTOTYPE || isTakenFor(key, name))) return;
    countOne();
    // what was left of it could not be judged
    if (values > most) throw tooMany(most);
    place(args, [...parent, key], parseJson(text.toString('utf8', start, end)) as JsonValue, true);
  };
  return (range) => {
    if (range.name === BESIDE) return takeBeside(range);
    const bytes = text.subarray(range.start, range.end);
    const key = keyOf(range.path);
    const isList = bytes[0] === OPEN_ARRAY && lists.has(key);
    if (isList || (above.has(key) && !lists.has(key))) {
      const isInList = range.path.some((one) => typeof one === 'number');
      // an empty list in another list says no more than a place without a value, and a message may have a million
      if (isInList && !wanted.has(key)) return;
      if (isInList) countOne();
      place(args, range.path, emptyLike(bytes));
      return;
    }
    countOne();
    if (range.values > most) place(args, range.path, emptyLike(bytes));
    else place(args, range.path, parseJson(bytes.toString('utf8')) as JsonValue, true);
  };
}

/**
 * The key of the member whose value begins there: the reader, which keeps no bytes, does not know it.
 * @throws GatewayError `request_invalid` for one that would take long to read
 */
function keyBefore(text: Buffer, start: number): string {
  const end = text.lastIndexOf(QUOTE, start - 1);
  let begin = text.lastIndexOf(QUOTE, end - 1);
  while (isEscaped(text, begin)) {
    if (end - begin > LONGEST_KEY) throw invalid(`a name in its arguments has more than ${LONGEST_KEY} bytes`);
    begin = text.lastIndexOf(QUOTE, begin - 1);
  }
  return parseJson(text.toString('utf8', begin, end + 1)) as string;
}

function isEscaped(text: Buffer, at: number): boolean {
  let before = at;
  while (text[before - 1] === BACKSLASH) before -= 1;
  return (at - before) % 2 === 1;
}

function tooMany(most: number): GatewayError {
  return invalid(`more than limits.values = ${most} values in its arguments may be files`);
}

function watch(root: WatchNode, path: readonly string[]): void {
  let node = root;
  for (const segment of path) {
    if (segment !== EACH) node.others ??= { watch: BESIDE };
    node = nodeBelow(node, segment === EACH ? undefined : segment);
  }
  if (path.length > 0) node.watch = WANTED;
}

function keyOf(path: JsonPath): string {
  return JSON.stringify(path.map((key) => (typeof key === 'number' ? EACH : key)));
}

/** Puts a value in its place. @param isWhole replaces; otherwise an existing value is a part of it, and stays */
function place(args: JsonObject, path: JsonPath, value: JsonValue, isWhole = false): void {
  let at: JsonObject | JsonValue[] = args;
  for (const [index, key] of path.entries()) {
    const there = memberOf(at, key);
    if (index < path.length - 1) {
      const next = there ?? (typeof path[index + 1] === 'number' ? [] : {});
      if (!isObject(next) && !Array.isArray(next)) return;
      set(at, key, next);
      at = next;
    } else if (isWhole || (!isObject(there) && !Array.isArray(there))) set(at, key, value);
  }
}

function memberOf(at: JsonObject | JsonValue[], key: string | number): JsonValue | undefined {
  if (Array.isArray(at)) return at[Number(key)];
  return Object.hasOwn(at, key) ? at[key] : undefined;
}

function set(at: JsonObject | JsonValue[], key: string | number, value: JsonValue): void {
  if (Array.isArray(at)) {
    // null is not a file either, and V8 walks through holes twenty times slower
    while (at.length < Number(key)) at.push(null);
    at[Number(key)] = value;
  } else Object.defineProperty(at, key, { value, writable: true, enumerable: true, configurable: true });
}

function emptyLike([first]: Buffer): JsonValue {
  return first === OPEN_OBJECT ? {} : first === OPEN_ARRAY ? [] : null;
}
