/**
 * Controls, but for line breaks and tabs, and the characters that turn the direction of what follows. A terminal obeys the
 * first: it moves, removes and renames what others have written. U+0080 to U+009F are among them, and JSON leaves them.
 */
const OBEYED = /(?![\n\t])\p{Cc}|[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** A text for a terminal, with them written as JSON writes them. In a text of JSON that changes nothing that it says. */
export function inSight(text: string): string {
  return text.replace(OBEYED, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
