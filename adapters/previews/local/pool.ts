import type { Owner } from '../../../gateway/ports/owner.js';
import type { PreviewResult } from '../../../gateway/ports/previewer.js';
import type { RenderProcess } from './process.js';

interface PoolOptions {
  /** Most processes at one time. */
  processes: number;
  /** Most waiting renderings. */
  queue: number;
  /** Longest wait of a rendering, milliseconds. */
  maxWait: number;
  /** Milliseconds after which an idle process ends. */
  idle: number;
  start(): RenderProcess;
}

type Task = (process: RenderProcess) => Promise<PreviewResult>;

/** A place for one process: empty until first needed, and again after its process died or was idle for long. */
interface Slot {
  process?: RenderProcess;
  idleTimer?: NodeJS.Timeout;
}

/** One waiting rendering. */
interface Waiter {
  /** The image's owner. */
  owner: string;
  wake(slot: Slot | undefined): void;
}

/**
 * A bounded number of render processes, each with one image at a time, behind a bounded queue. Owners take turns, and
 * each owner's images are served in order of arrival: a caller with many large images delays only its own.
 */
export class RenderPool {
  readonly #options: PoolOptions;
  readonly #free: Slot[];
  readonly #slots: readonly Slot[];
  readonly #waiting: Waiter[] = [];
  /** The last turn of each owner that waits. */
  readonly #turns = new Map<string, number>();
  #turn = 0;
  /** Slots whose processes are starting for pictures that wait. */
  #starting = 0;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.processes }, () => ({}));
    this.#free = [...this.#slots];
  }

  /** Runs `task` with a process of its own; refuses with `busy` when the queue is full or the wait too long. */
  async run(task: Task, signal: AbortSignal, { principal = '', server = '' }: Owner = {}): Promise<PreviewResult> {
    if (signal.aborted) return { kind: 'refused', reason: 'aborted' };
    const slot = await this.#acquire(signal, `${principal}\0${server}`);
    if (slot === undefined) return { kind: 'refused', reason: signal.aborted || this.#closed ? 'aborted' : 'busy' };
    clearTimeout(slot.idleTimer);
    try {
      // Closed since the slot's release: a process started now would outlive the pool.
      if (this.#closed) return { kind: 'refused', reason: 'aborted' };
      if (slot.process?.alive !== true) slot.process = this.#options.start();
      return await task(slot.process);
    } finally {
      this.#release(slot);
    }
  }

  /** Ends every process and refuses every waiting rendering. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const { wake } of [...this.#waiting]) wake(undefined);
    for (const slot of this.#slots) clearTimeout(slot.idleTimer);
    await Promise.all(this.#slots.map((slot) => slot.process?.kill()));
  }

  #acquire(signal: AbortSignal, owner: string): Promise<Slot | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    const slot = this.#takeFree();
    if (slot !== undefined || !this.#hasPlace(owner)) return Promise.resolve(slot);
    return new Promise((resolve) => {
      const wake = (given: Slot | undefined): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        if (!this.#waiting.some((other) => other.owner === owner)) this.#turns.delete(owner);
        else if (given !== undefined) this.#turns.set(owner, ++this.#turn);
        resolve(given);
      };
      const giveUp = (): void => wake(undefined);
      const timer = setTimeout(giveUp, this.#options.maxWait);
      signal.addEventListener('abort', giveUp, { once: true });
      const waiter: Waiter = { owner, wake };
      this.#waiting.push(waiter);
    });
  }

  /**
   * A free slot: one with a process if there is one, and of these the one used last, so that one process serves a light
   * load, and the others are idle and end. An empty one is taken only where no process runs. Else one of those that run
   * is free sooner than a new one has started, which takes 0.2 s: the picture waits, and a process is started meanwhile.
   */
  #takeFree(): Slot | undefined {
    const running = this.#free.findLastIndex(({ process }) => process?.alive);
    if (running !== -1) return this.#free.splice(running, 1)[0];
    const empty = this.#free.pop();
    if (empty === undefined || this.#free.length === this.#slots.length - 1) return empty;
    void this.#startIn(empty);
    return undefined;
  }

  /** Starts a process, which takes the next picture that waits. */
  async #startIn(slot: Slot): Promise<void> {
    clearTimeout(slot.idleTimer);
    this.#starting += 1;
    try {
      const process = this.#options.start();
      slot.process = process;
      const tooLong = setTimeout(() => void process.kill(), this.#options.maxWait);
      await process.ready;
      clearTimeout(tooLong);
    } catch {
      // The slot stays empty: the picture that takes it tries again, and says why it failed.
    }
    this.#starting -= 1;
    this.#release(slot);
  }

  /** In a full queue, the owner with the most places gives one up to an owner with fewer. */
  #hasPlace(owner: string): boolean {
    // the queue is for those that wait beyond the processes
    if (this.#waiting.length < this.#options.queue + this.#starting) return true;
    const counts = new Map<string, number>([[owner, 1]]);
    for (const { owner: other } of this.#waiting) counts.set(other, (counts.get(other) ?? 0) + 1);
    const last = this.#waiting.findLast((waiter) => counts.get(waiter.owner) === Math.max(...counts.values()));
    if (last === undefined || last.owner === owner || (counts.get(last.owner) ?? 0) <= (counts.get(owner) ?? 0)) {
      return false;
    }
    last.wake(undefined);
    return true;
  }

  /** The earliest waiter of the owner whose last turn is longest ago. */
  #next(): Waiter | undefined {
    const turnOf = ({ owner }: Waiter) => this.#turns.get(owner) ?? 0;
    return this.#waiting.reduce<Waiter | undefined>(
      (best, waiter) => (best === undefined || turnOf(waiter) < turnOf(best) ? waiter : best),
      undefined,
    );
  }

  #release(slot: Slot): void {
    const next = this.#next();
    if (next !== undefined) {
      next.wake(slot);
      return;
    }
    this.#free.push(slot);
    if (this.#closed) return;
    slot.idleTimer = setTimeout(() => void slot.process?.kill(), this.#options.idle);
    slot.idleTimer.unref();
  }
}
