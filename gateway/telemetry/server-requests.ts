import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { single } from '../mcp/headers.js';
import { type ClientMessages, metaOf } from '../mcp/request.js';
import type { Stopwatch } from '../ports/clock.js';
import type { Span, SpanFacts, TraceContext, Tracer } from '../ports/telemetry.js';
import type { Exchange } from '../relay/exchange.js';
import { boundedType, GOOD, type Outcome, outcomesIn } from './outcome.js';
import { contextIn } from './trace-context.js';
import { fromPeer, lateFacts, metricFacts, type Operation, spanFacts, spanName } from './words.js';

/** Most requests of one server that wait for an answer of a client with their spans; of the rest the oldest ends. */
export const MOST_OPEN = 1000;

/** Characters of an id that is kept as it is. */
const MOST_ID = 200;

/** Its stream ended, or there were too many, before an answer came. */
const UNANSWERED: Outcome = { failure: { type: 'unanswered' } };

/** A request that goes to a client. */
export interface AskedClient {
  /** JSON text. */
  id: string;
  method: string;
  params: Parameters<typeof metaOf>[0];
  /** True when Wharf itself asks, and not a server. */
  isOwn: boolean;
}

/** How both sides are reached, as spans say it. */
interface Networks {
  upstream: SpanFacts;
  client: SpanFacts;
}

interface Open {
  readonly operation: Operation;
  /** The request as it came from its server; absent for one of Wharf's own. */
  readonly behind: Span | undefined;
  /** Ends when the client answers. */
  readonly front: Span;
  readonly startedAt: number;
  readonly networks: Networks;
  /** What is known of the session, in which the client answers by another exchange. */
  readonly session: SpanFacts;
}

/**
 * Records the requests that a server, or Wharf itself, makes of a client: sampling, elicitation, roots. By the conventions
 * the side that is asked has a span of the kind `server`, and the side that asks one of the kind `client`; Wharf is both.
 */
export class ServerRequests {
  readonly #tracer: Tracer;
  readonly #clock: Stopwatch;
  readonly #server: string;
  readonly #open = new LRUCache<string, Open>({
    max: MOST_OPEN,
    dispose: (open, _, reason) => {
      if (reason !== 'delete') this.#end(open, UNANSWERED);
    },
  });

  constructor(tracer: Tracer, clock: Stopwatch, server: string) {
    this.#tracer = tracer;
    this.#clock = clock;
    this.#server = server;
  }

  /**
   * A request goes to the client.
   * @param below the span of what the server does meanwhile; a context of the server's own goes before it
   * @returns what names it until it is answered
   */
  asked(asked: AskedClient, exchange: Exchange, networks: Networks, below: Span | undefined): string {
    const { id, method, params, isOwn } = asked;
    const operation: Operation = {
      id: fromPeer(id),
      method: fromPeer(method),
      tool: undefined,
      prompt: undefined,
      request: undefined,
    };
    const facts = spanFacts(operation, this.#server);
    const name = spanName(operation);
    const parent = contextIn(metaOf(params));
    const begin = (kind: 'server' | 'client', network: SpanFacts, given?: TraceContext) =>
      this.#tracer.begin({ name, kind, facts: { ...facts, ...network }, ...(given && { parent: given }) });
    const around = this.#tracer.current ?? below;
    const behind = isOwn
      ? undefined
      : this.#tracer.within(below ?? around, () => begin('server', networks.upstream, parent));
    const front = this.#tracer.within(behind ?? around, () => begin('client', networks.client));
    const key = keyOf(exchange.principal, exchange.facts.session, id);
    this.#open.set(key, {
      operation,
      behind,
      front,
      startedAt: this.#clock.ticks(),
      networks,
      session: lateFacts(exchange.facts),
    });
    return key;
  }

  /** A client answers some of them in a POST. @returns ends what is recorded of them at the server's side */
  answered(exchange: Exchange, { responses, bytes }: ClientMessages): () => void {
    const session = single(exchange.headers['mcp-session-id']);
    const outcomes = outcomesIn(bytes);
    const ends = responses.flatMap(({ id }) => {
      const key = keyOf(exchange.principal, session, id);
      const open = this.#open.get(key);
      if (!open) return [];
      this.#open.delete(key);
      const outcome = outcomes.get(id) ?? GOOD;
      this.#endFront(open, outcome);
      return [() => this.#endBehind(open, outcome)];
    });
    return () => {
      for (const end of ends) end();
    };
  }

  /** Nothing more can answer these. */
  over(keys: Iterable<string>): void {
    for (const key of keys) {
      const open = this.#open.get(key);
      if (!open) continue;
      this.#open.delete(key);
      this.#end(open, UNANSWERED);
    }
  }

  #end(open: Open, outcome: Outcome): void {
    this.#endFront(open, outcome);
    this.#endBehind(open, outcome);
  }

  #endFront({ front, startedAt, operation, networks, session }: Open, outcome: Outcome): void {
    front.end({ ...session, 'rpc.response.status_code': outcome.status }, outcome.failure);
    this.#observe('mcp.client.operation.duration', startedAt, { operation, outcome, network: networks.client });
  }

  #endBehind({ behind, startedAt, operation, networks, session }: Open, outcome: Outcome): void {
    if (!behind) return;
    behind.end({ ...session, 'rpc.response.status_code': outcome.status }, outcome.failure);
    this.#observe('mcp.server.operation.duration', startedAt, { operation, outcome, network: networks.upstream });
  }

  #observe(
    name: 'mcp.server.operation.duration' | 'mcp.client.operation.duration',
    startedAt: number,
    {
      operation,
      outcome: { failure, status },
      network,
    }: { operation: Operation; outcome: Outcome; network: SpanFacts },
  ): void {
    this.#tracer.observe(name, (this.#clock.ticks() - startedAt) / 1000, {
      ...metricFacts(operation, this.#server, undefined),
      'network.transport': network['network.transport'],
      'network.protocol.name': network['network.protocol.name'],
      'error.type': failure && boundedType(failure.type),
      'rpc.response.status_code': status === undefined ? undefined : boundedType(status),
    });
  }
}

/** Servers count their requests anew in each session. */
function keyOf(principal: string, session: string | undefined, id: string): string {
  // a server chooses the id, which may be as long as a message
  const short = id.length <= MOST_ID ? id : createHash('sha256').update(id).digest('hex');
  return JSON.stringify([principal, session, short]);
}
