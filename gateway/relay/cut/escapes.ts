const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const SLASH = 0x2f;
const U = 0x75;
/** What follows the backslash of a line break. */
const BREAKS: Readonly<Record<number, number>> = { 110: 0x0a, 114: 0x0d };

/** Of `\n`, and of `\u002b`. */
const ESCAPE = 2;
const UNICODE_ESCAPE = 6;

/** Length of the escape at a backslash; 0 when it is not complete. */
export function escapeAt(chunk: Buffer, at: number, end: number): number {
  const length = chunk[at + 1] === U ? UNICODE_ESCAPE : ESCAPE;
  return at + length <= end ? length : 0;
}

/**
 * The character of an escape, if it may be of base64 or ends it: PHP escapes slashes, .NET plus signs, Gson the padding, and
 * everyone line breaks and quotes.
 * @returns a backslash for any other escape, which ends base64 too
 */
export function charOf(chunk: Buffer, at: number): number {
  const kind = chunk[at + 1] as number;
  if (kind !== U) return kind === SLASH || kind === QUOTE ? kind : (BREAKS[kind] ?? BACKSLASH);
  return Number.parseInt(chunk.toString('latin1', at + ESCAPE, at + UNICODE_ESCAPE), 16);
}

/** Base64 whose escapes are written out. */
export function withoutEscapes(raw: string): string {
  return raw.replaceAll(/\\(?:u(....)|(.))/g, (_all, code: string | undefined, char: string) =>
    code === undefined ? char : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
