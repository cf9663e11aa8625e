const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

/**
 * Position of the first byte of JSON that is not whitespace, or the length. A callback per byte costs five times as
 * much.
 */
export function inkAt(bytes: Buffer): number {
  let at = 0;
  while (at < bytes.length && (bytes[at] as number) <= SPACE) at++;
  return at;
}

/** True when bytes of JSON are only whitespace. */
export function isBlank(bytes: Buffer): boolean {
  return inkAt(bytes) === bytes.length;
}

/** The first byte of JSON that is not whitespace. */
export function firstInk(bytes: Buffer): number | undefined {
  return bytes[inkAt(bytes)];
}

/**
 * Replaces every line break by a blank. A JSON string cannot hold a raw line break, and elsewhere a blank is
 * equivalent.
 */
export function onOneLine(bytes: Buffer): Buffer {
  if (!bytes.includes(LF) && !bytes.includes(CR)) return bytes;
  const line = Buffer.from(bytes);
  for (let at = 0; at < line.length; at++) if (line[at] === LF || line[at] === CR) line[at] = SPACE;
  return line;
}
