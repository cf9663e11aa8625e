import { isObject, textIn } from '../../../gateway/json/value.js';
import type { JsonObject, JsonValue } from '../../../gateway/ports/dialect.js';
import type { FileClaims, FileRef } from '../../../gateway/ports/file.js';

export const ALGORITHM = 'sha-256';

/** SHA-256 in base64url without padding. */
const DIGEST = /^[A-Za-z0-9_-]{43}$/;

/** Addresses of the web, of this machine, and data: URIs: never a file handle. */
const NO_HANDLE = /^(?:data|file|https?):/i;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;

/** The handle, name and so on of a stored file. */
export function fileValue({ uri, name, mimeType, size, digest }: FileRef): JsonObject {
  return { uri, name, mimeType, size, digest: digestValue(digest.slice(digest.indexOf(':') + 1)) };
}

/** A digest as the draft writes it. @param value SHA-256, base64url without padding */
export function digestValue(value: string): JsonObject {
  return { algorithm: ALGORITHM, value };
}

/** The value of a digest, if it can be verified. */
export function sha256Of(digest: JsonValue | undefined): string | undefined {
  if (!isObject(digest) || digest.algorithm !== ALGORITHM) return undefined;
  const value = textIn(digest, 'value');
  return value !== undefined && DIGEST.test(value) ? value : undefined;
}

function isHandle(uri: string): boolean {
  return SCHEME.test(uri) && !NO_HANDLE.test(uri);
}

/** Addresses that clients use by themselves. */
const ADDRESS = /^(?:file|https?):/i;

/** What an object of any revision says about a file. Its facts are members; its URI is a member or inside `content`. */
export interface ReadFile {
  uri: string;
  /** Path of the URI in the object. */
  at: readonly string[];
  claims: FileClaims;
  size?: number;
  digest?: string;
}

/** Reads a FileValue. Older revisions wrap the URI: `content.uri`, `content.file.uri`. */
export function readFileValue(value: JsonValue | undefined): ReadFile | undefined {
  return read(value, isHandle);
}

/** Reads one whose URI is an address, which no method of the server's resolves. */
export function readAddress(value: JsonValue | undefined): ReadFile | undefined {
  return read(value, (uri) => ADDRESS.test(uri));
}

function read(value: JsonValue | undefined, isWanted: (uri: string) => boolean): ReadFile | undefined {
  if (!isObject(value)) return undefined;
  const found = uriIn(value);
  if (!found || !isWanted(found.uri)) return undefined;
  const { size } = value;
  const name = textIn(value, 'name');
  const mimeType = textIn(value, 'mimeType');
  const digest = sha256Of(value.digest);
  return {
    ...found,
    claims: { ...(name !== undefined && { name }), ...(mimeType !== undefined && { mimeType }) },
    ...(typeof size === 'number' && Number.isSafeInteger(size) && size >= 0 && { size }),
    ...(digest !== undefined && { digest }),
  };
}

function uriIn(value: JsonObject): { uri: string; at: readonly string[] } | undefined {
  const { content } = value;
  const inner = isObject(content) ? content : {};
  const file = isObject(inner.file) ? inner.file : {};
  const places = [
    { at: ['uri'], uri: textIn(value, 'uri') },
    { at: ['content', 'uri'], uri: textIn(inner, 'uri') },
    { at: ['content', 'file', 'uri'], uri: textIn(file, 'uri') },
  ];
  return places.find((place): place is { at: string[]; uri: string } => place.uri !== undefined);
}
