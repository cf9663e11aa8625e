import { readdir, readFile } from 'node:fs/promises';

/** Sends a signal to every process of a group; false when none is left. */
export function signalGroup(group: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch {
    // ESRCH: the group does not exist. EPERM: its last processes changed their user, and signals cannot reach them.
    return false;
  }
}

/** Where proc_pid_stat(5) has these, counted from behind the name, which is in brackets and may contain anything. */
const STATE = 0;
const PROCESS_GROUP = 2;
const THREADS = 17;

/** The state is that of the first thread, which may be a zombie while others still run. */
async function livesIn(group: number, pid: string): Promise<boolean> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (Number(fields[PROCESS_GROUP]) !== group) return false;
    const isDead = fields[STATE] === 'Z' || fields[STATE] === 'X';
    return !isDead || Number(fields[THREADS]) > 1;
  } catch {
    return false;
  }
}

/**
 * True while a process of the group runs. A zombie counts for kill(2) but not here: if Wharf is a container's first
 * process, its orphaned grandchildren are never reaped, and would seem to live for ever.
 */
async function groupRuns(group: number): Promise<boolean> {
  try {
    process.kill(-group, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  let entries: string[];
  try {
    entries = await readdir('/proc');
  } catch {
    return true;
  }
  const pids = entries.filter((name) => /^\d+$/.test(name));
  if (pids.length === 0) return true;
  for (const pid of pids) if (await livesIn(group, pid)) return true;
  return false;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Longest pause between two checks, in milliseconds; the first ones are shorter. */
const LONGEST_PAUSE_MS = 100;

/** True as soon as no process of the group runs, false after `ms`. */
export async function groupGone(group: number, ms: number): Promise<boolean> {
  const until = performance.now() + ms;
  for (let pause = 5; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    if (!(await groupRuns(group))) return true;
    if (performance.now() >= until) return false;
    await sleep(pause);
  }
}

const running = new Set<number>();

function killRunning(): void {
  for (const group of running) signalGroup(group, 'SIGKILL');
}

/**
 * Groups that must not outlive this process: they are killed however it exits, except by SIGKILL. Then they notice the
 * end of their stdin, as MCP requires (2025-11-25, stdio, shutdown).
 */
export const groupsToKillAtExit = {
  add(group: number): void {
    if (running.size === 0) process.on('exit', killRunning);
    running.add(group);
  },
  delete(group: number): void {
    if (running.delete(group) && running.size === 0) process.off('exit', killRunning);
  },
};
