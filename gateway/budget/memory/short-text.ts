/**
 * The beginning of a text of a peer's, to be kept. It is copied, because a slice of a string keeps all of it in memory: a
 * name may be as long as a message.
 */
export function shortText(text: string, most: number): string {
  return text.length <= most ? text : Buffer.from(text.slice(0, most), 'utf16le').toString('utf16le');
}
