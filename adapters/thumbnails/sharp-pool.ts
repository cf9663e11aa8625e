import type { PreviewResult } from '../../gateway/ports/thumbnailer.js';
import type { RenderProcess } from './sharp-process.js';

export interface PoolOptions {
  /** Most processes at a time. */
  processes: number;
  /** Most renderings that wait for one. */
  queue: number;
  /** Milliseconds a rendering waits at most. */
  maxWait: number;
  /** Milliseconds after which a process without work ends. */
  idle: number;
  start(): RenderProcess;
}

type Task = (process: RenderProcess) => Promise<PreviewResult>;

/** A place for one process: empty until it is first needed, and again when its process died or idled. */
interface Slot {
  process?: RenderProcess;
  idleTimer?: NodeJS.Timeout;
}

/** At most so many render processes, each with one image at a time, and a bounded queue in front, first come first served. */
export class RenderPool {
  readonly #options: PoolOptions;
  readonly #free: Slot[];
  readonly #slots: readonly Slot[];
  readonly #waiting = new Set<(slot: Slot | undefined) => void>();
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.processes }, () => ({}));
    this.#free = [...this.#slots];
  }

  /** Runs `task` with a process of its own; refused `busy` when the queue is full or the wait too long. */
  async run(task: Task, signal: AbortSignal): Promise<PreviewResult> {
    if (signal.aborted) return { kind: 'refused', reason: 'aborted' };
    const slot = await this.#acquire(signal);
    if (slot === undefined) return { kind: 'refused', reason: signal.aborted || this.#closed ? 'aborted' : 'busy' };
    clearTimeout(slot.idleTimer);
    try {
      // Closed between the slot's release and now: a process started here would outlive the pool.
      if (this.#closed) return { kind: 'refused', reason: 'aborted' };
      if (slot.process?.alive !== true) slot.process = this.#options.start();
      return await task(slot.process);
    } finally {
      this.#release(slot);
    }
  }

  /** Ends every process; whoever waits is refused. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const wake of this.#waiting) wake(undefined);
    for (const slot of this.#slots) clearTimeout(slot.idleTimer);
    await Promise.all(this.#slots.map((slot) => slot.process?.kill()));
  }

  #acquire(signal: AbortSignal): Promise<Slot | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    // The slot used last comes first: one process then serves a light load, and the others idle out.
    const slot = this.#free.pop();
    if (slot !== undefined || this.#waiting.size >= this.#options.queue) return Promise.resolve(slot);
    return new Promise((resolve) => {
      const wake = (given: Slot | undefined): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        this.#waiting.delete(wake);
        resolve(given);
      };
      const giveUp = (): void => wake(undefined);
      const timer = setTimeout(giveUp, this.#options.maxWait);
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.add(wake);
    });
  }

  #release(slot: Slot): void {
    // A Set keeps the order in which the waiting came.
    const [next] = this.#waiting;
    if (next !== undefined) {
      next(slot);
      return;
    }
    this.#free.push(slot);
    if (this.#closed) return;
    slot.idleTimer = setTimeout(() => void slot.process?.kill(), this.#options.idle);
    slot.idleTimer.unref();
  }
}
