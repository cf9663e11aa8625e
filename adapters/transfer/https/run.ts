import type { TransferRules } from '../../../gateway/ports/transfer.js';
import { timedOut } from './failure.js';

/**
 * One transfer from beginning to end. Everything that ends it early (the caller, a time-out, a failing source, the
 * gateway's shutdown) aborts `signal`, whose reason becomes the caller's error.
 */
export class Run {
  readonly host: string;
  readonly #controller = new AbortController();
  readonly #timeouts: TransferRules['timeouts'];
  readonly #all: Set<Run>;
  readonly #outer: AbortSignal;
  readonly #total: NodeJS.Timeout;
  readonly #abort = (): void => this.stop(this.#outer.reason);
  #connect: NodeJS.Timeout | undefined;

  /** @param all every running transfer; contains this one until `done` */
  constructor(host: string, timeouts: TransferRules['timeouts'], outer: AbortSignal, all: Set<Run>) {
    this.host = host;
    this.#timeouts = timeouts;
    this.#outer = outer;
    this.#all = all;
    all.add(this);
    outer.addEventListener('abort', this.#abort);
    this.#total = setTimeout(() => this.stop(timedOut(host, 'total', timeouts.total)), timeouts.total);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get idleMs(): number {
    return this.#timeouts.idle;
  }

  stop(reason: unknown): void {
    this.#controller.abort(reason);
  }

  idle(): void {
    this.stop(timedOut(this.host, 'idle', this.#timeouts.idle));
  }

  /** From here to `connected` the connect time-out runs, including the name look-up. */
  connecting(): void {
    const { connect } = this.#timeouts;
    clearTimeout(this.#connect);
    this.#connect = setTimeout(() => this.stop(timedOut(this.host, 'connect', connect)), connect);
  }

  connected(): void {
    clearTimeout(this.#connect);
  }

  /** Awaits a promise that does not listen to the signal itself. */
  async until<Value>(promise: Promise<Value>): Promise<Value> {
    const { signal } = this;
    signal.throwIfAborted();
    let abort = (): void => undefined;
    const aborted = new Promise<never>((_resolve, reject) => {
      abort = () => reject(signal.reason);
      signal.addEventListener('abort', abort);
    });
    try {
      return await Promise.race([promise, aborted]);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** Ends the transfer: time-outs and signals no longer matter. */
  done(): void {
    clearTimeout(this.#connect);
    clearTimeout(this.#total);
    this.#outer.removeEventListener('abort', this.#abort);
    this.#all.delete(this);
  }
}
