import type { JsonObject, JsonValue } from '../../ports/json.js';

/** Where a string of a JSON value is: the innermost object or list around it, and its key there. */
export interface NestedPlace {
  holder: JsonObject | JsonValue[];
  key: string | number;
}

/** Every string of a JSON value that is a member or an item, with its place. */
export function* stringsOf(value: JsonValue): Generator<readonly [text: string, place: NestedPlace]> {
  const open: JsonValue[] = [value];
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    if (typeof holder !== 'object' || holder === null) continue;
    const entries: Iterable<[string | number, JsonValue]> = Array.isArray(holder)
      ? holder.entries()
      : Object.entries(holder);
    for (const [key, inner] of entries) {
      if (typeof inner !== 'string') open.push(inner);
      else yield [inner, { holder, key }];
    }
  }
}

/** The places of strings that begin with a mark, by what follows the mark. A mark is unguessable. */
export function markedPlaces(value: JsonValue, mark: string): Map<string, NestedPlace> {
  const places = new Map<string, NestedPlace>();
  for (const [text, place] of stringsOf(value)) {
    if (text.startsWith(mark)) places.set(text.slice(mark.length), place);
  }
  return places;
}
