/** Bytes that several of the machines look for. */
export const TAB = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
export const COLON = 0x3a;
export const OPEN_ARRAY = 0x5b;
export const BACKSLASH = 0x5c;
export const OPEN_OBJECT = 0x7b;

/** 1 for each byte that may follow a backslash, except `u`. */
export const SIMPLE_ESCAPE = new Uint8Array(256);
for (const char of '"\\/bfnrt') SIMPLE_ESCAPE[char.charCodeAt(0)] = 1;

/** White space between JSON tokens (RFC 8259 §2). */
export function isSpace(byte: number): boolean {
  return byte === SPACE || byte === LF || byte === CR || byte === TAB;
}

/** `0` to `9`. */
export function isDigit(byte: number): boolean {
  return byte >= DIGIT_0 && byte <= DIGIT_9;
}

/** Hexadecimal digit, either case. */
export function isHex(byte: number): boolean {
  const letter = byte | 0x20;
  return isDigit(byte) || (letter >= 0x61 && letter <= 0x66);
}
