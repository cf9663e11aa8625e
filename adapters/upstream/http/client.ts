import { Line } from '../../../gateway/budget/collections/line.js';
import { Patience } from '../../../gateway/budget/patience.js';
import { GatewayError } from '../../../gateway/errors.js';
import type { Timeouts } from '../../../gateway/policy/limits.js';
import type { Sharing } from '../../../gateway/ports/owner.js';
import type { Answer } from '../../http/answer.js';
import { Pool } from '../../http/pool.js';
import { Attempt, type AttemptContext } from './attempt.js';
import type { HttpCall } from './call.js';
import { abortFailure } from './failure.js';
import { Slots } from './slots.js';

interface HttpClientOptions {
  /** The server's name in the config, for errors. */
  name: string;
  origin: URL;
  /** `limits.connections` */
  connections: number;
  /** Most requests that wait for a connection. Default: the number of connections. */
  queue?: number;
  sharing: Sharing;
  /** In milliseconds. */
  timeouts: Readonly<Pick<Timeouts, 'queue' | 'upstream' | 'idle'>>;
}

/**
 * Requests to one origin over its kept connections, HTTP/1.1. Redirects are returned like any other answer. Nothing is
 * decoded. Backpressure reaches the upstream.
 *
 * Not node:http, whose client is the dearest part of a short message (see Connection). Not fetch, and not undici below 8:
 * with a slow reader and `Connection: close` they end the whole process. undici 8 saves half as much as this does, waits for
 * one more turn before it uses a connection again, fails on a `100 Continue` that was not asked for, and takes a reset for
 * the end of a body without a length.
 */
export class HttpClient {
  readonly #name: string;
  readonly #slots: Slots;
  readonly #pool: Pool;
  readonly #context: AttemptContext;
  #closed = false;

  constructor(options: HttpClientOptions) {
    const { origin, name, connections, queue, sharing, timeouts } = options;
    this.#name = name;
    this.#slots = new Slots({ server: name, limit: connections, waitMs: timeouts.queue, queue, sharing });
    this.#pool = new Pool(origin, { connections });
    this.#context = {
      name,
      host: origin.host,
      timeouts,
      pool: this.#pool,
      slots: this.#slots,
      patience: new Patience(timeouts.upstream),
      // Not a `Set`: one that many enter and leave is copied again and again, and V8 links each old copy, with the requests
      // it held, to the next. The first copy that gets old keeps all later requests, so each had to be collected as an old
      // object.
      open: new Line<Attempt>(),
    };
  }

  /**
   * Resolves with the head of the answer. Read its body to the end or destroy it; it fails with a GatewayError
   * (`upstream_closed`, or the signal's reason if that is one).
   * @throws GatewayError `connection_limit`, `upstream_unreachable`, `upstream_timeout`, `upstream_closed`,
   * `upstream_invalid`, or the signal's reason
   */
  send(call: HttpCall, signal: AbortSignal): Promise<Answer> {
    if (signal.aborted) return Promise.reject(abortFailure(this.#name, signal));
    if (this.#closed) return Promise.reject(new GatewayError('upstream_closed', { server: this.#name }));
    const wait = this.#slots.take(call, call.isStream ?? false, signal);
    const settled = wait === undefined ? this.#pool.settleIdle() : undefined;
    // usually there is nothing to wait for, and the request leaves in this turn
    if (wait !== undefined || settled !== undefined) return this.#sendAfter(wait, settled, call, signal);
    return this.#attempt(call, signal);
  }

  async #sendAfter(
    slot: Promise<void> | undefined,
    settled: Promise<void> | undefined,
    call: HttpCall,
    signal: AbortSignal,
  ): Promise<Answer> {
    if (slot !== undefined) await slot;
    await (settled ?? this.#pool.settleIdle());
    if (this.#closed || signal.aborted) {
      this.#slots.give(call, call.isStream ?? false);
      if (signal.aborted) throw abortFailure(this.#name, signal);
      throw new GatewayError('upstream_closed', { server: this.#name });
    }
    return this.#attempt(call, signal);
  }

  /** Aborts every running request and closes every connection. */
  close(): void {
    this.#closed = true;
    const { open } = this.#context;
    const failure = new GatewayError('upstream_closed', { server: this.#name });
    for (let place = open.firstPlace; place; place = open.firstPlace) {
      open.remove(place);
      place.value.stop(failure);
    }
    this.#pool.destroy();
  }

  #attempt(call: HttpCall, signal: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      new Attempt(call, signal, this.#context, { resolve, reject }).begin();
    });
  }
}
