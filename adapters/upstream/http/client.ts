import { type ClientRequest, request as httpRequest, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { GatewayError } from '../../../gateway/errors.js';
import type { Timeouts } from '../../../gateway/policy/limits.js';
import type { Sharing } from '../../../gateway/ports/owner.js';
import type { OutgoingMessage } from '../../../gateway/ports/upstream.js';
import { createAgent, type UpstreamAgent } from './agent.js';
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
 * Requests to one origin over node:http and a keep-alive Agent. Redirects are returned like any other answer. Nothing
 * is decoded. An answer's body is node's own message: no stream lies between the socket and the reader, so backpressure
 * reaches the upstream.
 *
 * Not fetch, and not undici below 8: with a slow reader and `Connection: close` they end the whole process.
 */
export class HttpClient {
  readonly #name: string;
  readonly #options: HttpClientOptions;
  readonly #secure: boolean;
  readonly #host: string;
  readonly #port: number;
  readonly #slots: Slots;
  readonly #pool: UpstreamAgent;
  readonly #open = new Set<ClientRequest>();
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
    this.#pool = createAgent(this.#secure, options.connections);
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
  async send(call: HttpCall, signal: AbortSignal): Promise<IncomingMessage> {
    if (signal.aborted) throw abortFailure(this.#name, signal);
    if (this.#closed) throw new GatewayError('upstream_closed', { server: this.#name });
    const wait = this.#slots.take(call, call.isStream ?? false, signal);
    if (wait !== undefined) await wait;
    const settled = this.#pool.settleIdle();
    if (settled !== undefined) await settled;
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
    for (const request of this.#open) {
      const { res } = request as ClientRequest & { res?: IncomingMessage | null };
      (res ?? request).destroy(failure);
    }
    this.#pool.agent.destroy();
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
    let timer: NodeJS.Timeout | undefined;
    const awaitAnswer = (): void => {
      if (answer === undefined)
        timer = setTimeout(() => stop(this.#timeout('upstream')), this.#options.timeouts.upstream);
    };
    signal.addEventListener('abort', abort);
    this.#open.add(request);

    request.on('response', (response) => {
      clearTimeout(timer);
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
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      this.#open.delete(request);
      if (repeated) return;
      this.#slots.give(call, call.isStream ?? false);
      if (answer === undefined) reject(new GatewayError('upstream_closed', { server: this.#name }));
    });
    if (call.body === undefined || Buffer.isBuffer(call.body)) {
      awaitAnswer();
      request.end(call.body);
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
      agent: this.#pool.agent,
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
