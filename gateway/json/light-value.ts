import type { Limits } from '../policy/limits.js';
import type { JsonValue } from '../ports/json.js';
import { parseJson } from '../wire/json/parse.js';
import type { HeldMessage, WatchRange } from '../wire/json/reader.js';

/** The value at a range of a message; undefined when it has more values than Wharf may parse. */
export function lightValue(
  message: Pick<HeldMessage, 'slice'>,
  { start, end, values }: Pick<WatchRange, 'start' | 'end' | 'values'>,
  limits: Pick<Limits, 'values'>,
): JsonValue | undefined {
  if (values > limits.values) return undefined;
  return parseJson(message.slice(start, end).toString('utf8')) as JsonValue;
}
