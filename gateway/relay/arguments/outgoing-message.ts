import type { PieceBytes } from '../../files/encode/encoder.js';
import { recycled } from '../../files/encode/recycled.js';
import type { Piece, Written } from '../../json/written.js';
import type { OutgoingMessage } from '../../ports/upstream.js';

/**
 * A message up to this length is read as a whole, files included, and sent in one piece: a third of what a call with a
 * small file costs beyond one without. A longer one is read as it is sent.
 */
const WHOLE_BYTES = 64 * 1024;

/**
 * The message to send, without reading large files into memory; a promise only where a small one must be read.
 * @throws the error of reading a small one
 */
export function outgoing({ length, pieces }: Written): OutgoingMessage | Promise<OutgoingMessage> {
  if (pieces.every(Buffer.isBuffer)) return Buffer.concat(pieces);
  if (length > WHOLE_BYTES)
    return { length, read: () => readAll(pieces), release: (piece) => recycled.giveBack(piece) };
  const sources = pieces.map((piece) => (Buffer.isBuffer(piece) ? [piece] : piece()));
  return sources.every(isInMemory) ? Buffer.concat(sources.flat()) : gathered(sources);
}

function isInMemory(source: PieceBytes): source is readonly Buffer[] {
  return Array.isArray(source);
}

async function gathered(sources: readonly PieceBytes[]): Promise<Buffer> {
  const read: Buffer[] = [];
  for (const source of sources) for await (const chunk of source) read.push(chunk);
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
