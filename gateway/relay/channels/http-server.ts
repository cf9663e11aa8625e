import { Readable } from 'node:stream';
import { clientFacts } from '../../mcp/client-facts.js';
import { single, toClientHeaders, toUpstreamHeaders } from '../../mcp/headers.js';
import { paramHeadersFor } from '../../mcp/param-headers.js';
import { type ClientMessages, parseMessages } from '../../mcp/request.js';
import type { ExchangeUpstream, UpstreamAnswer } from '../../ports/upstream.js';
import { type HeldMessage, withoutMark } from '../../wire/json/reader.js';
import { argumentsOf } from '../arguments/heavy-arguments.js';
import { toUpstream } from '../arguments/to-upstream.js';
import { GatheredBytes } from '../cut/gathered-bytes.js';
import type { Exchange } from '../exchange.js';
import type { Addressee, PendingRequest } from '../pending-request.js';
import { mayAnswerWithFiles, mayTellOfChange, needsLook } from '../results/to-client.js';
import type { Session } from '../session.js';
import { declaredBy } from '../upstream/declared.js';
import { askOverHttp, type OwnHttpRequest, openOverHttp } from '../upstream/own-request.js';
import { maySpeakForWharf } from '../upstream/own-words.js';
import { pump } from '../upstream/pump.js';
import { viewOf } from '../upstream/view.js';
import type { ChannelDeps } from './deps.js';
import { AnswerRelay, type OpenSession } from './http-answer.js';
import { sessionOf } from './open-session.js';

/** How long a server may take to hear that a session is over. */
const FAREWELL_MS = 10_000;

/** One server behind Streamable HTTP: every exchange has a channel of its own. */
export class HttpServer {
  readonly #deps: ChannelDeps;
  readonly #upstream: ExchangeUpstream;

  constructor(deps: ChannelDeps, upstream: ExchangeUpstream) {
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
      const request = { method: 'POST', headers, body: outgoing.message, principal: exchange.principal } as const;
      const answer = await this.#upstream.open(request, exchange.signal);
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
    if (!tool) return {};
    const args = await argumentsOf(request, tool.slots, tool.paramHeaders, this.#deps.limits);
    return paramHeadersFor(tool.paramHeaders, args ?? {});
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
    const answer = await this.#upstream.open(
      { method: 'GET', headers, principal: exchange.principal },
      exchange.signal,
    );
    await this.#relay(exchange, answer, undefined, session, undefined);
  }

  /** A session was ended here to make room for another: its server need not keep it either. */
  async forget({ upstreamSession, version, principal }: Session): Promise<void> {
    if (upstreamSession === undefined) return;
    const headers = toUpstreamHeaders({ 'mcp-protocol-version': version }, undefined, upstreamSession);
    try {
      const request = { method: 'DELETE', headers, principal } as const;
      const answer = await this.#upstream.open(request, AbortSignal.timeout(FAREWELL_MS));
      answer.body.destroy();
    } catch (error) {
      this.#deps.log.debug({ err: error }, 'a session could not be ended at its server');
    }
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
    const answer = await this.#upstream.open(
      { method: 'DELETE', headers, principal: exchange.principal },
      exchange.signal,
    );
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
      exchange.response.writeHead(answer.status, toClientHeaders(answer));
      exchange.response.end();
      return;
    }
    const { kind } = answer;
    const relay = (whole: UpstreamAnswer) => {
      const to = this.#addressee(exchange, messages, session);
      const context = { deps: this.#deps, exchange, to, requests };
      const answerPing = (id: string) => this.#pong(id, exchange, answer);
      return new AnswerRelay(whole, kind, openSession ? { ...context, openSession, answerPing } : context).run();
    };
    // what does not say that it is a message has to be looked at before its type can be told
    const isSimple = isSmall(answer, this.#deps) && kind !== 'bytes';
    if (isSimple && !openSession && !requests.some(needsLook)) {
      return this.#passSmall(exchange, answer, requests, relay);
    }
    await relay(answer);
  }

  /** Answers a ping on the session that an answer opens. One that does not arrive is missed by its server alone. */
  async #pong(
    id: string,
    { headers, signal, principal }: Exchange,
    { headers: { 'mcp-session-id': session } }: UpstreamAnswer,
  ) {
    const body = Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
    const own = toUpstreamHeaders(headers, parseMessages(body), typeof session === 'string' ? session : undefined);
    try {
      const answer = await this.#upstream.open({ method: 'POST', headers: own, body, principal }, signal);
      answer.body.destroy();
    } catch (error) {
      this.#deps.log.debug({ err: error }, 'a ping could not be answered');
    }
  }

  /** A body that is announced to be shorter than any file: nothing in it can be cut, so it goes in one piece. */
  async #passSmall(
    exchange: Exchange,
    answer: UpstreamAnswer,
    requests: readonly PendingRequest[],
    relay: (answer: UpstreamAnswer) => Promise<void>,
  ): Promise<void> {
    const body = withoutMark(await this.#whole(exchange, answer));
    const methods = requests.map(({ method }) => method);
    const read = (start: number, end: number) => body.subarray(start, end);
    const mayHaveFiles = mayAnswerWithFiles(methods, read, body.length, this.#deps);
    if (mayHaveFiles || mayTellOfChange(body) || maySpeakForWharf(read, body.length)) {
      return relay({ ...answer, body: Readable.from([body]) });
    }
    if (requests.length > 0) exchange.facts.bytesOut = body.length;
    exchange.response.writeHead(answer.status, {
      ...toClientHeaders(answer),
      'content-length': String(body.length),
    });
    exchange.response.end(body);
  }

  /** All of a short body; it counts against `limits.held` until it has come. */
  async #whole(exchange: Exchange, answer: UpstreamAnswer): Promise<Buffer> {
    const { cut, server } = this.#deps;
    const owner = { principal: exchange.principal, server };
    const gathered = new GatheredBytes();
    try {
      await this.#read(exchange, answer, (chunk) => {
        gathered.add(chunk);
        cut.held.add(chunk.length, owner);
        return undefined;
      });
      return gathered.whole();
    } finally {
      cut.held.add(-gathered.size, owner);
    }
  }

  #read(exchange: Exchange, answer: UpstreamAnswer, take: (chunk: Buffer) => Promise<void> | undefined): Promise<void> {
    const { server, pace } = this.#deps;
    return pump(answer.body, take, { server, pace, due: () => true, signal: exchange.signal });
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
      const { principal } = exchange;
      const upstreamSession = single(answer.headers['mcp-session-id']);
      const about = {
        principal,
        channel: 'exchange' as const,
        ...(upstreamSession !== undefined && { upstreamSession }),
      };
      const record = sessionOf(message, initialize, about, this.#deps);
      const session = record && (await this.#deps.sessions.open(record));
      exchange.facts.session = session?.id;
      return session?.id;
    };
  }
}

function isSmall(answer: UpstreamAnswer, deps: ChannelDeps): boolean {
  return answer.contentLength !== undefined && answer.contentLength <= deps.cut.slotMin;
}
