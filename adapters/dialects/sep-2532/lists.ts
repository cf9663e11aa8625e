import { isObject } from '../../../gateway/json/value.js';
import type { ClientFacts } from '../../../gateway/ports/client.js';
import type { JsonObject, JsonPatch, JsonValue } from '../../../gateway/ports/dialect.js';
import { isShown } from './capability.js';

/** From this size on, in bytes, even a text is better streamed. */
const LARGE = 4 * 1024 * 1024;

/** Text types outside `text/`. */
const TEXTS = /^text\/|[/+](?:json|xml|yaml|javascript|ecmascript|sql|toml|graphql)\b/i;

/** Wharf streams for any server with resources, but must not declare it over stdio. The SEP's value is `true`. */
export function showServer({ resources }: JsonObject, client: ClientFacts): readonly JsonPatch[] {
  if (client.isOverStdio) return [];
  if (!isObject(resources) || resources.stream === true) return [];
  return [{ path: ['resources', 'stream'], value: true }];
}

/** Adds `streamable` to resources that are better streamed, unless the server sets it itself. */
export function showResources(client: ClientFacts): ((entry: JsonObject) => JsonObject) | undefined {
  return isShown(client) ? mark : undefined;
}

function mark({ streamable, mimeType, size }: JsonObject): JsonObject {
  if (streamable !== undefined) return {};
  return isBinary(mimeType) || (typeof size === 'number' && size >= LARGE) ? { streamable: true } : {};
}

function isBinary(mimeType: JsonValue | undefined): boolean {
  return typeof mimeType === 'string' && mimeType.includes('/') && !TEXTS.test(mimeType);
}
