import { type Ingest, MAX_PIECE } from './ingest.js';

/**
 * Moves bytes into the store, at the store's pace.
 * @param check told of the size that the file has with each chunk, before it is taken; may refuse it
 */
export async function fill(
  ingest: Ingest,
  bytes: AsyncIterable<Buffer>,
  check: (size: number) => void = () => undefined,
): Promise<void> {
  for await (const chunk of bytes) {
    check(ingest.size + chunk.length);
    const wait = ingest.begin();
    if (wait) await wait;
    for (let at = 0; at < chunk.length; at += MAX_PIECE) {
      const piece = chunk.subarray(at, at + MAX_PIECE);
      piece.copy(ingest.buffer, ingest.offset);
      ingest.take(piece.length);
      if (ingest.pressure) await ingest.pressure;
    }
  }
}
