import { type BigIntStats, close, fstat, open, read } from 'node:fs';

interface WholeOptions {
  /** It is known when the file was last changed: then a look after reading it shows a change before and during it. */
  isKnown: boolean;
  /** True while the file is still the one that was stored. */
  holds: (found: BigIntStats) => boolean;
}

/**
 * All of a short file. Each of these calls goes through a thread, which is most of the cost: they are four instead of the
 * five of a stream, and made without FileHandle and its promises.
 * @returns undefined when it is not a file of this size, or was changed since it was stored
 * @throws the system's error
 */
export async function readWhole(
  path: string,
  size: number,
  { isKnown, holds }: WholeOptions,
): Promise<Buffer | undefined> {
  const file = await opened(path);
  try {
    const before = isKnown ? undefined : await statOf(file);
    // a byte more, which shows whether it is longer
    const bytes = await bytesOf(file, size + 1);
    const after = await statOf(file);
    const isSame = before === undefined || before.mtimeNs === after.mtimeNs;
    return bytes.length === size && after.isFile() && holds(after) && isSame ? bytes : undefined;
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

function statOf(file: number): Promise<BigIntStats> {
  return new Promise((resolve, reject) => {
    fstat(file, { bigint: true }, (error, found) => (error ? reject(error) : resolve(found)));
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
