import { asGatewayError } from '../errors.js';
import { type ClientMessages, metaOf } from '../mcp/request.js';
import type { Stopwatch } from '../ports/clock.js';
import type { Span, SpanFacts, TraceContext, Tracer } from '../ports/telemetry.js';
import type { Asked } from '../relay/caller.js';
import type { Exchange, ExchangeFacts } from '../relay/exchange.js';
import type { PendingRequest } from '../relay/pending-request.js';
import type { ExchangeWatch } from '../relay/watch.js';
import { KnownTools } from './known-tools.js';
import { boundedType, failed, GOOD, type Outcome } from './outcome.js';
import { type AskedClient, MOST_OPEN, ServerRequests } from './server-requests.js';
import { contextIn, contextOf } from './trace-context.js';
import { WatchedReply } from './watched-reply.js';
import { lateFacts, metricFacts, type Operation, operationsOf, spanFacts, spanName } from './words.js';

/** One configured server, as telemetry names it. */
interface WatchedServer {
  name: string;
  /** Its address; undefined for a process. */
  url: string | undefined;
}

const HTTP = { 'network.transport': 'tcp', 'network.protocol.name': 'http' } as const;
const PIPE = { 'network.transport': 'pipe' } as const;

/** Its failure is a consequence of that, and says nothing of the server. */
const CLIENT_GONE: Outcome = { failure: { type: 'client_gone' } };

type Outcomes = ReadonlyMap<string, Outcome>;

interface Recording {
  operation: Operation;
  span: Span;
}

/**
 * Records each message of a client as a span at Wharf's front, and what is sent to the server for it as another below it,
 * by the conventions for MCP.
 */
export class TracedExchanges implements ExchangeWatch {
  readonly #tracer: Tracer;
  readonly #clock: Stopwatch;
  readonly #server: string;
  readonly #upstream: SpanFacts;
  readonly #tools = new KnownTools();
  readonly #requests: ServerRequests;
  /** What an exchange waits for at the server. */
  readonly #sent = new WeakMap<ExchangeFacts, Span>();
  /** Which requests of an exchange have failed; all that an exchange becomes on its way has the same facts. */
  readonly #outcomes = new WeakMap<ExchangeFacts, Outcomes>();

  constructor(tracer: Tracer, clock: Stopwatch, { name, url }: WatchedServer) {
    this.#tracer = tracer;
    this.#clock = clock;
    this.#server = name;
    this.#requests = new ServerRequests(tracer, clock, name);
    this.#upstream = url === undefined ? PIPE : { ...HTTP, ...addressOf(new URL(url)) };
  }

  async asked(exchange: Exchange, messages: ClientMessages, work: () => Promise<void>): Promise<void> {
    const ended = messages.responses.length > 0 ? this.#requests.answered(exchange, messages) : undefined;
    try {
      await this.#recorded(exchange, messages, work);
    } finally {
      ended?.();
    }
  }

  async listens(exchange: Exchange, work: () => Promise<void>): Promise<void> {
    const asked = this.#watchedReply(exchange).asked;
    try {
      await work();
    } finally {
      this.#requests.over(asked);
    }
  }

  /** Sees what goes to the client of an exchange. @returns also what names the requests that its client is asked */
  #watchedReply(exchange: Exchange): { reply: WatchedReply; asked: ReadonlySet<string> } {
    const asked = new Set<string>();
    const network = exchange.headersFromBody === true ? PIPE : HTTP;
    const networks = {
      upstream: networkOf(this.#upstream),
      client: { ...network, 'client.address': exchange.address },
    };
    const reply = new WatchedReply(exchange.reply, (request: AskedClient) => {
      asked.add(this.#requests.asked(request, exchange, networks, this.#sent.get(exchange.facts)));
      // as many are open at one time, and the oldest has ended
      if (asked.size > MOST_OPEN) asked.delete(asked.values().next().value as string);
    });
    exchange.reply = reply;
    return { reply, asked };
  }

  async #recorded(exchange: Exchange, messages: ClientMessages, work: () => Promise<void>): Promise<void> {
    const operations = operationsOf(messages);
    if (operations.length === 0) return work();
    const now = this.#clock.ticks();
    const startedAt = exchange.startedAt ?? now;
    const isPipe = exchange.headersFromBody === true;
    const network = isPipe ? PIPE : HTTP;
    const place = { ...network, 'client.address': exchange.address };
    const since = now - startedAt;
    const recordings = operations.map((operation): Recording => {
      const facts = { ...spanFacts(operation, this.#server), ...place };
      const contexts = contextsOf(operation.request, exchange);
      const span = this.#tracer.begin({ name: spanName(operation), kind: 'server', since, facts, ...contexts });
      return { operation, span };
    });
    const { reply: watched, asked } = this.#watchedReply(exchange);
    this.#outcomes.set(exchange.facts, watched.outcomes);
    let thrown: Outcome | undefined;
    try {
      await this.#tracer.within(recordings[0]?.span, work);
    } catch (error) {
      thrown = outcomeOf(error, exchange);
      throw error;
    } finally {
      this.#requests.over(asked);
      const seconds = (this.#clock.ticks() - startedAt) / 1000;
      for (const { operation, span } of recordings) {
        const outcome = thrown ?? outcomeFor(operation, watched.outcomes, exchange);
        const { status, code = exchange.facts.error } = outcome;
        span.end(
          { ...lateFacts(exchange.facts), 'rpc.response.status_code': status, 'wharf.error.code': code },
          outcome.failure,
        );
        this.#observe('mcp.server.operation.duration', seconds, { operation, outcome, network });
      }
    }
  }

  async forwarded({ exchange, messages }: Asked, work: () => Promise<void>): Promise<void> {
    const operations = operationsOf(messages);
    if (operations.length === 0) return work();
    const startedAt = this.#clock.ticks();
    const recordings = operations.map((operation): Recording => {
      const facts = { ...spanFacts(operation, this.#server), ...this.#upstream };
      return { operation, span: this.#tracer.begin({ name: spanName(operation), kind: 'client', facts }) };
    });
    const [first] = recordings;
    if (first) this.#sent.set(exchange.facts, first.span);
    let thrown: Outcome | undefined;
    try {
      await this.#tracer.within(first?.span, work);
    } catch (error) {
      thrown = outcomeOf(error, exchange);
      throw error;
    } finally {
      const seconds = (this.#clock.ticks() - startedAt) / 1000;
      for (const { operation, span } of recordings) {
        const outcome = thrown ?? outcomeFor(operation, this.#outcomes.get(exchange.facts), exchange);
        const { 'mcp.protocol.version': version } = lateFacts(exchange.facts);
        span.end({ 'mcp.protocol.version': version, 'rpc.response.status_code': outcome.status }, outcome.failure);
        this.#observe('mcp.client.operation.duration', seconds, { operation, outcome, network: this.#upstream });
      }
    }
  }

  heard<Value>(exchange: Exchange | undefined, work: () => Value): Value {
    return this.#tracer.within(exchange && this.#sent.get(exchange.facts), work);
  }

  handedOn({ params }: PendingRequest): TraceContext | undefined {
    const { current, handsOnAlways } = this.#tracer;
    return handsOnAlways || metaOf(params).traceparent !== undefined ? current?.context : undefined;
  }

  #observe(
    name: 'mcp.server.operation.duration' | 'mcp.client.operation.duration',
    seconds: number,
    { operation, outcome, network }: { operation: Operation; outcome: Outcome; network: SpanFacts },
  ): void {
    const { failure, status } = outcome;
    if (operation.tool !== undefined && !failure) this.#tools.add(operation.tool);
    const type = failure && boundedType(failure.type);
    this.#tracer.observe(name, seconds, {
      ...metricFacts(operation, this.#server, this.#tools.labelOf(operation.tool, type)),
      ...network,
      'error.type': type,
      'rpc.response.status_code': status === undefined ? undefined : boundedType(status),
    });
  }
}

/** The span of a client is its parent; without one in the message, that of its HTTP request. */
function contextsOf(
  request: PendingRequest | undefined,
  { headers }: Exchange,
): { parent?: TraceContext | undefined; link?: TraceContext | undefined } {
  const own = request && contextIn(metaOf(request.params));
  const around = contextOf(headers);
  return own ? { parent: own, link: around } : { parent: around };
}

/** Its client has gone, or Wharf has ended it. */
function brokenOff({ reason }: AbortSignal): Outcome {
  const { code } = asGatewayError(reason);
  return code === 'internal' ? CLIENT_GONE : { failure: { type: code } };
}

function outcomeFor({ id }: Operation, outcomes: Outcomes | undefined, { facts, signal }: Exchange): Outcome {
  const found = id === undefined ? undefined : outcomes?.get(id);
  if (found) return found;
  if (signal.aborted) return brokenOff(signal);
  return facts.error === undefined ? GOOD : { failure: { type: facts.error } };
}

function outcomeOf(error: unknown, { signal }: Exchange): Outcome {
  if (signal.aborted) return brokenOff(signal);
  const failure = asGatewayError(error);
  return { ...failed(failure.toJsonRpc().code, failure.message), code: failure.code };
}

/** The way to a server without its address: it is the server that has begun. */
function networkOf({ 'network.transport': transport, 'network.protocol.name': name }: SpanFacts): SpanFacts {
  return { 'network.transport': transport, 'network.protocol.name': name };
}

function addressOf({ hostname, port, protocol }: URL): SpanFacts {
  const usual = protocol === 'https:' ? 443 : 80;
  return { 'server.address': hostname, 'server.port': port === '' ? usual : Number(port) };
}
