import { isMediaType } from '../../../files/names/media-type.js';
import { isObject } from '../../../json/value.js';
import { inPlainSight, isPlain } from '../../../policy/plain-sight.js';
import type { Dialect } from '../../../ports/dialect.js';
import type { Host } from '../../../ports/host.js';
import type { JsonObject, JsonValue } from '../../../ports/json.js';

/** Whose user is shown pages, and what knows one. */
interface PagesShown {
  host?: Host;
  dialects: readonly Dialect[];
}

/** Characters of an address that a model can copy. */
const MAX_URI = 2048;

/** True for an address that a model can read and copy. */
export function isAddress(uri: JsonValue | undefined): uri is string {
  return typeof uri === 'string' && uri !== '' && uri.length <= MAX_URI && !/^data:/i.test(uri) && isPlain(uri);
}

/** The text of a text block, or of an embedded resource. */
export function textOfBlock({ type, text, resource }: JsonObject): string | undefined {
  if (type === 'text') return typeof text === 'string' ? text : undefined;
  return type === 'resource' && isObject(resource) && typeof resource.text === 'string' ? resource.text : undefined;
}

/**
 * True for a page of the server's (MCP-UI) that the host shows its user. It works only as a whole, and in its place; an error is
 * mostly shown as one text.
 */
export function isShownPage(
  { type, resource }: JsonObject,
  { host, dialects }: PagesShown,
  { isError }: { isError: boolean },
): boolean {
  if (host?.embeddedTexts !== 'keep-pages' || type !== 'resource' || !isObject(resource)) return false;
  if (isError && host.errorImages !== 'keep') return false;
  const { uri } = resource;
  return typeof uri === 'string' && dialects.some(({ pages }) => pages?.isPage(uri));
}

/** True where a model gets embedded texts only as text blocks: its host leaves an error nothing else. */
export function tellsEmbedded(host: Host | undefined, isError: boolean): boolean {
  return host?.embeddedTexts === 'as-text' || (isError && host?.errorImages === 'drop');
}

/** The text of a resource, below what it is. */
export function headed({ uri, mimeType }: JsonObject, text: string): string {
  if (!isAddress(uri)) return text;
  const type = typeof mimeType === 'string' && isMediaType(mimeType) ? ` (${inPlainSight(mimeType)})` : '';
  return `Content of ${uri}${type}:\n${text}`;
}
