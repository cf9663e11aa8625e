import type { Writable } from 'node:stream';
import { roomToWrite } from '../../helpers/room-to-write.js';

/** Writes every piece, waiting while the other side is slower; gives up quietly when the stream is gone. */
export async function writeAll(stream: Writable, pieces: Iterable<Buffer>): Promise<void> {
  for (const piece of pieces) {
    if (stream.destroyed) return;
    if (!stream.write(piece)) await roomToWrite(stream);
  }
}
