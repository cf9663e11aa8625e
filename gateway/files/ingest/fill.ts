import { type Ingest, MAX_PIECE } from './ingest.js';

/**
 * Moves bytes into the store, at the store's pace.
 * @param check called with the file's new size before each chunk is taken; may throw to refuse it
 * @param stored waited for whenever a part has been sent
 */
export async function fill(
  ingest: Ingest,
  bytes: AsyncIterable<Buffer>,
  check: (size: number) => void = () => undefined,
  stored: () => Promise<void> | undefined = () => undefined,
): Promise<void> {
  for await (const chunk of bytes) {
    check(ingest.size + chunk.length);
    const wait = ingest.begin();
    if (wait) await wait;
    for (let at = 0; at < chunk.length; at += MAX_PIECE) {
      const piece = chunk.subarray(at, at + MAX_PIECE);
      piece.copy(ingest.buffer, ingest.offset);
      ingest.take(piece.length);
      if (!ingest.pressure) continue;
      await ingest.pressure;
      // the next bytes, which would show it, may take their time
      ingest.expectGood();
      await stored();
    }
  }
}
