import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/** What Linux tells about processes: CPU time and memory, read from /proc. Processes that have ended count as nothing. */
type Pids = number | readonly number[];

const KIB = 1024;
const NS_PER_SECOND = 1e9;
/** USER_HZ, the unit of /proc/PID/stat, is 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

const list = (pids: Pids): readonly number[] => (typeof pids === 'number' ? [pids] : pids);

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}

function names(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** The fields of /proc/PID/stat after the command name, which may itself hold blanks and brackets. */
function statFields(pid: number): string[] {
  const text = read(`/proc/${pid}/stat`);
  return text === undefined ? [] : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function statusBytes(pid: number, key: 'VmHWM' | 'VmRSS'): number {
  const found = new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(read(`/proc/${pid}/status`) ?? '');
  return found ? Number(found[1]) * KIB : 0;
}

/** Peak resident set in bytes since the process started or `resetPeak`, summed over several processes. */
export function peakRss(pids: Pids): number {
  return list(pids).reduce((sum, pid) => sum + statusBytes(pid, 'VmHWM'), 0);
}

/** Resident set in bytes now. */
export function rss(pids: Pids): number {
  return list(pids).reduce((sum, pid) => sum + statusBytes(pid, 'VmRSS'), 0);
}

/** Lowers the recorded peak to the present resident set. 5 is the value that proc(5) gives for it. */
export function resetPeak(pids: Pids): void {
  for (const pid of list(pids)) {
    try {
      writeFileSync(`/proc/${pid}/clear_refs`, '5');
    } catch {
      // Ended meanwhile: its peak counts as nothing.
    }
  }
}

/**
 * CPU seconds (user and system) spent so far. The scheduler's own clock counts nanoseconds but forgets threads that
 * have ended; the process's ticks remember them in steps of 10 ms: the larger of the two is the better figure.
 */
export function cpuSeconds(pids: Pids): number {
  return list(pids).reduce((sum, pid) => {
    let ns = 0;
    for (const task of names(`/proc/${pid}/task`)) {
      ns += Number((read(`/proc/${pid}/task/${task}/schedstat`) ?? '0').split(' ')[0]);
    }
    const fields = statFields(pid);
    const ticks = Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
    return sum + Math.max(ns / NS_PER_SECOND, ticks / TICKS_PER_SECOND);
  }, 0);
}

/** Bytes the processes took in by read(2): libuv reads sockets and pipes with it, so this is what Node really pulled. */
export function bytesRead(pids: Pids): number {
  return list(pids).reduce(
    (sum, pid) => sum + Number(/^rchar: (\d+)/m.exec(read(`/proc/${pid}/io`) ?? '')?.[1] ?? 0),
    0,
  );
}

/** Whether a process was started by a command line like this. */
export function isStartedBy(pid: number, command: RegExp): boolean {
  return command.test((read(`/proc/${pid}/cmdline`) ?? '').replaceAll('\0', ' '));
}

/** The process and all its descendants, without those whose command line matches `skip`. */
export function processTree(root: number, skip?: RegExp): number[] {
  const children = new Map<number, number[]>();
  for (const name of names('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = Number(statFields(Number(name))[1] ?? 0);
    const siblings = children.get(parent);
    if (siblings) siblings.push(Number(name));
    else children.set(parent, [Number(name)]);
  }
  const found: number[] = [];
  const queue = [root];
  for (let pid = queue.shift(); pid !== undefined; pid = queue.shift()) {
    if (pid === root || !skip || !isStartedBy(pid, skip)) found.push(pid);
    queue.push(...(children.get(pid) ?? []));
  }
  return found;
}
