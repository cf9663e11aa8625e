/** Characters of what a server has written that a line of the log repeats. */
const SHOWN = 300;

/** Bytes that hold them: in UTF-8 one has at most four. */
export const BEGINNING_BYTES = 4 * SHOWN;

/** The beginning of what a server has written, on one line. The log redacts it, like all texts. */
export function beginningOf(bytes: Buffer): string {
  const text = bytes.toString('utf8', 0, BEGINNING_BYTES).replaceAll(/\s+/g, ' ').trim();
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}
