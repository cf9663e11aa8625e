import type { Writable } from 'node:stream';

/** Resolves when more may be written, or when the other side has gone. */
export function roomToWrite(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done);
      stream.off('close', done);
      resolve();
    };
    stream.on('drain', done);
    stream.on('close', done);
  });
}
