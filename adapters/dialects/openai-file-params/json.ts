import type { JsonObject, JsonValue } from '../../../gateway/ports/dialect.js';

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
