import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Place } from '../../budget/collections/line.js';
import { asGatewayError, GatewayError } from '../../errors.js';
import type { FewLines } from '../../few-lines.js';
import { UNKNOWN } from '../../identity/identities.js';
import type { Timeouts } from '../../policy/limits.js';
import type { Audit } from '../../ports/audit.js';
import type { Stopwatch } from '../../ports/clock.js';
import type { Authenticate } from '../../ports/identity.js';
import type { Log } from '../../ports/log.js';
import type { Metrics } from '../../ports/metrics.js';
import type { Heartbeats } from '../../relay/client/heartbeats.js';
import { HttpReply } from '../../relay/client/http-reply.js';
import { type Exchange, noFacts } from '../../relay/exchange.js';
import { logExchange, noteFailure, noteOutcome } from '../../relay/exchange-log.js';
import type { OpenPosts } from '../../relay/open-posts.js';
import type { Server } from '../../relay/server.js';
import { readBody } from '../body.js';
import { whyClosed } from '../client-gone.js';
import type { Lately } from '../console/lately.js';
import { discardRest } from '../discard.js';
import { refuse } from '../error-response.js';
import { type Entered, enter, type GateDeps } from '../gate.js';
import { answersOfRefused } from '../id-of-refused.js';
import { letSend } from '../incoming/expectation.js';
import { forgetRawHeaders } from '../incoming/header-texts.js';
import type { DirectRoute } from '../listener.js';
import { isEndless, type OpenExchange, type OpenStreams } from '../open-streams.js';
import { isPageVisit, refusePages } from '../origin/browser-request.js';
import { countFor } from '../response.js';
import { dropBody } from '../short-body.js';
import { beside, misdirected } from './misdirected.js';

interface McpDeps extends GateDeps {
  servers: ReadonlyMap<string, Server>;
  authenticate: Authenticate;
  /** Makes a server's refusal of a caller what its client can log in by; absent where Wharf itself lets callers in. */
  shown?: ((error: GatewayError, url: string | undefined) => GatewayError) | undefined;
  timeouts: Timeouts;
  clock: Stopwatch;
  log: Log;
  fewLines: FewLines;
  metrics: Metrics;
  audit: Audit;
  open: OpenExchanges;
  isDraining: () => boolean;
  /** Keeps refusals for the console. */
  lately: Lately;
  /** Called for requests to an unknown server. */
  refused: (error: GatewayError, request: IncomingMessage) => void;
}

/** Running exchanges. The drain waits for them, except for streams, which would never end by themselves. */
interface OpenExchanges {
  count: number;
  readonly streams: OpenStreams;
  readonly heartbeats: Heartbeats;
}

/** The body before it is read: `Buffer.alloc(0)` takes 200 bytes. */
const NOTHING = Buffer.alloc(0);

const ALLOW = 'POST, GET, DELETE';

/** Matches a path of two segments, ignoring its query. */
const SERVER_PATH = /^\/([^/?]+)\/mcp(?:\?|$)/;
const ONLY_PATH = /^\/mcp(?:\?|$)/;

/**
 * `POST/GET/DELETE /{server}/mcp`, and `/mcp` when there is exactly one server. It bypasses the router: with many small
 * messages the router and its Request and Response objects took a twentieth of the time.
 */
export function mcp(deps: McpDeps): DirectRoute {
  const { servers } = deps;
  return (request, response) => {
    // the app answers it with a page of Wharf's own
    if (isPageVisit(request.method, request.headers)) return false;
    const target = request.url ?? '';
    const name = SERVER_PATH.exec(target)?.[1];
    // a reload may change them
    const isOnly = servers.size === 1 && ONLY_PATH.test(target);
    const server = isOnly ? servers.values().next().value : name !== undefined && servers.get(name);
    if (server) void new McpRequest(deps, server, request, response).begin();
    else if (name !== undefined || ONLY_PATH.test(target)) void misdirected(deps, name, request, response);
    else return beside(deps, request, response);
    return true;
  };
}

/**
 * One request, from its checks to its line in the log. A class whose functions do not wait for the answer: of a stream
 * without a word, their frames and closures were 600 bytes for hours.
 */
class McpRequest implements OpenExchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly exchange: Exchange;
  readonly #deps: McpDeps;
  readonly #server: Server;
  readonly #startedAt: number;
  readonly #place: Place<OpenExchange>;
  #entered: Entered | undefined;
  #isOver = false;

  constructor(deps: McpDeps, server: Server, incoming: IncomingMessage, outgoing: ServerResponse) {
    const gone = new AbortController();
    this.incoming = incoming;
    this.outgoing = outgoing;
    this.#deps = deps;
    this.#server = server;
    this.#startedAt = deps.clock.ticks();
    this.exchange = {
      headers: incoming.headers,
      body: NOTHING,
      reply: new HttpReply(outgoing, deps.timeouts.idle, deps.open.heartbeats),
      identity: UNKNOWN,
      principal: '',
      address: incoming.socket.remoteAddress,
      isLate: deps.isDraining(),
      signal: gone.signal,
      startedAt: this.#startedAt,
      facts: noFacts(),
    };
    // after the end there is nothing left to abort
    const abort = () => {
      if (!this.#isOver) gone.abort(whyClosed(incoming.socket));
    };
    outgoing.on('close', () => {
      // What was sent whole mostly ends within this turn: an abort takes 3 of the 110 µs of a call to a stdio server.
      if (outgoing.writableFinished) setImmediate(abort);
      else abort();
    });
    deps.open.count += 1;
    this.#place = deps.open.streams.add(this);
    this.#counted.begin();
  }

  get server(): string {
    return this.#server.name;
  }

  isAt(server: Server): boolean {
    return this.#server === server;
  }

  get #counted(): OpenPosts {
    return this.incoming.method === 'GET' ? this.#server.gets : this.#server.posts;
  }

  async begin(): Promise<void> {
    const { exchange, incoming } = this;
    try {
      refusePages(incoming.method, incoming.headers);
      const found = this.#deps.authenticate(incoming, this.server);
      // most are known at once, and a promise would cost every short message a turn
      exchange.identity = found instanceof Promise ? await found : found;
      exchange.principal = exchange.identity.principal;
      countFor(exchange.principal, this.outgoing);
      const entering = enter(this.#deps, this.#server, exchange);
      this.#entered = entering instanceof Promise ? await entering : entering;
      dispatch(this.#deps, this.#entered, this).then(
        () => this.#end(),
        (thrown) => this.#refuse(thrown),
      );
    } catch (thrown) {
      await this.#refuse(thrown);
    }
  }

  async #refuse(thrown: unknown): Promise<void> {
    const { exchange, incoming, outgoing } = this;
    const deps = this.#deps;
    try {
      const refusal = deps.shown?.(asGatewayError(thrown), incoming.url) ?? thrown;
      const error = noteFailure(deps, refusal, exchange, this.#server.name);
      if (exchange.facts.requests.length === 0) exchange.facts.requests = await answersOfRefused(incoming);
      refuse(outgoing, error, exchange.facts.requests);
      discardRest(incoming, exchange.principal);
    } finally {
      this.#end();
    }
  }

  #end(): void {
    const { exchange, incoming, outgoing, server } = this;
    const deps = this.#deps;
    this.#isOver = true;
    // where its server goes on, as over stdio, nothing has failed
    if (exchange.signal.aborted && !outgoing.writableFinished && exchange.facts.error === undefined && !isEndless(this))
      noteOutcome(asGatewayError(exchange.signal.reason), exchange);
    this.#entered?.leave();
    deps.open.count -= 1;
    deps.open.streams.delete(this.#place);
    this.#counted.end();
    const { method: verb = '' } = incoming;
    deps.lately.note(server, exchange);
    logExchange(deps, exchange, { server, verb, status: outgoing.statusCode, startedAt: this.#startedAt });
  }
}

/** What a GET or DELETE may bring and has no use for: some clients send an empty object. */
const MOST_UNUSED = 64 * 1024;

/** One promise for all of a GET: each more of a silent stream is 250 bytes, and 500 where a function waits for it. */
function dispatch(deps: McpDeps, entered: Entered, request: McpRequest): Promise<void> {
  const { exchange, incoming } = request;
  const { method } = incoming;
  const { server } = entered;
  switch (method) {
    case 'POST':
      return post(deps, entered, request);
    case 'GET':
      if (hasBody(incoming)) return dropUnused(deps, entered, request).then(() => server.get(exchange));
      forgetRawHeaders(incoming);
      return server.get(exchange);
    case 'DELETE':
      if (hasBody(incoming)) return dropUnused(deps, entered, request).then(() => server.remove(exchange));
      return server.remove(exchange);
    default:
      throw new GatewayError('method_not_allowed', { method: method ?? '', allow: ALLOW });
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Behind a body that is not read, nothing of the connection is: not even that its client has gone. */
function dropUnused(deps: McpDeps, { server }: Entered, { exchange, incoming, outgoing }: McpRequest): Promise<void> {
  letSend(incoming, outgoing);
  const reason = `the body of a ${incoming.method} is not used, and may have 64 KiB at most`;
  const { principal } = exchange;
  return dropBody(incoming, { principal, most: MOST_UNUSED, reason }, { ...deps, limits: server.limits });
}

async function post(deps: McpDeps, { server, held }: Entered, { exchange, incoming, outgoing }: McpRequest) {
  const { bytes, tooLong } = await readBody(incoming, {
    limits: server.limits,
    timeouts: deps.timeouts,
    owner: { principal: exchange.principal, server: server.name },
    held,
    refused: (id) => {
      if (id !== undefined) exchange.facts.requests = [{ id, base: [] }];
    },
    wanted: () => letSend(incoming, outgoing),
  });
  exchange.body = bytes;
  exchange.tooLong = tooLong;
  await server.post(exchange);
}
