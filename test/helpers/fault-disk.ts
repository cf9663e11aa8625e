import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A file system of its own, so small that a test can fill it. Mounting takes root. */
export async function mountSmallDisk(bytes: number): Promise<{ path: string; unmount: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'wharf-disk-'));
  await run('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=0700`, 'tmpfs', path]);
  return {
    path,
    unmount: async () => {
      await run('umount', [path]);
      await rm(path, { recursive: true, force: true });
    },
  };
}
