import { asGatewayError, GatewayError } from '../errors.js';
import { type HeldBudget, HeldRequest } from '../files/budget.js';
import { logExchange } from '../http/access-log.js';
import type { Timeouts } from '../policy/limits.js';
import type { Log } from '../ports/log.js';
import type { Metrics } from '../ports/metrics.js';
import type { Exchange } from '../relay/exchange.js';
import type { Server } from '../relay/server.js';
import { LineResponse } from './line-response.js';
import type { LineOutput } from './output.js';

const CLIENT_GONE = new GatewayError('internal', {}, 'the client wants no answer any more');

export interface CallDeps {
  server: Server;
  output: LineOutput;
  /** Who the files belong to. */
  principal: string;
  /** Counts the messages under way. */
  held: HeldBudget;
  timeouts: Timeouts;
  log: Log;
  metrics: Metrics;
}

/** How an exchange ended: what it failed with, if it did, and the response it wrote to. */
export interface CallEnd {
  response: LineResponse;
  error: GatewayError | undefined;
}

/** A request was answered; `version` comes with the result of an `initialize`. */
export type Answered = (id: string, version: string | undefined) => void;

type Verb = 'POST' | 'GET' | 'DELETE';

export interface CallRequest {
  headers: Record<string, string>;
  body?: Buffer;
  answered?: Answered;
}

/** The exchanges under way. To the relay they are HTTP requests like any other, but for their response. */
export class Calls {
  readonly #deps: CallDeps;
  readonly #open = new Set<LineResponse>();

  constructor(deps: CallDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Begins an exchange. `response.destroy()` ends it as a client does that goes away. */
  begin(verb: Verb, request: CallRequest): { response: LineResponse; end: Promise<CallEnd> } {
    const { output } = this.#deps;
    const response = new LineResponse({ output, answered: request.answered ?? (() => undefined) });
    this.#open.add(response);
    const end = this.#run(verb, request, response).finally(() => this.#open.delete(response));
    return { response, end };
  }

  stop(): void {
    for (const response of this.#open) response.destroy();
  }

  async #run(verb: Verb, { headers, body }: CallRequest, response: LineResponse): Promise<CallEnd> {
    const { server, principal, log, metrics } = this.#deps;
    const held = new HeldRequest(this.#deps.held, server.limits);
    const startedAt = performance.now();
    const gone = new AbortController();
    response.once('close', () => gone.abort(CLIENT_GONE));
    const exchange: Exchange = {
      headers,
      body: body ?? Buffer.alloc(0),
      response,
      principal,
      headersFromBody: true,
      signal: gone.signal,
      facts: {
        requests: [],
        method: undefined,
        name: undefined,
        version: undefined,
        files: 0,
        fileBytes: 0,
        bytesOut: 0,
        error: undefined,
      },
    };
    let error: GatewayError | undefined;
    try {
      held.grow(exchange.body.length);
      if (verb === 'POST') await server.post(exchange);
      else if (verb === 'GET') await server.get(exchange);
      else await server.remove(exchange);
      response.end();
    } catch (thrown) {
      error = asGatewayError(thrown);
      exchange.facts.error = error.code;
      if (!gone.signal.aborted) {
        if (error.cause) log.warn({ code: error.code, err: error.cause }, 'an exchange failed');
        metrics.count('wharf_errors_total', { code: error.code });
      }
      response.destroy();
    }
    held.release();
    await response.closed;
    logExchange({ log, metrics }, server.name, verb, response.status, exchange, startedAt);
    return { response, error };
  }
}
