/** What Wharf writes before a digest in results. */
const PREFIX = /^sha-?256:/i;

/**
 * The digest by which files are searched.
 * @param text SHA-256 in base64url, as lists show it, or in hex, as `sha256sum` prints it
 * @returns in base64url without padding; undefined if it is neither
 */
export function digestIn(text: string): string | undefined {
  const digits = text.trim().replace(PREFIX, '');
  if (/^[\dA-Fa-f]{64}$/.test(digits)) return Buffer.from(digits, 'hex').toString('base64url');
  return /^[\w-]{43}$/.test(digits) ? digits : undefined;
}
