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

/** Ends what is behind a mark: a number may follow it in its text. */
export const MARK_END = ';';

/** The places of strings with marks in them, by what is between a mark and its end. A mark is unguessable. */
export function markedPlaces(value: JsonValue, mark: string): Map<string, NestedPlace> {
  const places = new Map<string, NestedPlace>();
  for (const [text, place] of stringsOf(value)) {
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at)) {
      at += mark.length;
      places.set(text.slice(at, text.indexOf(MARK_END, at)), place);
    }
  }
  return places;
}
