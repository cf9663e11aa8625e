import { randomBytes } from '../../random.js';

const ID = /^f_[A-Za-z0-9_-]{22}$/;
const BUNDLE = /^b_[A-Za-z0-9_-]{22}$/;
const ID_LENGTH = 24;
const URI = /^mcp-file:\/\/([^/?#]*)\/([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/i;

/** A new file's id: 128 random bits. */
export function newFileId(): string {
  return `f_${randomBytes(16).toString('base64url')}`;
}

/** True for what is written like a file's id, whether or not the file exists. */
export function isFileId(text: string): boolean {
  return ID.test(text);
}

/** A new id of several files that belong together. */
export function newBundleId(): string {
  return `b_${randomBytes(16).toString('base64url')}`;
}

/** The handle of a file, or of a bundle of files: a name for it, not a right to it. */
export function handleOf(gatewayId: string, id: string): string {
  return `mcp-file://${gatewayId}/${id}`;
}

/**
 * The file id in a handle, or in a text that is itself an id. Scheme and authority are case-insensitive, the path is
 * not. A query or a fragment is accepted only if it is empty.
 * @returns undefined for anything but a handle of this gateway
 */
export function readHandle(text: string, gatewayId: string): string | undefined {
  return readAs(ID, text, gatewayId);
}

/** The id in the handle of a bundle, by the same rules. */
export function readBundle(text: string, gatewayId: string): string | undefined {
  return readAs(BUNDLE, text, gatewayId);
}

function readAs(form: RegExp, text: string, gatewayId: string): string | undefined {
  if (form.test(text)) return text;
  const [, authority, id, query = '', fragment = ''] = URI.exec(text) ?? [];
  if (authority?.toLowerCase() !== gatewayId.toLowerCase() || query !== '' || fragment !== '') return undefined;
  return id !== undefined && form.test(id) ? id : undefined;
}

/** Prefix of all objects of files. */
export const OBJECTS = 'f/';

/**
 * The object key of a file's bytes.
 * @param attempt which of several attempts to store it, so that no two write the same object
 */
export function objectKey(id: string, attempt?: string): string {
  return attempt === undefined ? OBJECTS + id : `${OBJECTS}${id}-${attempt}`;
}

/** Greater than the keys of all objects of this file, and smaller than those of the next id. */
export function behindId(id: string): string {
  return `${OBJECTS}${id}~`;
}

/** The id of the file whose object this is, or would have become. */
export function idOfKey(key: string): string {
  return key.slice(OBJECTS.length, OBJECTS.length + ID_LENGTH);
}

/** The id of the file whose object a URL path of the store leads to. */
export function idOfPath(path: string): string | undefined {
  const id = path.slice(path.lastIndexOf(`/${OBJECTS}`) + OBJECTS.length + 1).slice(0, ID_LENGTH);
  return path.includes(`/${OBJECTS}`) && ID.test(id) ? id : undefined;
}
