/** The JSON bytes of a scalar. */
export function jsonBytes(value: string | number | boolean | null): Buffer {
  return Buffer.from(JSON.stringify(value));
}

/** The two quotation marks of a string. */
export const QUOTES = 2;

/** One of them, as bytes. */
export const QUOTE = Buffer.from('"');
