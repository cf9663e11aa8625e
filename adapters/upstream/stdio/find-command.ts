import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

export async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

/** True when execvp(3) would find the command: as a path if it contains a slash, otherwise along PATH. */
export async function findsCommand(command: string, path: string, cwd: string): Promise<boolean> {
  if (command.includes('/')) return isExecutable(resolve(cwd, command));
  for (const folder of path.split(delimiter)) {
    if (await isExecutable(join(resolve(cwd, folder), command))) return true;
  }
  return false;
}
