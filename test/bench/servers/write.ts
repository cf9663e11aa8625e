import type { Writable } from 'node:stream';

/** Writes every piece, waiting while the other side is slower; gives up quietly when the stream is gone. */
export async function writeAll(stream: Writable, pieces: Iterable<Buffer>): Promise<void> {
  for (const piece of pieces) {
    if (stream.destroyed) return;
    if (!stream.write(piece)) await room(stream);
  }
}

function room(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done);
      stream.off('close', done);
      resolve();
    };
    stream.on('drain', done);
    stream.on('close', done);
  });
}
