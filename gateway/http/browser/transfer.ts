import { Rate } from './rate.js';
import { Lost } from './request.js';
import { type Closed, TEXTS } from './texts.js';
import { Later, Refused, type Wire } from './wire.js';

export type Phase =
  | 'ready'
  | 'queued'
  | 'starting'
  | 'sending'
  | 'finishing'
  | 'waiting'
  | 'paused'
  | 'failed'
  | 'cancelled'
  /** A part of it came before the page was opened. */
  | 'partly'
  | 'done';

/** Phases in which leaving the page would lose progress. */
const BUSY: ReadonlySet<Phase> = new Set(['queued', 'starting', 'sending', 'finishing', 'waiting']);
/** Pauses between attempts; the last one repeats. */
const WAITS_MS = [1000, 3000, 5000, 10_000];

/** A file in the list, as its row shows it. */
export interface Shown {
  readonly file: Pick<File, 'name' | 'size' | 'type'>;
  readonly phase: Phase;
  /** Bytes. */
  readonly sent: number;
  readonly isBusy: boolean;
  readonly canPause: boolean;
  /** False when this file has been refused for good. */
  readonly canRetry: boolean;
  readonly mayBeStored: boolean;
  /** Why it failed, or why the next attempt is waited for. */
  readonly problem: string | undefined;
  /** When the next attempt begins. */
  readonly retryAt: number | undefined;
  /** Bytes per second, if known. */
  readonly perSecond: number | undefined;
  /** Milliseconds left. */
  readonly left: number | undefined;
  /** Begins, continues after a pause, or retries. */
  start(): void;
  pause(): void;
  cancel(): void;
  /** Ends it, because the page has learnt elsewhere that it cannot succeed. */
  end(): void;
}

interface Told {
  /** Whether it may begin now; otherwise it waits until it is started again. */
  mayBegin: () => boolean;
  /** Called when anything about it has changed. */
  onChange: () => void;
  /** Called when its ticket can no longer be used. */
  onClosed: (closed: Closed) => void;
}

/** One file on its way: its state, and the actions that are possible. */
export class Transfer implements Shown {
  readonly file: File;
  readonly #wire: Wire;
  readonly #told: Told;
  readonly #rate = new Rate();
  phase: Phase = 'ready';
  sent = 0;
  problem: string | undefined;
  retryAt: number | undefined;
  canRetry = true;
  #run: AbortController | undefined;
  #tries = 0;
  #timer = 0;
  #allWasSent = false;

  constructor(file: File, wire: Wire, told: Told) {
    this.file = file;
    this.#wire = wire;
    this.#told = told;
    addEventListener('online', this.#onOnline);
  }

  get isBusy(): boolean {
    return BUSY.has(this.phase);
  }

  /** True when stopping loses nothing. */
  get canPause(): boolean {
    return this.#wire.keeps;
  }

  /** True when all of it has been sent, so that the ticket's file may be this one. */
  get mayBeStored(): boolean {
    return this.phase === 'finishing' || this.#allWasSent;
  }

  get perSecond(): number | undefined {
    return this.phase === 'sending' ? this.#rate.perSecond : undefined;
  }

  get left(): number | undefined {
    const rate = this.perSecond;
    return rate === undefined ? undefined : ((this.file.size - this.sent) / rate) * 1000;
  }

  start(): void {
    if ((this.isBusy && this.phase !== 'queued') || this.phase === 'done') return;
    this.#tries = 0;
    if (this.#told.mayBegin()) void this.#try();
    else this.#become('queued');
  }

  /** It cannot be uploaded, for a reason that its own address has given. */
  refuse(problem: string): void {
    this.#fail(problem);
  }

  pause(): void {
    this.#stop('paused');
  }

  cancel(): void {
    this.#stop('cancelled');
    this.sent = 0;
    // the server removes the rest in time
    this.#wire.drop().catch(() => undefined);
  }

  end(): void {
    this.#stop('cancelled');
    removeEventListener('online', this.#onOnline);
  }

  async #try(): Promise<void> {
    const run = new AbortController();
    this.#run = run;
    this.#become('starting');
    try {
      const { from, isStored } = await this.#wire.begin(this.file, run.signal);
      this.sent = from;
      if (!isStored) await this.#send(from, run.signal);
      this.sent = this.file.size;
      this.#become('done');
      this.end();
    } catch (thrown) {
      if (!run.signal.aborted) await this.#onFailure(thrown);
    }
  }

  async #send(from: number, signal: AbortSignal): Promise<void> {
    this.#rate.clear();
    this.#rate.note(from, performance.now());
    this.#become('sending');
    const onSent = (bytes: number) => {
      if (signal.aborted) return;
      this.sent = bytes;
      if (bytes > from) this.#tries = 0;
      this.#rate.note(bytes, performance.now());
      this.#become(bytes >= this.file.size ? 'finishing' : 'sending');
    };
    await this.#wire.send(this.file, from, onSent, signal);
  }

  async #onFailure(thrown: unknown): Promise<void> {
    const wasSent = this.phase === 'finishing';
    if (thrown instanceof Refused) {
      // the answer to the last byte was lost, and the next attempt learns that the file is there
      if (thrown.closed === 'done' && this.#allWasSent) this.#become('done');
      else if (thrown.closed !== undefined) this.#told.onClosed(thrown.closed);
      else this.#fail(thrown.message, !thrown.isFinal);
      return;
    }
    this.#allWasSent ||= wasSent;
    if (!(thrown instanceof Lost || thrown instanceof Later) || !(await isReadable(this.file))) {
      this.#fail(TEXTS.unreadable, false);
      return;
    }
    const wait = WAITS_MS[Math.min(this.#tries, WAITS_MS.length - 1)] as number;
    this.#tries += 1;
    const ms = Math.max(wait, (thrown instanceof Later && thrown.afterMs) || 0);
    this.retryAt = Date.now() + ms;
    this.#timer = setTimeout(() => void this.#try(), ms);
    this.problem = thrown instanceof Later ? thrown.message : TEXTS.lost;
    this.#become('waiting');
  }

  #fail(problem: string, canRetry = true): void {
    this.problem = problem;
    this.canRetry = canRetry;
    this.#become('failed');
  }

  #stop(phase: Phase): void {
    if (this.phase === 'done') return;
    clearTimeout(this.#timer);
    this.#run?.abort(new Error('stopped'));
    this.#become(phase);
  }

  #become(phase: Phase): void {
    this.phase = phase;
    if (phase !== 'failed' && phase !== 'waiting') this.problem = undefined;
    this.#told.onChange();
  }

  readonly #onOnline = () => {
    if (this.phase !== 'waiting') return;
    clearTimeout(this.#timer);
    void this.#try();
  };
}

/** A file that was changed or removed after it was picked fails like a broken network. */
async function isReadable(file: File): Promise<boolean> {
  try {
    await file.slice(0, 1).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}
