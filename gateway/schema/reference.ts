import { isObject } from '../json/value.js';
import type { JsonObject, JsonValue } from '../ports/json.js';
import { addressed, anchored } from './anchors.js';

/** Longest reference that is followed. */
const MAX_REFERENCE = 512;

const ESCAPED = /[%~]/;

/**
 * The target of a reference within its document: `#/…`, the `#name` of an anchor, and either behind the document's own
 * address; or the address of a schema in it.
 * @see RFC 6901 §6: the pointer is part of a URI, so it is percent-encoded
 */
export function pointed(root: JsonValue | undefined, written: string): JsonValue | undefined {
  if (written.length > MAX_REFERENCE) return undefined;
  const reference = withinDocument(root, written);
  if (!reference.startsWith('#')) return isObject(root) ? addressed(root, written) : undefined;
  if (reference !== '#' && reference[1] !== '/') return isObject(root) ? anchored(root, reference.slice(1)) : undefined;
  const isPlain = !ESCAPED.test(reference);
  let value: JsonValue | undefined = root;
  for (const token of reference.slice(1).split('/').slice(1)) {
    if (value === undefined) return undefined;
    value = memberOf(value, isPlain ? token : unescaped(token));
  }
  return value;
}

function withinDocument(root: JsonValue | undefined, reference: string): string {
  const address = isObject(root) && typeof root.$id === 'string' ? root.$id.replace(/#$/, '') : '';
  if (address === '' || !reference.startsWith(address)) return reference;
  return reference === address ? '#' : reference.slice(address.length);
}

function unescaped(token: string): string {
  return percentDecoded(token).replaceAll('~1', '/').replaceAll('~0', '~');
}

/** A member of an object, or an item of an array by its index as text. */
function memberOf(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as JsonObject)[key];
}

function percentDecoded(token: string): string {
  try {
    return decodeURIComponent(token);
  } catch {
    return token;
  }
}
