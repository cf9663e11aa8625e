import { AsyncResource } from 'node:async_hooks';
import { Line } from '../../../gateway/budget/collections/line.js';
import type { Answer } from '../../http/answer.js';
import type { Connection, Exchange } from '../../http/connection.js';
import { type Origin, Pool } from '../../http/pool.js';
import { requestHead, writeRequest } from '../../http/request.js';

/** A request that reaches a connection the store has just closed is made again by the SDK, so connections may get old. */
const IDLE_MS = 60_000;

export interface ConnectionLimits {
  /** Most connections at one time. */
  maxSockets: number;
  /** How long making a connection may take, in milliseconds. */
  connectMs: number;
}

interface RequestsOptions extends ConnectionLimits {
  /** Where the store is. */
  origin: Origin;
  /** Host and port, for the header `Host`. */
  host: string;
}

export interface PlainRequest {
  method: string;
  /** Path and query. */
  path: string;
  headers: Readonly<Record<string, string>>;
  body?: Buffer | undefined;
}

/** Headers of a signed request that `requestHead` adds. */
const ADDED: ReadonlySet<string> = new Set(['host', 'content-length']);

/** Plain requests to one address, over connections that stay open. */
export class Requests {
  readonly #host: string;
  readonly #pool: Pool;
  /** Connections that a request may still take. */
  #free: number;
  readonly #waiting = new Line<() => void>();
  #isClosed = false;

  constructor({ origin, host, maxSockets, connectMs }: RequestsOptions) {
    this.#host = host;
    this.#free = maxSockets;
    this.#pool = new Pool(origin, { connections: maxSockets, connectMs, idleMs: IDLE_MS });
  }

  /**
   * Sends a request; resolves with the head of its answer, whose body must be read to the end, or destroyed.
   * @param signal ends the request, and later its body
   * @throws the signal's reason, or the error of the connection
   */
  async send(request: PlainRequest, signal: AbortSignal): Promise<Answer> {
    if (this.#free === 0) await this.#turn(signal);
    else this.#free -= 1;
    try {
      const settled = this.#pool.settleIdle();
      if (settled) await settled;
      signal.throwIfAborted();
      if (this.#isClosed) throw new Error('The store is closed.');
    } catch (error) {
      this.#giveBack();
      throw error;
    }
    return new Promise((resolve, reject) => {
      const headers = Object.entries(request.headers).filter(([name]) => !ADDED.has(name.toLowerCase()));
      const over = () => this.#giveBack();
      const answered = (answer: Answer) => {
        this.#pool.learnIdle(answer.headers['keep-alive']);
        resolve(answer);
      };
      try {
        const head = requestHead({ ...request, headers: headers.flat() }, this.#host);
        new Sending(this.#pool.take(), signal, { hasNoBody: request.method === 'HEAD', answered, reject, over }).begin(
          head,
          request.body,
        );
      } catch (error) {
        over();
        reject(error);
      }
    });
  }

  /** Ends every request and closes every connection. */
  close(): void {
    this.#isClosed = true;
    this.#pool.destroy();
  }

  /** Waits for another request's connection, in order of arrival. */
  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const place = this.#waiting.add(() => {
        this.#waiting.remove(place);
        signal.removeEventListener('abort', aborted);
        resolve();
      });
      const aborted = () => {
        if (this.#waiting.remove(place)) reject(signal.reason);
      };
      signal.addEventListener('abort', aborted, { once: true });
      if (signal.aborted) aborted();
    });
  }

  #giveBack(): void {
    const next = this.#waiting.first;
    if (next) next();
    else this.#free += 1;
  }
}

interface SendingOptions {
  hasNoBody: boolean;
  answered: (answer: Answer) => void;
  reject: (error: unknown) => void;
  /** Called once, when the connection is free or gone. */
  over: () => void;
}

/** One request on its way. */
class Sending implements Exchange {
  readonly hasNoBody: boolean;
  /** A connection that still sends the body is not used again: its socket says so by itself. */
  readonly isSent = true;
  readonly #connection: Connection;
  readonly #signal: AbortSignal;
  readonly #options: SendingOptions;
  readonly #began = new AsyncResource('STORE_REQUEST');
  readonly #abort = () => this.#stop();
  #answer: Answer | undefined;

  constructor(connection: Connection, signal: AbortSignal, options: SendingOptions) {
    this.#connection = connection;
    this.#signal = signal;
    this.#options = options;
    this.hasNoBody = options.hasNoBody;
  }

  begin(head: string, body: Buffer | undefined): void {
    this.#connection.begin(this);
    this.#signal.addEventListener('abort', this.#abort, { once: true });
    writeRequest(this.#connection.socket, head, body);
  }

  inContext(run: () => void): void {
    this.#began.runInAsyncScope(run);
  }

  answered(answer: Answer): void {
    this.#answer = answer;
    this.#options.answered(answer);
  }

  failed(error: Error): Error {
    this.#options.reject(error);
    return error;
  }

  over(): void {
    this.#signal.removeEventListener('abort', this.#abort);
    this.#options.over();
  }

  #stop(): void {
    const { reason } = this.#signal;
    if (this.#answer) this.#answer.destroy(reason instanceof Error ? reason : new Error('given up'));
    else {
      this.#options.reject(reason);
      this.#connection.socket.destroy();
    }
  }
}
