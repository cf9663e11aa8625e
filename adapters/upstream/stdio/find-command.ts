import { constants } from 'node:fs';
import { access, open, stat } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';

/** A script is there, and the program that its first line names is not: execvp(3) fails of ENOENT all the same. */
export const NO_INTERPRETER = 'interpreter';

/** What execvp(3) fails of; undefined for a file that it would run. */
export type Lack = 'EACCES' | 'ENOENT' | typeof NO_INTERPRETER | undefined;

/** What Linux reads of a script's first line. */
const FIRST_LINE_BYTES = 256;

/** `#!`, then the interpreter: a return before the line's end is part of its name, as it is for the system. */
const INTERPRETER = /^#![ \t]*([^ \t\n]+)[ \t\n]/;

async function lackOf(path: string, cwd: string): Promise<Lack> {
  try {
    if (!(await stat(path)).isFile()) return 'EACCES';
    await access(path, constants.X_OK);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? 'EACCES' : 'ENOENT';
  }
  const interpreter = await interpreterOf(path);
  if (interpreter === undefined) return undefined;
  return stat(resolve(cwd, interpreter)).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? NO_INTERPRETER : undefined),
  );
}

/** Undefined for what is not a script, or may be run and not read. */
async function interpreterOf(path: string): Promise<string | undefined> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(FIRST_LINE_BYTES), 0, FIRST_LINE_BYTES, 0);
      return INTERPRETER.exec(buffer.toString('utf8', 0, bytesRead))?.[1];
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

/** Whether a folder is at this path. */
export async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

/** Looks for the command as execvp(3) does: as a path if it contains a slash, otherwise along PATH. */
export async function lackOfCommand(command: string, path: string, cwd: string): Promise<Lack> {
  if (isPathOnUnix(command)) return lackOf(resolve(cwd, command), cwd);
  let lack: Lack = 'ENOENT';
  for (const folder of path.split(delimiter)) {
    const found = await lackOf(join(resolve(cwd, folder), command), cwd);
    if (found === undefined) return undefined;
    // a file that may not be run is the reason only where PATH has no other
    if (found !== 'ENOENT') lack = found;
  }
  return lack;
}

/** Whether execvp(3) takes it for a path. */
export function isPathOnUnix(command: string): boolean {
  return command.includes('/');
}
