import type { JsonObject, JsonPatch, JsonValue } from '../ports/json.js';
import { parseExactly } from '../wire/json/parse.js';
import { JsonDocument } from './document.js';
import { Edits } from './edit.js';

/**
 * Sets or removes members of a text; every other byte stays the same. A patch may change what an earlier one added.
 * Reads the text once, because a server may declare thousands of file arguments in one tool.
 */
export function patchText(text: Buffer, patches: readonly JsonPatch[]): Buffer {
  const document = JsonDocument.of(text);
  const edits = new Edits(document);
  for (const { path, value } of patches) {
    if (value === undefined) edits.remove(path);
    else edits.set(path, value);
  }
  document.find(edits.paths());
  if (document.duplicates.length > 0) {
    // readers differ on which of two equal keys counts, so only one is kept
    return Buffer.from(JSON.stringify(patchValue(parseExactly(text.toString('utf8')) as JsonObject, patches)));
  }
  // nothing that a patch sets is read later
  return Buffer.concat(edits.applied().pieces as readonly Buffer[]);
}

/** Patches a value. The original does not change; the result shares its unchanged parts. */
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
      // a member of a non-object cannot be set, and a missing one cannot be removed
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

function childOf(parent: JsonObject | JsonValue[], key: string | number): JsonValue | undefined {
  if (Array.isArray(parent)) return parent[Number(key)];
  return Object.hasOwn(parent, key) ? parent[key] : undefined;
}

function setMember(
  parent: JsonObject | JsonValue[],
  key: string | number | undefined,
  member: JsonValue | undefined,
): void {
  if (key === undefined) throw new Error('a path ends in no object');
  if (Array.isArray(parent)) {
    if (typeof key === 'number' && member !== undefined) parent[key] = member;
  } else if (member === undefined) delete parent[key];
  // a member like any other in JSON, while assigning it would set the prototype
  else if (key === '__proto__')
    Object.defineProperty(parent, key, { value: member, writable: true, enumerable: true, configurable: true });
  else parent[key] = member;
}
