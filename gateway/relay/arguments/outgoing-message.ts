import type { Piece, Written } from '../../json/written.js';
import type { OutgoingMessage } from '../../ports/upstream.js';

/** The message to send, without reading further files into memory. */
export function outgoing({ length, pieces }: Written): OutgoingMessage {
  if (pieces.every(Buffer.isBuffer)) return Buffer.concat(pieces as readonly Buffer[]);
  return { length, read: () => readAll(pieces) };
}

/**
 * The bytes before a file are yielded with the file's first bytes, so that the server sees nothing when the file is
 * missing.
 */
async function* readAll(pieces: readonly Piece[]): AsyncGenerator<Buffer> {
  const before: Buffer[] = [];
  for (const piece of pieces) {
    if (Buffer.isBuffer(piece)) {
      before.push(piece);
      continue;
    }
    for await (const chunk of piece()) {
      yield* before.splice(0);
      yield chunk;
    }
  }
  yield* before;
}
