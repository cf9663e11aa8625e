import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The repository. Compiled, this file stands in dist/test/helpers. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/**
 * The environment of what builds a copy while other suites want the processor. Go's collector runs whenever the compiler's
 * heap has doubled, which is a third of its work: 18 s of processor time without, 12 s with this (TypeScript 7.0).
 */
export const FRUGAL_BUILD = { ...process.env, GOGC: '400' };
const MOST_NAMES = 64 * 1024 * 1024;

/**
 * A copy of what git tracks, and will, as it is in the working tree: a fresh clone, with the repository's node_modules.
 * @returns its folder, which the caller removes
 */
export async function copyOfTree(name: string): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), `wharf-${name}-`));
  const { stdout } = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    maxBuffer: MOST_NAMES,
  });
  for (const file of stdout.split('\0').filter((path) => path !== '')) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await cp(join(ROOT, file), join(root, file)).catch((error: NodeJS.ErrnoException) => {
      // removed, and not yet from the index
      if (error.code !== 'ENOENT') throw error;
    });
  }
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  return root;
}
