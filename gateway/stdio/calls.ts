import { type HeldBudget, HeldRequest } from '../budget/held.js';
import { GatewayError } from '../errors.js';
import type { TooLongArgument } from '../mcp/shortened-body.js';
import type { Timeouts } from '../policy/limits.js';
import type { Log } from '../ports/log.js';
import type { Metrics } from '../ports/metrics.js';
import { type Exchange, noFacts } from '../relay/exchange.js';
import { logExchange, noteFailure } from '../relay/exchange-log.js';
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
  /** As in `Exchange`. */
  tooLong?: TooLongArgument | undefined;
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

  async #run(verb: Verb, { headers, body, tooLong }: CallRequest, response: LineResponse): Promise<CallEnd> {
    const { server, principal } = this.#deps;
    const held = new HeldRequest(this.#deps.held, server.limits, { principal, server: server.name });
    const startedAt = performance.now();
    const gone = new AbortController();
    response.once('close', () => gone.abort(CLIENT_GONE));
    const exchange: Exchange = {
      headers,
      body: body ?? Buffer.alloc(0),
      tooLong,
      response,
      principal,
      headersFromBody: true,
      signal: gone.signal,
      facts: noFacts(),
    };
    let error: GatewayError | undefined;
    try {
      held.grow(exchange.body.length);
      if (verb === 'POST') await server.post(exchange);
      else if (verb === 'GET') await server.get(exchange);
      else await server.remove(exchange);
      response.end();
    } catch (thrown) {
      error = noteFailure(this.#deps, thrown, exchange);
      response.destroy();
    }
    held.release();
    await response.closed;
    logExchange(this.#deps, server.name, verb, response.status, exchange, startedAt);
    return { response, error };
  }
}
