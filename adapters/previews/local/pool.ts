import type { Owner } from '../../../gateway/ports/owner.js';
import type { PreviewResult } from '../../../gateway/ports/previewer.js';
import type { RenderProcess } from './process.js';
import { Renderings } from './renderings.js';

interface PoolOptions {
  /** Most processes at one time. */
  processes: number;
  /** Most waiting renderings. */
  queue: number;
  /** Longest wait of a rendering, milliseconds. */
  maxWait: number;
  /** Milliseconds for which an owner that has all processes may keep another one waiting. */
  patience: number;
  /** Milliseconds after which an idle process ends. */
  idle: number;
  start(): RenderProcess;
}

/** @param until aborts when the result is not wanted, or the process is needed for another owner */
type Task = (process: RenderProcess, until: AbortSignal) => Promise<PreviewResult>;

/** A place for one process: empty until first needed, and again after its process died or was idle for long. */
interface Slot {
  process?: RenderProcess;
  idleTimer?: NodeJS.Timeout;
  /** For whom its rendering was given up: another file of the owner who is in the way may have waited longer. */
  heir?: Waiter;
}

/** One waiting rendering. */
interface Waiter {
  /** The image's owner, and its caller alone. */
  owner: string;
  caller: string;
  wake(slot: Slot | undefined): void;
}

/**
 * A bounded number of render processes, each with one image at a time, behind a bounded queue. Owners take turns, and
 * each owner's images are served in order of arrival: a caller with many large images delays only its own. One whose images
 * take long in all processes gives one up: a PDF of 73 kB that is drawn for 10 s, twice, made another caller's photo wait as
 * long.
 */
export class RenderPool {
  readonly #options: PoolOptions;
  readonly #free: Slot[];
  readonly #slots: readonly Slot[];
  readonly #waiting: Waiter[] = [];
  /** The last turn of each owner that waits, and of each caller, who may be the owner of images of many servers. */
  readonly #turns = new Map<string, number>();
  readonly #renderings = new Renderings<Waiter>();
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
  async run(task: Task, signal: AbortSignal, owner: Owner = {}): Promise<PreviewResult> {
    if (signal.aborted) return { kind: 'refused', reason: 'aborted' };
    const slot = await this.#acquire(signal, owner);
    if (slot === undefined) return { kind: 'refused', reason: signal.aborted || this.#closed ? 'aborted' : 'busy' };
    clearTimeout(slot.idleTimer);
    try {
      // Closed since the slot's release: a process started now would outlive the pool.
      if (this.#closed) return { kind: 'refused', reason: 'aborted' };
      if (slot.process?.alive !== true) slot.process = this.#options.start();
      return await this.#render(task, { slot, process: slot.process }, signal, owner);
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

  async #render(
    task: Task,
    { slot, process }: { slot: Slot; process: RenderProcess },
    signal: AbortSignal,
    owner: Owner,
  ): Promise<PreviewResult> {
    const givenUp = new AbortController();
    const giveUp = (heir: Waiter): void => {
      if (givenUp.signal.aborted) return;
      slot.heir = heir;
      givenUp.abort();
    };
    const rendering = { owner, since: performance.now(), giveUp };
    this.#renderings.begin(rendering);
    try {
      const result = await task(process, AbortSignal.any([signal, givenUp.signal]));
      const isGivenUp = givenUp.signal.aborted && result.kind === 'refused' && result.reason === 'aborted';
      return isGivenUp ? { kind: 'refused', reason: 'busy' } : result;
    } finally {
      this.#renderings.end(rendering);
    }
  }

  #makeRoomFor(waiter: Waiter, owner: Owner): void {
    const longest = this.#renderings.inTheWayOf(owner, this.#slots.length);
    if (longest && performance.now() - longest.since >= this.#options.patience) longest.giveUp(waiter);
  }

  #acquire(signal: AbortSignal, by: Owner): Promise<Slot | undefined> {
    const caller = by.principal ?? '';
    const owner = `${caller}\0${by.server ?? ''}`;
    if (this.#closed) return Promise.resolve(undefined);
    const slot = this.#takeFree();
    if (slot !== undefined || !this.#hasPlace(owner)) return Promise.resolve(slot);
    return new Promise((resolve) => {
      const wake = (given: Slot | undefined): void => {
        clearTimeout(timer);
        clearInterval(impatience);
        signal.removeEventListener('abort', giveUp);
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        this.#noteTurn('caller', caller, given !== undefined);
        this.#noteTurn('owner', owner, given !== undefined);
        resolve(given);
      };
      const giveUp = (): void => wake(undefined);
      const timer = setTimeout(giveUp, this.#options.maxWait);
      const impatience = setInterval(() => this.#makeRoomFor(waiter, by), this.#options.patience);
      signal.addEventListener('abort', giveUp, { once: true });
      const waiter: Waiter = { owner, caller, wake };
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

  #noteTurn(of: 'owner' | 'caller', name: string, isGiven: boolean): void {
    if (!this.#waiting.some((other) => other[of] === name)) this.#turns.delete(name);
    else if (isGiven) this.#turns.set(name, ++this.#turn);
  }

  /** The earliest waiter of the caller whose last turn is longest ago, and of its servers with the last turn longest ago. */
  #next(): Waiter | undefined {
    const turnOf = (name: string) => this.#turns.get(name) ?? 0;
    const isBefore = (one: Waiter, other: Waiter) =>
      (turnOf(one.caller) - turnOf(other.caller) || turnOf(one.owner) - turnOf(other.owner)) < 0;
    return this.#waiting.reduce<Waiter | undefined>(
      (best, waiter) => (best === undefined || isBefore(waiter, best) ? waiter : best),
      undefined,
    );
  }

  #release(slot: Slot): void {
    const { heir } = slot;
    delete slot.heir;
    const next = heir && this.#waiting.includes(heir) ? heir : this.#next();
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
