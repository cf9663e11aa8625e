import { isObject } from '../../../gateway/json/value.js';
import type { Limits } from '../../../gateway/policy/limits.js';
import type { ClientFacts } from '../../../gateway/ports/client.js';
import type { JsonObject, JsonValue } from '../../../gateway/ports/dialect.js';

const NAME = 'sep-2532';

/** What Wharf declares to servers. */
export function declares({ file }: Limits): JsonObject {
  return { resourceStreaming: { maxStreamSize: file } };
}

/** What a client declares, or the operator's profile declares for it. */
export function takenBy({ capabilities, dialects }: ClientFacts): { maxBytes?: number } | undefined {
  const { resourceStreaming: declared } = capabilities;
  if (declared !== true && !isObject(declared)) return dialects?.includes(NAME) ? {} : undefined;
  const most = isObject(declared) ? declared.maxStreamSize : undefined;
  return typeof most === 'number' && most >= 0 ? { maxBytes: most } : {};
}

/** Whether results and lists name streams for this client. Over stdio they do not, because Wharf declares no streams there. */
export function isShown(client: ClientFacts): boolean {
  return !client.isOverStdio && takenBy(client) !== undefined;
}

/** The SEP writes `true`, while other capabilities are objects: both are accepted. */
export function isDeclared(stream: JsonValue | undefined): boolean {
  return stream === true || isObject(stream);
}
