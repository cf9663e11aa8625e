import type { JsonObject, JsonValue } from '../ports/json.js';

/** Longest reference that is followed. */
const MAX_REFERENCE = 512;

const ESCAPED = /[%~]/;

/**
 * The target of a `#/…` reference.
 * @see RFC 6901 §6: the pointer is part of a URI, so it is percent-encoded
 */
export function pointed(root: JsonValue | undefined, reference: string): JsonValue | undefined {
  // `#name` is an anchor, which may be anywhere
  if (reference.length > MAX_REFERENCE || (reference !== '#' && !reference.startsWith('#/'))) return undefined;
  const isPlain = !ESCAPED.test(reference);
  let value: JsonValue | undefined = root;
  for (const token of reference.slice(1).split('/').slice(1)) {
    if (value === undefined) return undefined;
    value = memberOf(value, isPlain ? token : unescaped(token));
  }
  return value;
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
