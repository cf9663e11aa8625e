import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';

/** What execvp(3) fails of; undefined for a file that it would run. */
type Lack = 'EACCES' | 'ENOENT' | undefined;

async function lackOf(path: string): Promise<Lack> {
  try {
    if (!(await stat(path)).isFile()) return 'EACCES';
    await access(path, constants.X_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? 'EACCES' : 'ENOENT';
  }
}

export async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

/** Looks for the command as execvp(3) does: as a path if it contains a slash, otherwise along PATH. */
export async function lackOfCommand(command: string, path: string, cwd: string): Promise<Lack> {
  if (command.includes('/')) return lackOf(resolve(cwd, command));
  let lack: Lack = 'ENOENT';
  for (const folder of path.split(delimiter)) {
    const found = await lackOf(join(resolve(cwd, folder), command));
    if (found === undefined) return undefined;
    // a file that may not be run is the reason only where PATH has no other
    if (found === 'EACCES') lack = found;
  }
  return lack;
}
