import type { ClientFacts } from '../../../gateway/ports/client.js';
import type { JsonObject, JsonPatch, JsonValue } from '../../../gateway/ports/dialect.js';
import { isObject } from '../common/json.js';
import { takenBy } from './capability.js';

/** Bytes from which on even a text is better streamed. */
const LARGE = 4 * 1024 * 1024;

/** Types outside `text/` that are texts all the same. */
const TEXTS = /^text\/|[/+](?:json|xml|yaml|javascript|ecmascript|sql|toml|graphql)\b/i;

/** Wharf streams whatever a server with resources has; over stdio that is not to be declared. The SEP's word is `true`. */
export function showServer({ resources }: JsonObject, client: ClientFacts): readonly JsonPatch[] {
  if (client.isOverStdio) return [];
  if (!isObject(resources) || resources.stream === true) return [];
  return [{ path: ['resources', 'stream'], value: true }];
}

/** `streamable` on what is better streamed; a server's own word stands. */
export function showResources(client: ClientFacts): ((entry: JsonObject) => JsonObject) | undefined {
  return takenBy(client) ? mark : undefined;
}

function mark({ streamable, mimeType, size }: JsonObject): JsonObject {
  if (streamable !== undefined) return {};
  return isBinary(mimeType) || (typeof size === 'number' && size >= LARGE) ? { streamable: true } : {};
}

function isBinary(mimeType: JsonValue | undefined): boolean {
  return typeof mimeType === 'string' && mimeType.includes('/') && !TEXTS.test(mimeType);
}
