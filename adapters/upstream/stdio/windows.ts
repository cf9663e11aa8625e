import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { delimiter, resolve, win32 } from 'node:path';
import { untilGone } from './process-group.js';
import type { Processes, Surroundings } from './system.js';

/** Endings of what can be started by its name alone, where the environment does not say them. */
const PATHEXT = '.COM;.EXE;.BAT;.CMD';

/** How long the end of this process waits for the end of a server. */
const AT_EXIT_MS = 2000;

/** Where Windows is, by the environment of the last program that was started. */
let systemRoot = 'C:\\Windows';

/** Those that run, by their ids: the id of one that has ended is soon that of another process. */
const programs = new Map<number, ChildProcessWithoutNullStreams>();

/** A letter and a colon, a slash or a backslash. */
const PATH = /[/\\]|^[a-z]:/i;

/**
 * Finds a program as `cmd.exe` does, but not in the working directory: a server that may write there could have another one
 * started in its place.
 * @returns its whole path
 */
async function findProgram(program: string, env: Surroundings['env'], cwd: string): Promise<string | undefined> {
  const endings = (env.PATHEXT ?? PATHEXT).split(';').filter((ending) => ending !== '');
  const hasEnding = endings.some((ending) => program.toLowerCase().endsWith(ending.toLowerCase()));
  const names = hasEnding ? [program] : endings.map((ending) => program + ending.toLowerCase());
  const folders = isPath(program) ? [cwd] : (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  for (const folder of folders) {
    for (const name of names) {
      const path = resolve(cwd, folder, name);
      if (await isFile(path)) return path;
    }
  }
  return undefined;
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

function isPath(program: string): boolean {
  return PATH.test(program);
}

/** `npx` is a script there, which Node starts only by `cmd.exe`, whose rules of quoting cross-spawn knows. */
async function start(
  [program, ...args]: readonly [string, ...string[]],
  { env, cwd }: Surroundings,
): Promise<ChildProcessWithoutNullStreams> {
  const { default: spawnAny } = await import('cross-spawn');
  const path = await findProgram(program, env, cwd ?? '.');
  if (path === undefined) throw Object.assign(new Error(`no program: ${program}`), { code: 'ENOENT' });
  systemRoot = env.SYSTEMROOT ?? systemRoot;
  const child = spawnAny(path, args, {
    env,
    cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
    // without it a window opens for each server, and Ctrl-C in Wharf's ends them all before their calls are answered
    windowsHide: true,
  }) as ChildProcessWithoutNullStreams;
  const { pid } = child;
  if (pid !== undefined) {
    programs.set(pid, child);
    child.once('exit', () => programs.delete(pid));
  }
  return child;
}

/**
 * Windows has no groups of processes: `taskkill /T` ends a program and what it has started, as long as the program runs
 * itself. What outlives it notices the end of its standard input, as MCP requires. Windows has no polite signal: a program
 * without a window hears nothing of one.
 */
function taskkill(ids: Iterable<number>): readonly [string, string[]] {
  // by its whole path, because a file of this name in the working directory would be found first
  const program = win32.join(systemRoot, 'System32', 'taskkill.exe');
  return [program, ['/F', '/T', ...[...ids].flatMap((id) => ['/PID', String(id)])]];
}

function end(id: number): void {
  const [program, args] = taskkill([id]);
  const killer = spawn(program, args, { stdio: 'ignore', windowsHide: true });
  // Wine's knows no /T, and ends nothing then
  killer.once('exit', () => endAlone(id));
  killer.once('error', () => endAlone(id));
}

function endAlone(id: number): void {
  programs.get(id)?.kill('SIGKILL');
}

const running = new Set<number>();

function endRunning(): void {
  const [program, args] = taskkill(running);
  spawnSync(program, args, { stdio: 'ignore', windowsHide: true, timeout: AT_EXIT_MS });
  for (const id of running) endAlone(id);
}

export const windowsProcesses: Processes = {
  start,
  signal: end,
  gone: (id, ms) => untilGone(() => programs.has(id), ms),
  toKillAtExit: {
    add(id) {
      if (running.size === 0) process.on('exit', endRunning);
      running.add(id);
    },
    delete(id) {
      if (running.delete(id) && running.size === 0) process.off('exit', endRunning);
    },
  },
  lackOf: async (program, env, cwd) => ((await findProgram(program, env, cwd)) === undefined ? 'ENOENT' : undefined),
  isPath,
};
