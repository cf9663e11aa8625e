import { recycled } from '../../files/encode/recycled.js';
import type { Piece, Written } from '../../json/written.js';
import type { OutgoingMessage } from '../../ports/upstream.js';

/**
 * A message up to this length is read as a whole, files included, and sent in one piece: a third of what a call with a
 * small file costs beyond one without. A longer one is read as it is sent.
 */
const WHOLE_BYTES = 64 * 1024;

/** The message to send, without reading large files into memory. @throws the error of reading a small one */
export async function outgoing({ length, pieces }: Written): Promise<OutgoingMessage> {
  if (pieces.every(Buffer.isBuffer)) return Buffer.concat(pieces as readonly Buffer[]);
  if (length > WHOLE_BYTES)
    return { length, read: () => readAll(pieces), release: (piece) => recycled.giveBack(piece) };
  const read: Buffer[] = [];
  for await (const chunk of readAll(pieces)) read.push(chunk);
  return Buffer.concat(read);
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
