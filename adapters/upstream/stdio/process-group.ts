import { readdir, readFile } from 'node:fs/promises';

/** Sends a signal to every process of a group; false when there is none left. */
export function signalGroup(group: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch {
    // ESRCH: no such group. EPERM: what is left changed its user, and signals cannot reach it.
    return false;
  }
}

/** State and process group from /proc/<pid>/stat, where the name between brackets may hold anything. */
async function livesIn(group: number, pid: string): Promise<boolean> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    const [state, , pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(pgrp) === group && state !== 'Z' && state !== 'X';
  } catch {
    return false;
  }
}

/**
 * Whether a process of the group still runs. A zombie counts for kill(2) but not here: where Wharf is a container's
 * first process nobody reaps its orphaned grandchildren, and they would seem to live for ever.
 */
export async function groupRuns(group: number): Promise<boolean> {
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

/** Longest pause between two looks, in milliseconds; the first are shorter. */
const LONGEST_PAUSE_MS = 100;

/** True as soon as nothing of the group runs any more, false after `ms`. */
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
 * Groups that must not outlive this process: they are killed when it exits, whatever the way, except by SIGKILL. Then
 * the end of their stdin tells them, as MCP wants it (2025-11-25, stdio, shutdown).
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
