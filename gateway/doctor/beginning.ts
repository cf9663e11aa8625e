/**
 * The first characters of an answer's body: another program may answer there, with any number of them.
 * @param most the rest of the body is not read
 */
export async function beginningOf({ body }: Response, most: number): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  // leaving the loop ends the answer
  for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) {
    text += decoder.decode(piece, { stream: true });
    if (text.length >= most) break;
  }
  return text.slice(0, most);
}
