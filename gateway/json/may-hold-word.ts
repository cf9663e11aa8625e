/** Writers escape other characters for good reasons: letters only to hide something. */
const ESCAPED_LETTER = /\\u00[4-7]/;

/**
 * A cheap test: false where a JSON text certainly holds no string with this word in it, however it is spelled.
 * @param word letters and `_`, in ASCII
 */
export function mayHoldWord(json: Buffer, word: string): boolean {
  return json.includes(word) || (json.includes('\\u00') && ESCAPED_LETTER.test(json.toString('latin1')));
}
