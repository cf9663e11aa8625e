import { isObject } from '../json/value.js';
import type { FileSlot } from '../ports/file-slot.js';
import type { JsonObject } from '../ports/json.js';
import { argumentOf, PathKeys } from '../schema/argument-path.js';
import { isMembers, isSpecial } from '../schema/segments.js';

/** Longest name: hosts take some 64 characters, and each slot keeps its own. */
const MAX_NAME = 1024;

/**
 * Gives each nested slot the name under which a client that reads only top-level arguments hands over its file:
 * `doc.payload.data` is `doc_payload_data`. A slot in the items of an array, or in the members of a map, stays in
 * place, because a name would not say in which; so does one whose name would be longer than any that hosts take.
 */
export function withLiftedNames(
  { inputSchema }: JsonObject,
  slots: readonly FileSlot[],
): (FileSlot & { lifted?: string })[] {
  // every further name would be one of those members
  if (slots.some(({ path: [first = ''] }) => isMembers(first))) return [...slots];
  const properties = isObject(inputSchema) ? inputSchema.properties : undefined;
  const taken = new Set(isObject(properties) ? Object.keys(properties) : []);
  /** The number that is tried next, by the name: a tool may have thousands that are taken. */
  const next = new Map<string, number>();
  /** One file and a list of them in one argument have one name. */
  const named = new Map<string, string>();
  const keys = new PathKeys();
  return slots.map((slot) => {
    const way = argumentOf(slot.path);
    if (way.length < 2 || lengthOf(way) > MAX_NAME || way.some(isSpecial)) return slot;
    const id = keys.of(way);
    const lifted = named.get(id) ?? freeName(way.join('_').replaceAll(/[^\w.-]/g, '_'), taken, next);
    named.set(id, lifted);
    taken.add(lifted);
    return { ...slot, lifted };
  });
}

/** Of its segments, with what is between them. */
function lengthOf(way: readonly string[]): number {
  return way.reduce((sum, { length }) => sum + length + 1, -1);
}

function freeName(name: string, taken: ReadonlySet<string>, next: Map<string, number>): string {
  for (let number = next.get(name) ?? 1; ; number++) {
    const free = number === 1 ? name : `${name}_${number}`;
    if (taken.has(free) || free === '__proto__') continue;
    next.set(name, number);
    return free;
  }
}
