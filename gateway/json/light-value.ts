import type { Limits } from '../policy/limits.js';
import type { JsonValue } from '../ports/json.js';
import type { HeldMessage, WatchRange } from '../wire/json/reader.js';

/** What stands at a range of a message; undefined where it is more than may be looked into. */
export function lightValue(
  message: HeldMessage,
  { start, end, values }: WatchRange,
  limits: Pick<Limits, 'values'>,
): JsonValue | undefined {
  if (values > limits.values) return undefined;
  return JSON.parse(message.slice(start, end).toString('utf8')) as JsonValue;
}
