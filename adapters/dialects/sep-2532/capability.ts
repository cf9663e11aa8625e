import type { Limits } from '../../../gateway/policy/limits.js';
import type { ClientFacts } from '../../../gateway/ports/client.js';
import type { JsonObject, JsonValue } from '../../../gateway/ports/dialect.js';
import { isObject } from '../common/json.js';

export const NAME = 'sep-2532';

/** What Wharf takes of servers. */
export function declares({ file }: Limits): JsonObject {
  return { resourceStreaming: { maxStreamSize: file } };
}

/** What a client declares, or its operator's profile says of it. */
export function takenBy({ capabilities, dialects }: ClientFacts): { maxBytes?: number } | undefined {
  const { resourceStreaming: declared } = capabilities;
  if (declared !== true && !isObject(declared)) return dialects?.includes(NAME) ? {} : undefined;
  const most = isObject(declared) ? declared.maxStreamSize : undefined;
  return typeof most === 'number' && most >= 0 ? { maxBytes: most } : {};
}

/** The SEP writes `true`, and other capabilities are objects: both say it. */
export function isDeclared(stream: JsonValue | undefined): boolean {
  return stream === true || isObject(stream);
}
