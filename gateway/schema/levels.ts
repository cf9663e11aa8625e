import { valueAt } from '../json/value.js';
import type { JsonObject, JsonPath, JsonValue } from '../ports/json.js';

/** An object on the path to a place of a schema, and the member that continues it. */
export interface Level {
  object: JsonPath;
  key: string;
}

/** Keywords whose value is one schema. */
const ONE_SCHEMA: readonly unknown[] = ['additionalProperties', 'then', 'else'];

/** How many steps of a path one keyword takes: most are followed by a name or an index. */
export function stepsAt(at: JsonPath, index: number): number {
  const word = at[index];
  if (ONE_SCHEMA.includes(word)) return 1;
  return word === 'items' && typeof at[index + 1] !== 'number' ? 1 : 2;
}

/** The objects on the path to a place of a tool's inputSchema. */
export function levelsOf(at: JsonPath): Level[] {
  const levels: Level[] = [];
  for (let index = 1; index < at.length; ) {
    const word = at[index];
    if (word === 'properties') levels.push({ object: at.slice(0, index), key: String(at[index + 1]) });
    index += stepsAt(at, index);
  }
  return levels;
}

/** The names that an object of a tool's inputSchema requires. */
export function requiredIn(tool: JsonObject, object: JsonPath): JsonValue[] {
  const required = valueAt(tool, [...object, 'required']);
  return Array.isArray(required) ? required : [];
}

/** True when every call of a tool must have the value at this place of its schema, and every object above it. */
export function isAlwaysRequired(tool: JsonObject, at: JsonPath): boolean {
  const levels = levelsOf(at);
  // an object that may be null need not exist
  const hasUnion = (levels.at(-1)?.object.length ?? 0) !== levels.length * 2 - 1;
  return !hasUnion && levels.every(({ object, key }) => requiredIn(tool, object).includes(key));
}
