import { Readable } from 'node:stream';
import { beginStep } from '../../budget/turn.js';
import { GatewayError } from '../../errors.js';
import { absentCaller } from '../../identity/identities.js';
import { checkHeaderMethod, single, toUpstreamHeaders } from '../../mcp/headers.js';
import type { Inquire } from '../../mcp/inquire.js';
import { paramHeadersFor } from '../../mcp/param-headers.js';
import { parseMessages } from '../../mcp/request.js';
import type { Identity } from '../../ports/identity.js';
import type { ExchangeUpstream, UpstreamAnswer } from '../../ports/upstream.js';
import { type HeldMessage, withoutMark } from '../../wire/json/reader.js';
import { argumentsOf } from '../arguments/heavy-arguments.js';
import { toUpstream } from '../arguments/to-upstream.js';
import type { Asked, Caller, Sender } from '../caller.js';
import { headOf } from '../client/answer-head.js';
import { GatheredBytes } from '../cut/gathered-bytes.js';
import { causeOf, type Exchange, noteNoAnswer } from '../exchange.js';
import type { PendingRequest } from '../pending-request.js';
import type { Session, SessionRecord } from '../session.js';
import { declaredBy } from '../upstream/declared.js';
import { askOverHttp, type OpenedAnswer, type OwnHttpRequest, openOverHttp } from '../upstream/own-request.js';
import { onceBegun, pump } from '../upstream/pump.js';
import { askedBy, mayBeFault, noteFault } from '../upstream/server-faults.js';
import { viewOf } from '../upstream/view.js';
import { Cancellations, noteForAll } from './calls/cancellations.js';
import type { ChannelDeps } from './deps.js';
import { AnswerRelay } from './http-answer.js';
import { openSession } from './open-session.js';
import { mayLackAnswer, mayNeedWork, mustBeRead, shortAnswer, shortLimit } from './short-answer.js';
import { plainlyAnswers } from './stray-answers.js';

/** Time-out for telling a server that a session is over. */
const FAREWELL_MS = 10_000;

/** Sees the answer to a POST first; true when it took the exchange over. */
export type TakesOver = (answer: UpstreamAnswer) => Promise<boolean>;

interface Posted {
  /** Set where the answer to it may open a session. */
  initialize?: PendingRequest | undefined;
  cancelled?: Cancellations;
}

/** One server behind Streamable HTTP: every exchange has its own channel. */
export class HttpServer {
  readonly #deps: ChannelDeps;
  readonly #upstream: ExchangeUpstream;

  constructor(deps: ChannelDeps, upstream: ExchangeUpstream) {
    this.#deps = deps;
    this.#upstream = upstream;
  }

  /** Asks the server in the session of an exchange. */
  inquire(sender: Sender): Inquire {
    return askOverHttp(this.#upstream, this.#deps, sender);
  }

  /** Sends a request of Wharf's own in the session of an exchange. */
  open(sender: Sender, request: OwnHttpRequest): Promise<OpenedAnswer> {
    return openOverHttp(this.#upstream, sender, { ...request, declares: declaredBy(this.#deps) });
  }

  /**
   * Sends the messages of a POST and returns their answers.
   * @param takesOver sees the answer first
   */
  async post(asked: Asked, takesOver?: TakesOver): Promise<void> {
    const { cancelledElsewhere } = this.#deps.sessions;
    // before its server hears of it, and ends the stream at another replica, which then looks for the note
    if (asked.messages.cancelled.length > 0) await noteForAll(asked, cancelledElsewhere);
    const cancelled = new Cancellations(asked, cancelledElsewhere);
    try {
      await this.#post(asked, cancelled, takesOver);
    } finally {
      cancelled.end();
    }
  }

  async #post(asked: Asked, cancelled: Cancellations, takesOver?: TakesOver): Promise<void> {
    const { exchange, messages, session, client, inquire } = asked;
    const { principal, identity, signal } = exchange;
    checkHeaderMethod(messages);
    const hasParamHeaders = messages.era.repeatsInHeaders;
    const context = {
      deps: this.#deps,
      principal,
      identity,
      by: causeOf(exchange),
      facts: exchange.facts,
      client,
      inquire,
      signal,
      hasParamHeaders,
      takesBatches: true,
    };
    const prepared = toUpstream(messages, context);
    const outgoing = prepared instanceof Promise ? await cancelled.unlessAll(prepared) : prepared;
    // as a server answers that has stopped: with nothing
    if (!outgoing) return exchange.reply.all({ status: 202, body: 'other' });
    let answer: UpstreamAnswer | undefined;
    try {
      const isSame = outgoing.requests === messages.requests;
      const sent = isSame ? asked : { ...asked, messages: { ...messages, requests: [...outgoing.requests] } };
      const headers = toUpstreamHeaders(exchange.headers, sent.messages, session?.upstreamSession);
      if (exchange.headersFromBody) Object.assign(headers, await this.#paramHeaders(sent));
      Object.assign(headers, outgoing.headers);
      const request = { method: 'POST', headers, body: outgoing.messages[0], principal, identity } as const;
      answer = await this.#upstream.open(request, signal);
      beginStep({ principal, server: this.#deps.server });
      if (takesOver && (await takesOver(answer))) return;
      // the client's own message was short: a web framework's page about its length says nothing to it
      const hasGrown = outgoing.messages[0].length > messages.bytes.length;
      if (hasGrown && answer.status === 413 && answer.kind === 'bytes') throw this.#refused(answer);
      const { initialize } = messages;
      await this.#relay(sent, answer, { cancelled, initialize: answer.status === 200 ? initialize : undefined });
    } catch (error) {
      // what its client does not get is not read to its end, and would keep its connection
      answer?.body.destroy();
      throw error;
    } finally {
      if (outgoing.done) await outgoing.done();
    }
  }

  /** The error for an answer that is not read. */
  #refused({ status, body }: UpstreamAnswer): GatewayError {
    body.destroy();
    return new GatewayError('upstream_refused', { server: this.#deps.server, status });
  }

  /** `Mcp-Param-*` for a client that cannot send them: servers refuse a call without the headers they declared. */
  async #paramHeaders({ exchange, messages, inquire }: Asked): Promise<Record<string, string>> {
    const [request] = messages.requests;
    const { era } = messages;
    if (!era.repeatsInHeaders || request?.method !== 'tools/call' || request.subject === undefined) return {};
    const { catalog, server } = this.#deps;
    const tool = await catalog.tool(viewOf(era.version, exchange.principal), request.subject, inquire);
    if (!tool) return {};
    const args = await argumentsOf(request, tool.slots, tool.paramHeaders, {
      owner: { principal: exchange.principal, server },
      limits: this.#deps.limits,
    });
    return paramHeadersFor(tool.paramHeaders, args ?? {});
  }

  /** The client's GET stream. */
  async get(caller: Caller): Promise<void> {
    const answer = await this.#send('GET', caller);
    return answer.kind === 'sse' ? this.#relaySilent(caller, answer) : this.#relay(caller, answer);
  }

  /** A session has ended here without a request of its client, so its server need not keep it either. Never rejects. */
  forget(session: Session): Promise<void> {
    return this.#endAtServer(session, absentCaller(session.principal));
  }

  async #endAtServer({ upstreamSession, version, principal }: SessionRecord, identity: Identity): Promise<void> {
    if (upstreamSession === undefined) return;
    try {
      const headers = toUpstreamHeaders({ 'mcp-protocol-version': version }, undefined, upstreamSession);
      const request = { method: 'DELETE', headers, principal, identity } as const;
      const answer = await this.#upstream.open(request, AbortSignal.timeout(FAREWELL_MS));
      answer.body.destroy();
    } catch (error) {
      this.#deps.log.debug({ err: error }, 'a session could not be ended at its server');
    }
  }

  /** Ends the session at the upstream and, unless the upstream refuses, here. */
  async remove(caller: Caller, { id, upstreamSession }: Session): Promise<void> {
    const { sessions } = this.#deps;
    if (upstreamSession === undefined) {
      await sessions.end(id);
      sessions.endStreams(id);
      caller.exchange.reply.all({ status: 204, body: 'other' });
      return;
    }
    const answer = await this.#send('DELETE', caller);
    try {
      if (answer.status < 300 || answer.status === 404) {
        await sessions.end(id);
        sessions.endStreams(id);
      }
      await this.#relay(caller, answer);
    } catch (error) {
      answer.body.destroy();
      throw error;
    }
  }

  #send(method: 'GET' | 'DELETE', { exchange, session }: Caller): Promise<UpstreamAnswer> {
    const { identity, principal, signal } = exchange;
    const headers = toUpstreamHeaders(exchange.headers, undefined, session?.upstreamSession);
    return this.#upstream.open({ method, headers, principal, identity }, signal);
  }

  async #relay(caller: Caller, answer: UpstreamAnswer, { initialize, cancelled }: Posted = {}): Promise<void> {
    const { exchange, messages, session } = caller;
    // The upstream has forgotten its session: so does Wharf, and the client initializes again. A GET shows no such thing:
    // a server without that stream often has no route for it, and its next POST tells.
    const isForgotten = answer.status === 404 && messages !== undefined && session?.upstreamSession !== undefined;
    if (isForgotten) await this.#deps.sessions.end(session.id);
    const requests = messages?.requests ?? [...this.#deps.sessions.resumable.unanswered.of(session).values()];
    const { kind } = answer;
    if (kind === 'none') {
      answer.body.resume();
      if (requests.length > 0 && answer.status < 300) noteNoAnswer(exchange.facts);
      noteFault(this.#deps, answer, askedBy(caller));
      exchange.reply.all(headOf(answer));
      return;
    }
    // an answer that is not declared as a message must be read before its type is known
    const isReplay = messages === undefined && kind === 'sse';
    const isSimple = isSmall(answer, this.#deps) && kind !== 'bytes' && !isReplay;
    let rest = answer;
    if (isSimple && !initialize && !mustBeRead(requests, this.#deps)) {
      // most answers came as a whole with their head, and are sent on in this turn
      const body = withoutMark(answer.whole ?? (await this.#whole(exchange, answer)));
      if (this.#passesAsItIs(caller, requests, answer, body)) return;
      rest = { ...answer, whole: body, body: Readable.from([body]) };
    }
    const context = {
      deps: this.#deps,
      caller,
      cancelled,
      ...(initialize && {
        openSession: (message: HeldMessage) => {
          const upstreamSession = single(answer.headers['mcp-session-id']);
          const giveUp = (record: SessionRecord) => void this.#endAtServer(record, exchange.identity);
          const opening = { exchange, initialize, channel: 'exchange', upstreamSession, giveUp } as const;
          return openSession(message, opening, this.#deps);
        },
        answerPing: (id: string) => this.#pong(id, exchange, answer),
      }),
    };
    return new AnswerRelay(rest, kind, context).run();
  }

  /**
   * A stream on which a server may say nothing for hours. What relays it is 3 KB of objects and is made for its first bytes;
   * until then not even the answer's headers are kept.
   */
  #relaySilent(caller: Caller, answer: UpstreamAnswer): Promise<void> {
    const { status, body } = answer;
    caller.exchange.reply.head({ ...headOf(answer), isEarly: true });
    return onceBegun(body, { principal: caller.exchange.principal, server: this.#deps.server }, () => {
      const rest: UpstreamAnswer = { status, headers: {}, kind: 'sse', body };
      return new AnswerRelay(rest, 'sse', { deps: this.#deps, caller }).run();
    });
  }

  /** Answers a ping in the session that an answer opens. If it is lost, only its server notices. */
  async #pong(
    id: string,
    { headers, signal, principal, identity }: Exchange,
    { headers: { 'mcp-session-id': session } }: UpstreamAnswer,
  ) {
    const body = Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
    const own = toUpstreamHeaders(headers, parseMessages(body), typeof session === 'string' ? session : undefined);
    try {
      const answer = await this.#upstream.open({ method: 'POST', headers: own, body, principal, identity }, signal);
      answer.body.destroy();
    } catch (error) {
      this.#deps.log.debug({ err: error }, 'a ping could not be answered');
    }
  }

  /**
   * Sends on a body that is shorter than any file, so that nothing in it can be cut, in one piece.
   * @param requests those that the body may answer
   * @returns whether it did: false where something in it may need work
   */
  #passesAsItIs(caller: Caller, requests: readonly PendingRequest[], answer: UpstreamAnswer, body: Buffer): boolean {
    const { exchange, messages, client } = caller;
    const { reply } = exchange;
    // a body without a length that lacks its answer, or half of it, is a fault that only its reader sees; so is a stream
    // that ends without an answer, for which its client would wait until it gives up
    const mayOwe = answer.kind === 'sse' && mayLackAnswer(body, requests);
    const [request] = messages?.requests ?? [];
    const isOwn = request !== undefined && requests.length === 1 && plainlyAnswers(body, request.id);
    // the answer to another request may have come in its place, or beside it, which its reader sees
    const mayBeStray = messages !== undefined && answer.status < 300 && !isOwn;
    const isWhole = reply.takesBodies && !mayOwe && !mayBeStray && answer.headers['content-length'] !== undefined;
    const short = isWhole ? undefined : shortAnswer(body, answer.kind, requests);
    const isPassable = isWhole || short !== undefined;
    if (!isPassable || mayNeedWork(body, requests, client, this.#deps)) return false;
    if (mayBeFault(answer)) noteFault(this.#deps, answer, askedBy(caller), body);
    if (requests.length > 0) exchange.facts.bytesOut = body.length;
    const isBody = reply.takesBodies || !short;
    reply.all(headOf(answer), isBody ? body : short.message, short && [short.id]);
    return true;
  }

  /** Reads a short body; it counts against `limits.held` until it is complete. */
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
    const { principal, signal } = exchange;
    return pump(answer.body, take, { server, principal, pace, due: () => true, signal });
  }
}

function isSmall({ contentLength }: UpstreamAnswer, deps: ChannelDeps): boolean {
  return contentLength !== undefined && contentLength <= shortLimit(deps);
}
