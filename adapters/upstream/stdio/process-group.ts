import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';

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

/** Processes looked at in one turn of the event loop: about 5 ms. */
const AT_ONCE = 256;

/** Where proc_pid_stat(5) has these, counted from behind the name, which is in brackets and may contain anything. */
const STATE = 0;
const PROCESS_GROUP = 2;
const THREADS = 17;

/**
 * The state is that of the first thread, which may be a zombie while others still run. Read at once: the kernel has it in
 * memory, and a promise of it takes four turns of the event loop. Beside a flood a turn may last 20 ms, and with a hundred
 * processes on the machine the end of a session took 4 to 8 s.
 */
function livesIn(group: number, pid: string): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
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
async function groupRuns(group: number, seen: { pid: string }): Promise<boolean> {
  try {
    process.kill(-group, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  if (livesIn(group, seen.pid)) return true;
  let entries: string[];
  try {
    entries = await readdir('/proc');
  } catch {
    return true;
  }
  const pids = entries.filter((name) => /^\d+$/.test(name));
  if (pids.length === 0) return true;
  for (const [at, pid] of pids.entries()) {
    if (at % AT_ONCE === AT_ONCE - 1) await nextTurn();
    if (!livesIn(group, pid)) continue;
    seen.pid = pid;
    return true;
  }
  return false;
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Longest pause between two checks, in milliseconds; the first ones are shorter. */
const LONGEST_PAUSE_MS = 100;

/** True as soon as no process of the group runs, false after `ms`. */
export function groupGone(group: number, ms: number): Promise<boolean> {
  const seen = { pid: String(group) };
  return untilGone(() => groupRuns(group, seen), ms);
}

/** True as soon as `runs` is not, false after `ms`. */
export async function untilGone(runs: () => boolean | Promise<boolean>, ms: number): Promise<boolean> {
  const until = performance.now() + ms;
  for (let pause = 5; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    if (!(await runs())) return true;
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
