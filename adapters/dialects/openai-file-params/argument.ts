import { isObject } from '../../../gateway/json/value.js';
import type { ArgumentReading, JsonObject, JsonValue } from '../../../gateway/ports/dialect.js';
import type { FileClaims } from '../../../gateway/ports/file.js';

const HANDLE = /^mcp-file:/i;
const WEB = /^https?:/i;
/** What some hosts call a file beside its address. Only they can read it. */
const OWN_URI = /^sediment:/i;

/** A cheap test, by a member that each file has. */
export function mayHoldFile(value: JsonValue): boolean {
  return isObject(value) && typeof value.download_url === 'string';
}

/** Reads `{download_url, file_id, …}` from any client; hosts add members of their own. */
export function readArgument(value: JsonValue): ArgumentReading | undefined {
  if (!isObject(value)) return undefined;
  const { download_url: url, file_id: id, uri } = value;
  if (url === undefined) {
    const isTheirs = uri === undefined || (typeof uri === 'string' && OWN_URI.test(uri));
    return typeof id === 'string' && isTheirs ? invalid('malformedUri', 'has no download_url') : undefined;
  }
  if (typeof url !== 'string') return invalid('malformedUri', 'has a download_url that is not a string');
  // a model that has seen only a handle puts it in place of the address
  if (HANDLE.test(url)) return { kind: 'handle', uri: url };
  if (WEB.test(url)) return { kind: 'remote', url, claims: claimsOf(value) };
  return invalid('schemeNotAllowed', 'has a download_url that is not an https address; attach the file again');
}

function claimsOf({ mime_type: mimeType, file_name: name }: JsonObject): FileClaims {
  return {
    ...(typeof mimeType === 'string' && mimeType !== '' && { mimeType }),
    ...(typeof name === 'string' && name !== '' && { name }),
  };
}

function invalid(reason: 'malformedUri' | 'schemeNotAllowed', text: string): ArgumentReading {
  return { kind: 'invalid', reason, text };
}
