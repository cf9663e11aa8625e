import { type Agent, type ClientRequest, request as httpRequest, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Line } from '../../../gateway/budget/line.js';
import { Patience, type Wait } from '../../../gateway/budget/patience.js';
import { GatewayError } from '../../../gateway/errors.js';
import type { Timeouts } from '../../../gateway/policy/limits.js';
import type { Sharing } from '../../../gateway/ports/owner.js';
import type { OutgoingMessage } from '../../../gateway/ports/upstream.js';
import { UpstreamAgent } from './agent.js';
import { abortFailure, bodyFailure, headFailure } from './failure.js';
import { sendBody } from './send-body.js';
import { Slots } from './slots.js';

/**
 * A POST is sent again only if it went out on a reused connection that broke within this time without one byte of an
 * answer: then the server had closed the connection as idle before the request arrived (RFC 9112 §9.3.1 allows the
 * retry). A server that fails later may have acted on the message, so that failure is reported instead.
 */
const STALE_SOCKET_MS = 250;

/** Most bytes of an answer's head. */
const HEAD_BYTES = 64 * 1024;

export interface HttpCall {
  method: 'POST' | 'GET' | 'DELETE';
  /** Path and query. */
  path: string;
  /** Names and values alternating. Host and Content-Length are added. */
  headers: string[];
  body?: OutgoingMessage;
  /** The principal whose share of the connections it takes. */
  principal?: string | undefined;
  /** True for a stream that the server keeps open on its own account. */
  isStream?: boolean;
}

/** Most bytes of a body that is written together with its head. */
const ONE_WRITE_BYTES = 12 * 1024;

/** How an attempt ends. */
interface Settle {
  resolve: (answer: IncomingMessage) => void;
  reject: (error: unknown) => void;
}

export interface HttpClientOptions {
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
 * Requests to one origin over node:http and its kept connections. Redirects are returned like any other answer. Nothing
 * is decoded. An answer's body is node's own message: no stream lies between the socket and the reader, so backpressure
 * reaches the upstream.
 *
 * Not fetch, and not undici below 8: with a slow reader and `Connection: close` they end the whole process. undici 8 saves
 * 3 to 7 of the 80 µs of a short message, and nothing where a turn of the loop has few requests, since it waits for one more
 * turn before it uses a connection again; it fails on a `100 Continue` that was not asked for (RFC 9110 §15.2 has
 * clients skip it), takes a reset for the end of a body without a length, and costs 0.1 s more for a GB.
 */
export class HttpClient {
  readonly #name: string;
  readonly #options: HttpClientOptions;
  readonly #secure: boolean;
  readonly #host: string;
  readonly #port: number;
  readonly #slots: Slots;
  readonly #pool: UpstreamAgent;
  /** With servers that have a request. */
  readonly #patience: Patience;
  /**
   * Not a `Set`: one that many enter and leave is copied again and again, and V8 links each old copy, with the requests it
   * held, to the next. The first copy that gets old keeps all later requests, so each had to be collected as an old object.
   */
  readonly #open = new Line<ClientRequest>();
  /** Replaces an answer's `destroy`, through which node reports a broken body, so that no stream has to wrap it. */
  readonly #destroyBody: (this: IncomingMessage, error?: Error) => IncomingMessage;
  #closed = false;

  constructor(options: HttpClientOptions) {
    const { origin, name } = options;
    this.#name = name;
    this.#options = options;
    this.#secure = origin.protocol === 'https:';
    this.#host = origin.hostname.replace(/^\[|\]$/g, '');
    this.#port = Number(origin.port) || (this.#secure ? 443 : 80);
    const { connections, queue, sharing, timeouts } = options;
    this.#slots = new Slots({ server: name, limit: connections, waitMs: timeouts.queue, queue, sharing });
    this.#pool = new UpstreamAgent(this.#secure, connections);
    this.#patience = new Patience(timeouts.upstream);
    this.#destroyBody = function (error) {
      return IncomingMessage.prototype.destroy.call(this, error && bodyFailure(name, error));
    };
  }

  /**
   * Resolves with the head of the answer. Read its body to the end or destroy it; it fails with a GatewayError
   * (`upstream_closed`, or the signal's reason if that is one).
   * @throws GatewayError `connection_limit`, `upstream_unreachable`, `upstream_timeout`, `upstream_closed`,
   * `upstream_invalid`, or the signal's reason
   */
  send(call: HttpCall, signal: AbortSignal): Promise<IncomingMessage> {
    if (signal.aborted) return Promise.reject(abortFailure(this.#name, signal));
    if (this.#closed) return Promise.reject(new GatewayError('upstream_closed', { server: this.#name }));
    const wait = this.#slots.take(call, call.isStream ?? false, signal);
    const settled = wait === undefined ? this.#pool.settleIdle() : undefined;
    // usually there is nothing to wait for, and the request leaves in this turn
    if (wait !== undefined || settled !== undefined) return this.#sendAfter(wait, settled, call, signal);
    return new Promise((resolve, reject) => this.#attempt(call, signal, true, { resolve, reject }));
  }

  async #sendAfter(
    slot: Promise<void> | undefined,
    settled: Promise<void> | undefined,
    call: HttpCall,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    if (slot !== undefined) await slot;
    await (settled ?? this.#pool.settleIdle());
    if (this.#closed || signal.aborted) {
      this.#slots.give(call, call.isStream ?? false);
      if (signal.aborted) throw abortFailure(this.#name, signal);
      throw new GatewayError('upstream_closed', { server: this.#name });
    }
    return new Promise((resolve, reject) => this.#attempt(call, signal, true, { resolve, reject }));
  }

  /** Aborts every running request and closes every connection. */
  close(): void {
    this.#closed = true;
    const failure = new GatewayError('upstream_closed', { server: this.#name });
    for (let place = this.#open.firstPlace; place; place = this.#open.firstPlace) {
      this.#open.remove(place);
      const { res } = place.value as ClientRequest & { res?: IncomingMessage | null };
      (res ?? place.value).destroy(failure);
    }
    this.#pool.destroy();
  }

  /** One attempt. The slot is released when the connection is free or gone, unless a second attempt takes it over. */
  #attempt(call: HttpCall, signal: AbortSignal, mayRepeat: boolean, { resolve, reject }: Settle): void {
    let answer: IncomingMessage | undefined;
    let repeated = false;
    let request: ClientRequest;
    try {
      request = this.#start(call);
    } catch (error) {
      this.#slots.give(call, call.isStream ?? false);
      reject(error);
      return;
    }
    const sentAt = performance.now();
    const stop = (failure: GatewayError): void => {
      (answer ?? request).destroy(failure);
    };
    const abort = (): void => stop(abortFailure(this.#name, signal));
    let wait: Wait | undefined;
    const awaitAnswer = (): void => {
      if (answer === undefined) wait = this.#patience.begin(() => stop(this.#timeout('upstream')));
    };
    const noLongerAwaited = (): void => {
      if (wait !== undefined) this.#patience.end(wait);
    };
    signal.addEventListener('abort', abort);
    const place = this.#open.add(request);

    request.on('response', (response) => {
      noLongerAwaited();
      answer = response;
      response.destroy = this.#destroyBody;
      // node reports a broken body in the same turn as its head, before its reader can listen, and would drop the error
      // if there were no listener
      response.on('error', () => undefined);
      this.#pool.learnIdle(response.headers['keep-alive']);
      resolve(response);
    });
    request.on('error', (error) => {
      if (answer !== undefined) {
        // Before node tells its parser that the connection has closed: for a body without a length, that would make a
        // reset look like the end. Bytes after a complete answer only cost the connection.
        if (!answer.complete) answer.destroy(error);
      } else if (mayRepeat && !signal.aborted && this.#isStale(request, call, sentAt, error)) {
        repeated = true;
        // the other idle connections are as old
        this.#pool.dropIdle();
        this.#attempt(call, signal, false, { resolve, reject });
      } else reject(headFailure(this.#name, error));
    });
    request.on('close', () => {
      noLongerAwaited();
      signal.removeEventListener('abort', abort);
      this.#open.remove(place);
      if (repeated) return;
      this.#slots.give(call, call.isStream ?? false);
      if (answer === undefined) reject(new GatewayError('upstream_closed', { server: this.#name }));
    });
    if (call.body === undefined || Buffer.isBuffer(call.body)) {
      awaitAnswer();
      endWith(request, call.body);
      return;
    }
    // a connection that was closed as idle shows this while the source is still preparing
    request.flushHeaders();
    void sendBody(request, call.body, {
      stallMs: this.#options.timeouts.idle,
      isOver: () => request.destroyed || (answer?.statusCode ?? 0) >= 300,
      isAnswered: () => answer !== undefined,
      sent: awaitAnswer,
      stalled: () => stop(this.#timeout('idle')),
      sourceFailed: (error) => {
        mayRepeat = false;
        reject(error);
        (answer ?? request).destroy(error instanceof Error ? error : new Error('the source failed', { cause: error }));
      },
    });
  }

  #start(call: HttpCall): ClientRequest {
    const headers = ['Host', this.#options.origin.host, ...call.headers];
    if (call.body !== undefined) headers.push('Content-Length', String(call.body.length));
    const send = this.#secure ? httpsRequest : httpRequest;
    return send({
      agent: this.#pool as unknown as Agent,
      host: this.#host,
      port: this.#port,
      method: call.method,
      path: call.path,
      headers,
      maxHeaderSize: HEAD_BYTES,
    });
  }

  #isStale(request: ClientRequest, call: HttpCall, sentAt: number, error: Error): boolean {
    if (!request.reusedSocket || error instanceof GatewayError || request.socket === null) return false;
    if (headFailure(this.#name, error).code !== 'upstream_closed') return false;
    if (request.socket.bytesRead > this.#pool.bytesBefore(request.socket)) return false;
    return call.method !== 'POST' || performance.now() - sentAt < STALE_SOCKET_MS;
  }

  #timeout(limit: 'upstream' | 'idle'): GatewayError {
    return new GatewayError('upstream_timeout', {
      server: this.#name,
      limit: `timeouts.${limit}`,
      allowed: this.#options.timeouts[limit],
    });
  }
}

/**
 * Node joins a head with a text and writes both at once, while for a head and bytes it makes a list of two writes. Each
 * byte is one character of latin1, and becomes that byte again.
 */
function endWith(request: ClientRequest, body: Buffer | undefined): void {
  if (body !== undefined && body.length <= ONE_WRITE_BYTES) request.end(body.toString('latin1'), 'latin1');
  else request.end(body);
}
