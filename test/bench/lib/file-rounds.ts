import { setTimeout as sleep } from 'node:timers/promises';
import type { LabOptions } from './lab.js';
import { rss } from './proc.js';
import { atMost, mib, num, type Row } from './report.js';
import { middle, type Samples } from './stats.js';
import type { Target } from './target.js';

const MIB = 1024 * 1024;

/** Of the file that goes through: 1 GiB, and something small with `--quick`. */
export const fileBytes = ({ quick }: LabOptions) => (quick ? 64 : 1024) * MIB;
/** Goes before, so that code which is loaded and compiled at first use counts as idle. */
export const WARM_UP_BYTES = MIB;
export const TIMEOUT_MS = 400_000;
const SETTLE_MS = 1000;
/** How far one huge file may lift the resident set of a fresh process. */
const MOST_MIB = 64;
/** A round moves several GiB. */
const MOST_ROUNDS = 3;

export const roundsOf = ({ rounds }: LabOptions) => Math.min(rounds, MOST_ROUNDS);

/** What one piece of work cost the processes of a target. */
export interface Cost {
  /** Seconds. */
  wall: number;
  /** CPU seconds. */
  cpu: number;
  /** Bytes. */
  peak: number;
}

/** The resident set once it has settled. */
export async function idleRss(target: Pick<Target, 'pids'>): Promise<number> {
  await sleep(SETTLE_MS);
  return rss(target.pids());
}

/** The worst round's peak over idle. A round that failed has no peak, and misses the goal. */
export function peakRow<T>(
  id: string,
  what: string,
  idle: number,
  samples: Samples<T>,
  figure: (sample: T) => Cost,
): Row {
  const peaks = (samples.get('wharf') ?? []).map((sample) => (sample ? figure(sample).peak : Number.NaN));
  const over = peaks.length === 0 ? Number.NaN : Math.max(...peaks) - idle;
  return atMost(id, `${what}: peak RSS over idle`, over / MIB, MOST_MIB, ' MiB', 0);
}

/** The CPU seconds of a GiB of file: the median of the rounds. */
export function cpuRow<T>(
  id: string,
  what: string,
  bytes: number,
  samples: Samples<T>,
  figure: (sample: T) => Cost,
  most: number,
): Row {
  const cpu = middle(samples, 'wharf', (sample) => figure(sample).cpu);
  return atMost(id, `${what}: CPU per GiB`, (cpu / bytes) * 1024 * MIB, most, ' s');
}

export const COST_HEAD = ['', 'wall s', 'CPU s/GB of file', 'peak RSS MiB'];

/** The medians of a contender; CPU for 10⁹ bytes of file. */
export function costLine<T>(
  title: string,
  bytes: number,
  samples: Samples<T>,
  name: string,
  figure: (sample: T) => Cost,
): string[] {
  const of = (key: keyof Cost) => middle(samples, name, (sample) => figure(sample)[key]);
  return [title, num(of('wall')), num((of('cpu') / bytes) * 1e9), mib(of('peak'))];
}

/** A row that is met or not, without a figure. */
export function passed(id: string, what: string, goal: string, errors: readonly string[]): Row {
  const ok = errors.length === 0;
  return { id, what, goal, measured: ok ? goal : 'see below', ok };
}

/** Makes of work that may throw a sample that may be missing. */
export function attempt<T>(errors: string[], title: string, work: () => Promise<T>): Promise<T | undefined> {
  return work().catch((error: unknown) => {
    errors.push(`${title}: ${String(error)}`);
    return undefined;
  });
}
