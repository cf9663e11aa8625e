import { WireError } from '../errors.js';
import { Base64Decoder } from './decode.js';

/** A single character class keeps the test linear. It also catches what Node's decoder would skip silently. */
const NOT_STANDARD = /[^A-Za-z0-9+/]/;

/**
 * Decodes base64 as RFC 4648 §4 defines it: standard alphabet, no line breaks, padding complete or absent.
 * @returns undefined for anything else
 */
export function decodeStrictBase64(text: string): Buffer | undefined {
  let end = text.length;
  if (end % 4 === 0 && text.endsWith('=')) end -= text.endsWith('==') ? 2 : 1;
  const digits = text.slice(0, end);
  return end % 4 === 1 || NOT_STANDARD.test(digits) ? undefined : Buffer.from(digits, 'base64');
}

/**
 * Decodes base64 as people and programs write it: either alphabet, optional padding, line breaks with blanks around
 * them. It accepts what `Base64Decoder` accepts in a message.
 * @returns undefined for text that is not base64
 */
export function decodeTolerantBase64(text: string): Buffer | undefined {
  const strict = decodeStrictBase64(text);
  if (strict !== undefined) return strict;
  const raw = Buffer.from(text, 'utf8');
  const bytes = Buffer.allocUnsafeSlow(Math.floor((raw.length * 3) / 4) + 3);
  const decoder = new Base64Decoder({ trackCanonical: false, parsed: true });
  try {
    const written = decoder.push(raw, 0, raw.length, bytes, 0);
    return bytes.subarray(0, written + decoder.finish(bytes, written));
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}
