import { Readable } from 'node:stream';
import { GatewayError } from '../errors.js';
import type { JsonObject } from '../ports/dialect.js';
import type { ExchangeUpstream, UpstreamAnswer } from '../ports/upstream.js';
import type { HeldMessage } from '../wire/json/reader.js';
import { AnswerRelay, type OpenSession } from './answer.js';
import { askOverHttp, type OwnHttpRequest, openOverHttp } from './ask.js';
import { clientFacts, nameOf } from './client-facts.js';
import type { Exchange, RelayDeps } from './exchange.js';
import { toClientHeaders, toUpstreamHeaders } from './mcp-headers.js';
import { Outlet } from './outlet.js';
import { paramHeadersFor } from './param-headers.js';
import { pump } from './pump.js';
import { type ClientMessages, DEFAULT_VERSION, isObject, type PendingRequest } from './request.js';
import { spokenBy } from './server-dialects.js';
import type { Session } from './session.js';
import { type Addressee, mayAnswerWithFiles, mayTellOfChange, needsLook } from './to-client.js';
import { declaredBy, toUpstream } from './to-upstream.js';
import { viewOf } from './view.js';

/** One server behind Streamable HTTP: every exchange has a channel of its own. */
export class HttpServer {
  readonly #deps: RelayDeps;
  readonly #upstream: ExchangeUpstream;

  constructor(deps: RelayDeps, upstream: ExchangeUpstream) {
    this.#deps = deps;
    this.#upstream = upstream;
  }

  /**
   * Sends the messages of a POST and brings back what answers them.
   * @param probe looks at the answer to an `initialize` first; true when it took the exchange over
   */
  async post(
    exchange: Exchange,
    messages: ClientMessages,
    session: Session | undefined,
    probe?: (answer: UpstreamAnswer) => Promise<boolean>,
  ): Promise<void> {
    const outgoing = await toUpstream(messages.bytes, messages, {
      deps: this.#deps,
      principal: exchange.principal,
      client: clientFacts(exchange, messages, session, this.#deps.profiles),
      inquire: askOverHttp(this.#upstream, this.#deps, exchange, messages, session),
      signal: exchange.signal,
      hasParamHeaders: messages.statelessVersion !== undefined,
    });
    try {
      const headers = toUpstreamHeaders(exchange.headers, messages, session?.upstreamSession);
      if (exchange.headersFromBody) Object.assign(headers, await this.#paramHeaders(exchange, messages));
      Object.assign(headers, outgoing.headers);
      const answer = await this.#upstream.open({ method: 'POST', headers, body: outgoing.message }, exchange.signal);
      if (probe && (await probe(answer))) return;
      const { initialize } = messages;
      const opens = initialize && answer.status === 200 ? this.#opener(exchange, initialize, answer) : undefined;
      await this.#relay(exchange, answer, messages, session, opens);
    } finally {
      await outgoing.done();
    }
  }

  /** `Mcp-Param-*` for a client that cannot send them: 2026-07-28 servers refuse a call without those they declared. */
  async #paramHeaders(exchange: Exchange, messages: ClientMessages): Promise<Record<string, string>> {
    const [request] = messages.requests;
    const { statelessVersion } = messages;
    if (statelessVersion === undefined || request?.method !== 'tools/call' || request.subject === undefined) return {};
    const { catalog } = this.#deps;
    const inquire = askOverHttp(this.#upstream, this.#deps, exchange, messages, undefined);
    const tool = await catalog.tool(viewOf(statelessVersion, exchange.principal), request.subject, inquire);
    const { arguments: args } = request.params;
    return tool ? paramHeadersFor(tool.paramHeaders, isObject(args) ? args : {}) : {};
  }

  /** Requests of Wharf's own on the session of an exchange. */
  own(exchange: Exchange, messages: ClientMessages, session: Session | undefined) {
    return {
      open: (request: OwnHttpRequest) =>
        openOverHttp(this.#upstream, exchange, messages, session, { ...request, declares: declaredBy(this.#deps) }),
      inquire: askOverHttp(this.#upstream, this.#deps, exchange, messages, session),
    };
  }

  /** The client's GET stream. */
  async get(exchange: Exchange, session: Session | undefined): Promise<void> {
    const headers = toUpstreamHeaders(exchange.headers, undefined, session?.upstreamSession);
    const answer = await this.#upstream.open({ method: 'GET', headers }, exchange.signal);
    await this.#relay(exchange, answer, undefined, session, undefined);
  }

  /** Ends the session upstream and, unless the upstream refuses, here. */
  async remove(exchange: Exchange, session: Session): Promise<void> {
    if (session.upstreamSession === undefined) {
      await this.#deps.sessions.end(session.id);
      exchange.response.writeHead(204);
      exchange.response.end();
      return;
    }
    const headers = toUpstreamHeaders(exchange.headers, undefined, session.upstreamSession);
    const answer = await this.#upstream.open({ method: 'DELETE', headers }, exchange.signal);
    if (answer.status < 300 || answer.status === 404) await this.#deps.sessions.end(session.id);
    await this.#relay(exchange, answer, undefined, session, undefined);
  }

  async #relay(
    exchange: Exchange,
    answer: UpstreamAnswer,
    messages: ClientMessages | undefined,
    session: Session | undefined,
    openSession: OpenSession | undefined,
  ): Promise<void> {
    // the upstream has forgotten its session: so do we, and the client initializes again
    if (answer.status === 404 && session?.upstreamSession !== undefined) await this.#deps.sessions.end(session.id);
    const requests = messages?.requests ?? [];
    if (answer.kind === 'none') {
      answer.body.resume();
      exchange.response.writeHead(answer.status, toClientHeaders(answer.headers));
      exchange.response.end();
      return;
    }
    if (answer.kind === 'bytes') return this.#passBytes(exchange, answer);
    const { kind } = answer;
    const relay = (whole: UpstreamAnswer) => {
      const to = this.#addressee(exchange, messages, session);
      const context = { deps: this.#deps, exchange, to, requests };
      return new AnswerRelay(whole, kind, openSession ? { ...context, openSession } : context).run();
    };
    if (isSmall(answer, this.#deps) && !openSession && !requests.some(needsLook)) {
      return this.#passSmall(exchange, answer, requests, relay);
    }
    await relay(answer);
  }

  /** A body that is announced to be shorter than any file: nothing in it can be cut, so it goes in one piece. */
  async #passSmall(
    exchange: Exchange,
    answer: UpstreamAnswer,
    requests: readonly PendingRequest[],
    relay: (answer: UpstreamAnswer) => Promise<void>,
  ): Promise<void> {
    const chunks: Buffer[] = [];
    await this.#read(exchange, answer, (chunk) => {
      chunks.push(chunk);
      return undefined;
    });
    const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
    const methods = requests.map(({ method }) => method);
    const mayHaveFiles = mayAnswerWithFiles(
      methods,
      (start, end) => body.subarray(start, end),
      body.length,
      this.#deps,
    );
    if (mayHaveFiles || mayTellOfChange(body)) {
      return relay({ ...answer, body: Readable.from([body]) });
    }
    if (requests.length > 0) exchange.facts.bytesOut = body.length;
    exchange.response.writeHead(answer.status, {
      ...toClientHeaders(answer.headers),
      'content-length': String(body.length),
    });
    exchange.response.end(body);
  }

  /** Anything that is no MCP message, such as an error page. */
  async #passBytes(exchange: Exchange, answer: UpstreamAnswer): Promise<void> {
    exchange.response.writeHead(answer.status, toClientHeaders(answer.headers));
    const outlet = new Outlet(exchange.response, 'json', this.#deps.timeouts.idle);
    try {
      await this.#read(exchange, answer, (chunk) => outlet.send([chunk], undefined));
      outlet.end();
    } catch (error) {
      outlet.abort();
      throw error;
    } finally {
      exchange.facts.bytesOut = outlet.bytes;
    }
  }

  #read(exchange: Exchange, answer: UpstreamAnswer, take: (chunk: Buffer) => Promise<void> | undefined): Promise<void> {
    const { server, timeouts } = this.#deps;
    return pump(answer.body, take, { server, idleMs: timeouts.idle, due: () => true, signal: exchange.signal });
  }

  #addressee(
    exchange: Exchange,
    messages: ClientMessages | undefined,
    session: Session | undefined,
  ): Omit<Addressee, 'answered'> {
    const { principal, facts, signal } = exchange;
    const client = clientFacts(exchange, messages, session, this.#deps.profiles);
    const inquire = askOverHttp(this.#upstream, this.#deps, exchange, messages, session);
    return { principal, client, inquire, facts, signal };
  }

  #opener(exchange: Exchange, initialize: PendingRequest, answer: UpstreamAnswer): OpenSession {
    return async (message: HeldMessage) => {
      const result = resultOf(message);
      if (!result) return undefined;
      const upstreamSession = answer.headers['mcp-session-id'];
      const clientName = nameOf(initialize.params.clientInfo);
      const session = await this.#deps.sessions.open({
        principal: exchange.principal,
        server: this.#deps.server,
        channel: 'exchange',
        version: typeof result.protocolVersion === 'string' ? result.protocolVersion : DEFAULT_VERSION,
        capabilities: isObject(initialize.params.capabilities) ? initialize.params.capabilities : {},
        ...(typeof upstreamSession === 'string' ? { upstreamSession } : {}),
        ...(clientName === undefined ? {} : { clientName }),
        ...spokenBy(result, this.#deps.dialects),
      });
      return session.id;
    };
  }
}

function isSmall(answer: UpstreamAnswer, deps: RelayDeps): boolean {
  return answer.contentLength !== undefined && answer.contentLength <= deps.cut.slotMin;
}

/** The `result` of a small answer, if it is one. */
export function resultOf(message: HeldMessage): JsonObject | undefined {
  if (message.malformed) return undefined;
  const answer: unknown = JSON.parse(message.skeleton().toString('utf8'));
  const [first] = Array.isArray(answer) ? answer : [answer];
  const result = isObject(first) ? first.result : undefined;
  return isObject(result) ? result : undefined;
}

export function unknownSession(): GatewayError {
  return new GatewayError('session_unknown');
}
