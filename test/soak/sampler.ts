import { readFileSync } from 'node:fs';
import { cpuSeconds, rss } from '../bench/lib/proc.js';

/** What a gateway says of itself at one moment. */
export interface Sample {
  /** Seconds since the soak began. */
  at: number;
  rss: number;
  heap: number;
  held: number;
  partMemory: number;
  /** Longest delay of the event loop since the sample before, in ms. */
  loop: number;
  connections: number;
  exchanges: number;
  /** Cores that its process has kept busy since the sample before. */
  cpu: number;
  /** ms of each second for which its main thread was ready and waited for a core. */
  waited: number;
}

const EVERY_MS = 1_000;

const METRICS = {
  heap: 'nodejs_heap_size_used_bytes',
  held: 'wharf_held_bytes',
  partMemory: 'wharf_part_memory_bytes',
  loop: 'nodejs_eventloop_lag_max_seconds',
  connections: 'wharf_client_connections',
  exchanges: 'wharf_open_exchanges',
} as const;

function metricOf(text: string, name: string): number {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? Number.NaN);
}

/** What a process has used up to a moment. */
interface Spent {
  at: number;
  /** Seconds. */
  cpu: number;
  /** Milliseconds. */
  waited: number;
}

const NS_PER_MS = 1e6;

/** Looks at a gateway once a second. */
export class Sampler {
  readonly samples: Sample[] = [];
  readonly #adminUrl: string;
  readonly #pid: number;
  readonly #began = performance.now();
  #isOn = true;
  #before: Spent;
  #loop: Promise<void>;

  constructor(adminUrl: string, pid: number) {
    this.#adminUrl = adminUrl;
    this.#pid = pid;
    this.#before = this.#spent();
    this.#loop = this.#keepLooking();
  }

  /** Seconds since the soak began. */
  now(): number {
    return (performance.now() - this.#began) / 1000;
  }

  async stop(): Promise<void> {
    this.#isOn = false;
    await this.#loop;
  }

  /** The newest sample. */
  get last(): Sample | undefined {
    return this.samples.at(-1);
  }

  #spent(): Spent {
    // the second figure of schedstat is the time on a run queue, in ns; there is none once the process has ended
    const [, waited = '0'] = readFileSync(`/proc/${this.#pid}/schedstat`, 'latin1').split(' ');
    return { at: this.now(), cpu: cpuSeconds(this.#pid), waited: Number(waited) / NS_PER_MS };
  }

  async #keepLooking(): Promise<void> {
    while (this.#isOn) {
      const next = new Promise((resolve) => setTimeout(resolve, EVERY_MS));
      // a gateway that does not answer is asked again; that shows as the next sample's delay
      await this.#look().catch(() => undefined);
      await next;
    }
  }

  async #look(): Promise<void> {
    const text = await (await fetch(`${this.#adminUrl}/metrics`)).text();
    const { heap, held, partMemory, loop, connections, exchanges } = METRICS;
    const [before, spent] = [this.#before, this.#spent()];
    this.#before = spent;
    const seconds = spent.at - before.at;
    this.samples.push({
      cpu: (spent.cpu - before.cpu) / seconds,
      waited: (spent.waited - before.waited) / seconds,
      at: this.now(),
      rss: rss(this.#pid),
      heap: metricOf(text, heap),
      held: metricOf(text, held),
      partMemory: metricOf(text, partMemory),
      loop: metricOf(text, loop) * 1000,
      connections: metricOf(text, connections),
      exchanges: metricOf(text, exchanges),
    });
  }
}
