import type { Limits } from '../policy/limits.js';
import type { JsonValue } from '../ports/json.js';
import { parseExactly, parseJson } from '../wire/json/parse.js';
import type { HeldMessage, WatchRange } from '../wire/json/reader.js';

type Message = Pick<HeldMessage, 'slice'>;
type Part = Pick<WatchRange, 'start' | 'end' | 'values'>;
type Most = Pick<Limits, 'values'>;

/** The value at a range of a message; undefined when it has more values than Wharf may parse. */
export function lightValue(message: Message, range: Part, limits: Most): JsonValue | undefined {
  return parsed(parseJson, message, range, limits);
}

/** As `lightValue`, with each number as it is spelled: the value is written again. */
export function exactValue(message: Message, range: Part, limits: Most): JsonValue | undefined {
  return parsed(parseExactly, message, range, limits);
}

function parsed(
  parse: (text: string) => unknown,
  message: Message,
  { start, end, values }: Part,
  limits: Most,
): JsonValue | undefined {
  if (values > limits.values) return undefined;
  return parse(message.slice(start, end).toString('utf8')) as JsonValue;
}
