import { GatewayError } from '../errors.js';
import type { JsonObject, JsonPatch, JsonPath, JsonValue } from '../ports/json.js';
import { addAll } from '../wire/add-all.js';
import type { WatchRange } from '../wire/json/reader.js';
import { type Edit, insertMember, replaceRange } from './edits.js';
import { type JsonText, type Located, locate, locateInSteps } from './locate.js';
import { membersAt, without } from './members.js';
import { isObject } from './value.js';

/** What becomes of one value: it is set or removed, or something below it is. */
interface Change {
  /** Set, or removed where it is undefined. */
  own?: { value: JsonValue | undefined };
  below: Map<string | number, Change>;
}

const OPEN_OBJECT = 0x7b;

/**
 * The text with its members set or removed; every other byte is untouched. A patch may stand in what one before it
 * made. The text is read once, for a server may declare thousands of file arguments in one tool.
 * @param isBatch it is an array of messages, and the paths begin with the index of one
 */
export function patchText(text: Buffer, patches: readonly JsonPatch[], isBatch = false): Buffer {
  const { root, paths } = changesOf(patches, isBatch);
  const located = locate(text, paths, isBatch);
  if (located.duplicate) {
    // readers differ on which of two equal keys counts, so one is left
    return Buffer.from(JSON.stringify(patchValue(JSON.parse(text.toString('utf8')) as JsonObject, patches)));
  }
  return changed(root, located, isBatch);
}

/**
 * The same of a client's message, which may be long: in steps, between which others are served.
 * @throws GatewayError `request_invalid` where it names twice what is to be changed
 */
export async function patchMessage(text: Buffer, patches: readonly JsonPatch[], isBatch = false): Promise<Buffer> {
  const { root, paths } = changesOf(patches, isBatch);
  const located = await locateInSteps(text, paths, isBatch);
  const { duplicate } = located;
  if (duplicate) throw requestInvalid(`the object at ${duplicate.path || 'the top'} names "${duplicate.key}" twice`);
  return changed(root, located, isBatch);
}

function changesOf(patches: readonly JsonPatch[], isBatch: boolean): { root: Change; paths: JsonPath[] } {
  const root: Change = { below: new Map() };
  for (const patch of patches) note(root, patch);
  const paths: JsonPath[] = isBatch ? [] : [[]];
  collectPaths(root, [], paths);
  return { root, paths };
}

function changed(root: Change, located: Located, isBatch: boolean): Buffer {
  const { text } = located;
  const edits: Edit[] = [];
  if (!isBatch) change(root, [], located, edits);
  else for (const [index, one] of root.below) change(one, [index], located, edits);
  edits.sort((a, b) => a.start - b.start || a.end - b.end);
  return Buffer.concat(text.render(edits));
}

/** The same on a value, which stays as it is: the new one shares with it what no patch touches. */
export function patchValue(value: JsonObject, patches: readonly JsonPatch[]): JsonObject {
  if (patches.length === 0) return value;
  const own = new Set<JsonValue>();
  const copied = (shared: JsonObject | JsonValue[]): JsonObject | JsonValue[] => {
    if (own.has(shared)) return shared;
    const copy = Array.isArray(shared) ? [...shared] : { ...shared };
    own.add(copy);
    return copy;
  };
  const result = copied(value) as JsonObject;
  for (const { path, value: member } of patches) {
    let parent: JsonObject | JsonValue[] | undefined = result;
    for (const key of path.slice(0, -1)) {
      let child: JsonValue | undefined = childOf(parent, key);
      if (child === undefined && member !== undefined) child = {};
      // a member of what is no object cannot be set, and of what is not there not removed
      parent = typeof child === 'object' && child !== null ? copyInto(parent, key, copied(child)) : undefined;
      if (!parent) break;
    }
    if (parent) setMember(parent, path.at(-1), member);
  }
  return result;
}

function copyInto<T extends JsonValue>(parent: JsonObject | JsonValue[], key: string | number, copy: T): T {
  setMember(parent, key, copy);
  return copy;
}

function note(root: Change, { path, value }: JsonPatch): void {
  let at = root;
  for (const [depth, key] of path.entries()) {
    if (at.own) {
      // nothing can be set in what is no object
      if (at.own.value === undefined && value !== undefined) at.own.value = {};
      if (isObject(at.own.value)) at.own.value = patchValue(at.own.value, [{ path: path.slice(depth), value }]);
      return;
    }
    const next: Change = at.below.get(key) ?? { below: new Map() };
    at.below.set(key, next);
    at = next;
  }
  at.own = { value };
  at.below.clear();
}

function collectPaths(at: Change, path: JsonPath, into: JsonPath[]): void {
  for (const [key, inner] of at.below) {
    const own = [...path, key];
    into.push(own);
    collectPaths(inner, own, into);
  }
}

/** Edits what stands at `path`, which is there. */
function change({ below }: Change, path: JsonPath, located: Located, edits: Edit[]): void {
  const range = located.at(path);
  if (!range || below.size === 0) return;
  const isInObject = located.text.bytes[range.start] === OPEN_OBJECT;
  const added: string[] = [];
  const removed: WatchRange[] = [];
  for (const [key, inner] of below) {
    const place = [...path, key];
    const there = located.at(place);
    if (there && !inner.own) change(inner, place, located, edits);
    else if (there && inner.own?.value === undefined) removed.push(there);
    else if (there) edits.push(replaceRange(there, JSON.stringify(inner.own?.value)));
    else {
      const value = made(inner);
      if (isInObject && value !== undefined) added.push(`${JSON.stringify(String(key))}:${JSON.stringify(value)}`);
    }
  }
  addAll(edits, membersEdits(located.text, range, isInObject ? removed : [], added));
}

function membersEdits(
  text: JsonText,
  range: WatchRange,
  removed: readonly WatchRange[],
  added: readonly string[],
): Edit[] {
  const { edits, isEmpty } = without(membersAt(text.bytes, removed), text.bytes);
  if (added.length === 0) return edits;
  if (!isEmpty) return [...edits, insertMember(text, range, added.join(','))];
  const start = range.start + 1;
  return [...edits, { start, end: start, bytes: Buffer.from(added.join(',')) }];
}

/** The value that a change makes where there is none. */
function made({ own, below }: Change): JsonValue | undefined {
  if (own) return own.value;
  const members = [...below].flatMap(([key, inner]) => {
    const value = made(inner);
    return value === undefined ? [] : [[String(key), value] as const];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

function childOf(parent: JsonObject | JsonValue[], key: string | number): JsonValue | undefined {
  if (Array.isArray(parent)) return parent[Number(key)];
  return Object.hasOwn(parent, key) ? parent[key] : undefined;
}

function setMember(
  parent: JsonObject | JsonValue[],
  key: string | number | undefined,
  member: JsonValue | undefined,
): void {
  if (key === undefined || key === '__proto__') throw new Error('a path ends in no object');
  if (Array.isArray(parent)) {
    if (typeof key === 'number' && member !== undefined) parent[key] = member;
  } else if (member === undefined) delete parent[key];
  else parent[key] = member;
}

function requestInvalid(reason: string): GatewayError {
  return new GatewayError('request_invalid', { reason });
}
