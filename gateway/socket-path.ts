import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';

/** The path of a socket has 104 bytes on macOS, 108 on Linux, with the NUL at its end. A longer one would be cut off. */
const LONGEST_PATH = 103;

/** Windows has named pipes instead, all in this place. They are gone with their process. */
const PIPES = '\\\\.\\pipe\\';

/**
 * Where a process listens that holds a file or a folder, so that others see it: a socket beside that.
 * @param name of the socket in its folder
 * @returns undefined if its path would be too long
 */
export function socketPath(folder: string, name: string, platform: string = process.platform): string | undefined {
  const path = join(folder, name);
  if (platform !== 'win32') return Buffer.byteLength(path) > LONGEST_PATH ? undefined : path;
  // two names of a file that differ by their case alone are one there
  const digest = createHash('sha256').update(resolve(path).toLowerCase()).digest('hex');
  return `${PIPES}wharf-${digest}`;
}
