import { close, open, read } from 'node:fs';

/**
 * All of a short file. Each of these calls goes through a thread, which is most of the cost: they are three instead of the
 * five of a stream, and made without FileHandle and its promises. Who reads a whole file compares its digest, so no look at
 * it is needed before and after.
 * @returns undefined when it is not a file of this size
 * @throws the system's error
 */
export async function readWhole(path: string, size: number): Promise<Buffer | undefined> {
  const file = await opened(path);
  try {
    // a byte more, which shows whether it is longer
    const bytes = await bytesOf(file, size + 1);
    return bytes.length === size ? bytes : undefined;
  } finally {
    // nothing can be lost by a failure, and the reader need not wait for it
    close(file, () => undefined);
  }
}

function opened(path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    open(path, 'r', (error, file) => (error ? reject(error) : resolve(file)));
  });
}

/** Up to `most` bytes from the beginning: one call reads all of a file that has no more. */
function bytesOf(file: number, most: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    read(file, Buffer.allocUnsafe(most), 0, most, 0, (error, length, bytes) => {
      if (error) reject(error);
      else resolve(bytes.subarray(0, length));
    });
  });
}
