/** A longer header is not read. */
const LONGEST = 4096;

/** What is kept of a server's challenge (RFC 6750 §3, RFC 9728 §5.1). */
const KEPT = ['realm', 'error', 'error_description', 'error_uri', 'scope'] as const;

/** RFC 9110 §11.2: a scheme, or a parameter of the challenge that it began. */
const WORD = /([!#$%&'*+.^`|~\w-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+)))?/g;

/** What quotes may hold without an escape; what else is there would be read in two ways. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** The parameters of the first Bearer challenge in a server's `WWW-Authenticate`, by lower-case name. */
export function bearerChallenge(header: string | undefined): ReadonlyMap<string, string> | undefined {
  if (header === undefined || header.length > LONGEST) return undefined;
  let found: Map<string, string> | undefined;
  for (const [, name = '', quoted, bare] of header.matchAll(WORD)) {
    const value = quoted ?? bare;
    if (value === undefined) {
      // the next challenge
      if (found) return found;
      if (name.toLowerCase() === 'bearer') found = new Map();
    } else if (found && !found.has(name.toLowerCase()) && PLAIN.test(value)) found.set(name.toLowerCase(), value);
  }
  return found;
}

/** The challenge with another address of the metadata. */
export function writtenChallenge(params: ReadonlyMap<string, string>, metadataUrl: string | undefined): string {
  const parts = KEPT.flatMap((name) => {
    const value = params.get(name);
    return value === undefined ? [] : [`${name}="${value}"`];
  });
  if (metadataUrl !== undefined) parts.push(`resource_metadata="${metadataUrl}"`);
  return parts.length === 0 ? 'Bearer' : `Bearer ${parts.join(', ')}`;
}

/** A challenge that a client may get as it came; undefined for one that no header can hold. */
export function unchangedChallenge(header: string | undefined): string | undefined {
  return header !== undefined && header.length <= LONGEST && /^[\t\x20-\x7e]+$/.test(header) ? header : undefined;
}
