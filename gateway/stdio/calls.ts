import { type HeldBudget, HeldRequest } from '../budget/held.js';
import { GatewayError } from '../errors.js';
import type { FewLines } from '../few-lines.js';
import type { TooLongArgument } from '../mcp/shortened-body.js';
import type { Timeouts } from '../policy/limits.js';
import type { Audit } from '../ports/audit.js';
import type { Stopwatch } from '../ports/clock.js';
import type { Identity } from '../ports/identity.js';
import type { Log } from '../ports/log.js';
import type { Metrics } from '../ports/metrics.js';
import { type Exchange, noFacts } from '../relay/exchange.js';
import { logExchange, noteFailure } from '../relay/exchange-log.js';
import type { Server } from '../relay/server.js';
import { LineReply } from './line-reply.js';
import type { LineOutput } from './output.js';

const CLIENT_GONE = new GatewayError('internal', {}, 'the client no longer wants an answer');

export interface LineDeps {
  server: Server;
  output: LineOutput;
  /** The one caller: the program at the other end. */
  identity: Identity;
  /** What every link of Wharf's begins with. */
  publicBase: () => string;
  /** Counts the bytes of running messages. */
  held: HeldBudget;
  timeouts: Timeouts;
  clock: Stopwatch;
  log: Log;
  fewLines: FewLines;
  metrics: Metrics;
  audit: Audit;
}

/** The end of an exchange: its failure, if any, and its reply. */
export interface CallEnd {
  reply: LineReply;
  error: GatewayError | undefined;
}

/** A request was answered. */
type Answered = (id: string) => void;

type Verb = 'POST' | 'GET' | 'DELETE';

export interface CallRequest {
  headers: Record<string, string>;
  body?: Buffer;
  /** As in `Exchange`. */
  tooLong?: TooLongArgument | undefined;
  answered?: Answered;
  /** The only answer to these requests cannot be read. */
  unreadable?: (ids: readonly string[]) => Promise<void>;
}

/** The running exchanges. For the relay they are ordinary exchanges with another kind of reply. */
export class Calls {
  readonly #deps: LineDeps;
  readonly #open = new Set<LineReply>();

  constructor(deps: LineDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Begins an exchange. `reply.abort()` ends it, as when a client disconnects. */
  begin(verb: Verb, request: CallRequest): { reply: LineReply; end: Promise<CallEnd> } {
    const { server, output, metrics, log, fewLines } = this.#deps;
    const dropped = () => {
      metrics.count('wharf_dropped_messages_total', { server: server.name, reason: 'no_message' });
      const leftOut = fewLines.take(`no message ${server.name}`);
      if (leftOut) log.debug({ ...leftOut }, 'the server sent something that is not a message');
    };
    const { answered = () => undefined, unreadable } = request;
    const reply = new LineReply({ output, answered, dropped, unreadable });
    this.#open.add(reply);
    const end = this.#run(verb, request, reply).finally(() => this.#open.delete(reply));
    return { reply, end };
  }

  stop(): void {
    for (const reply of this.#open) reply.abort();
  }

  async #run(verb: Verb, { headers, body, tooLong }: CallRequest, reply: LineReply): Promise<CallEnd> {
    const { server, identity } = this.#deps;
    const { principal } = identity;
    const held = new HeldRequest(this.#deps.held, server.limits, { principal, server: server.name });
    const startedAt = this.#deps.clock.ticks();
    const gone = new AbortController();
    reply.onClose(() => gone.abort(CLIENT_GONE));
    const exchange: Exchange = {
      headers,
      body: body ?? Buffer.alloc(0),
      tooLong,
      reply,
      identity,
      principal,
      headersFromBody: true,
      hasOnlyHttp: !this.#deps.publicBase().startsWith('https:'),
      signal: gone.signal,
      facts: noFacts(),
    };
    let error: GatewayError | undefined;
    try {
      held.grow(exchange.body.length);
      if (verb === 'POST') await server.post(exchange);
      else if (verb === 'GET') await server.get(exchange);
      else await server.remove(exchange);
      reply.end();
    } catch (thrown) {
      error = noteFailure(this.#deps, thrown, exchange, server.name);
      reply.abort();
    }
    held.release();
    await reply.closed;
    logExchange(this.#deps, exchange, { server: server.name, verb, status: reply.status, startedAt });
    return { reply, error };
  }
}
