import { HeldTogether } from '../budget/held.js';
import { breathe } from '../budget/turn.js';
import { asGatewayError, GatewayError } from '../errors.js';
import { isObject } from '../json/value.js';
import type { Inquire } from '../mcp/inquire.js';
import { invalid } from '../mcp/read-message.js';
import { type ClientMessages, withoutRequests } from '../mcp/request.js';
import type { Asked } from './caller.js';
import type { Transports } from './channels/transports.js';
import { BatchReply, type OwnAnswer } from './client/batch-reply.js';
import { answerLocally, answerText, errorOf, type LocalAnswer, onlyRequest } from './client/local-answer.js';
import type { RelayDeps } from './deps.js';
import { noteRefused, tellError } from './exchange-log.js';
import { tooLongError } from './limited-calls.js';
import { letServerJudge, letServerJudgeReader } from './local/accepted.js';
import { callLocally, type LocalTool } from './local/local-tools.js';
import { answerWithoutResources } from './local/no-resources.js';
import { concernsResources } from './local/own-resources.js';
import { calledName, type PendingRequest } from './pending-request.js';
import type { ResourceStreams } from './streams/resource-streams.js';
import type { ServerAbilities } from './upstream/server-abilities.js';
import { viewOf } from './upstream/view.js';

/** What it has in common with its server. */
interface Parts {
  transports: Transports;
  streams: ResourceStreams;
  abilities: ServerAbilities;
}

/** Answers a request without the server. */
type Work = () => Promise<LocalAnswer>;

/** Statuses that clients must see: to authorize themselves, or to initialize again. */
const OF_THE_POST = new Set([401, 403, 404]);

/** What Wharf answers without the server: methods of the dialects, its own resources, and calls of its own tools. */
export class OwnAnswers {
  readonly #deps: RelayDeps;
  readonly #parts: Parts;

  constructor(deps: RelayDeps, parts: Parts) {
    this.#deps = deps;
    this.#parts = parts;
  }

  /** A cheap test, which most messages fail: whether Wharf might answer one of these requests itself. */
  mayAnswer({ messages }: Asked): boolean {
    const { methods, tools } = this.#deps;
    return messages.requests.some((request) =>
      request.method === 'tools/call'
        ? tools.mayHave(calledName(request))
        : methods.has(request.method) || concernsResources(request.method),
    );
  }

  /** @returns whether it has answered the POST @throws GatewayError */
  async answers(asked: Asked): Promise<boolean> {
    const { exchange, messages } = asked;
    const request = onlyRequest(messages);
    if (!request) {
      await this.#refuseWithoutSessions(asked);
      return false;
    }
    const work = await this.#workOf(request, asked);
    if (!work) return false;
    answerLocally(exchange, messages, await this.#answer(request, work, exchange));
    return true;
  }

  /**
   * Answers the requests of a batch that are for Wharf, each by itself, beside the server's answers to the rest.
   * @param forward brings the rest on its way
   * @throws GatewayError before anything is answered
   */
  async answersBatch(asked: Asked, forward: (rest: Asked) => Promise<void>): Promise<void> {
    const { exchange, messages } = asked;
    const works = new Map<PendingRequest, Work>();
    for (const request of messages.requests) {
      const work = (await this.#parts.streams.ownLink(request, asked)) ?? (await this.#workOf(request, asked));
      if (work) works.set(request, work);
    }
    if (works.size === 0) return forward(asked);
    const { server, cut } = this.#deps;
    const owner = { principal: exchange.principal, server };
    const held = new HeldTogether(cut.held, owner);
    const own: OwnAnswer[] = [];
    try {
      for (const [request, work] of works) {
        exchange.signal.throwIfAborted();
        await breathe(owner);
        own.push(await this.#heldAnswer(request, work, asked, held));
      }
      const rest = await withoutRequests(messages, works, owner);
      const reply = this.#batchReply(asked, rest, { own, held });
      if (rest) await this.#forwardRest({ ...asked, messages: rest, exchange: { ...exchange, reply } }, reply, forward);
      else reply.all({ status: 202, body: 'other' });
      exchange.facts.bytesOut = exchange.reply.written;
    } finally {
      if (!exchange.reply.begun) held.release();
    }
  }

  /** Revisions without sessions have no batches: what is for Wharf is not shown to a server that may take one. */
  async #refuseWithoutSessions(asked: Asked): Promise<void> {
    const { requests, era } = asked.messages;
    if (era.hasSessions) return;
    for (const request of requests) {
      if (!(await this.#work(request, asked))) continue;
      // not what is read: it may be a link
      const what = request.method === 'tools/call' ? calledName(request) : request.method;
      throw invalid(`${what} of Wharf's own cannot be in a batch, which ${era.version} does not have`);
    }
  }

  #batchReply(
    { exchange }: Asked,
    rest: ClientMessages | undefined,
    given: { own: readonly OwnAnswer[]; held: HeldTogether },
  ): BatchReply {
    const accept = String(exchange.headers.accept ?? '');
    return new BatchReply(exchange.reply, {
      ...given,
      others: rest?.requests.map(({ id }) => id) ?? [],
      takesJson: !accept.includes('text/event-stream') || /json|\*\/\*/.test(accept),
      noAnswer: () => new GatewayError('upstream_closed', { server: this.#deps.server }),
    });
  }

  async #forwardRest(rest: Asked, reply: BatchReply, forward: (rest: Asked) => Promise<void>): Promise<void> {
    try {
      await forward(rest);
    } catch (thrown) {
      const error = asGatewayError(thrown);
      if (reply.begun || rest.exchange.signal.aborted || OF_THE_POST.has(error.httpStatus)) throw thrown;
      tellError(this.#deps, error, rest.exchange);
      reply.fail(error);
    }
  }

  async #heldAnswer(request: PendingRequest, work: Work, asked: Asked, held: HeldTogether): Promise<OwnAnswer> {
    const { id } = request;
    const { era } = asked.messages;
    const text = answerText(request, await this.#answer(request, work, asked.exchange), era);
    try {
      held.hold(text.length);
    } catch (error) {
      return { id, text: answerText(request, errorOf(error), era) };
    }
    return { id, text };
  }

  #answer({ method }: PendingRequest, work: Work, exchange: Asked['exchange']): Promise<LocalAnswer> {
    return work().catch((error): LocalAnswer => {
      noteRefused(this.#deps, error, exchange, method);
      return errorOf(error);
    });
  }

  /** The called tool of Wharf's own. All names of the server's tools must be known, because they take precedence. */
  async tool(request: PendingRequest, asked: Asked): Promise<LocalTool | undefined> {
    const { tools, catalog, offered } = this.#deps;
    const name = calledName(request);
    if (request.method !== 'tools/call' || !tools.mayHave(name)) return undefined;
    const view = viewOf(asked.client.protocolVersion, asked.exchange.principal);
    const inquire = this.#inquire(asked);
    if (inquire) await catalog.load(view, inquire);
    return tools.named(name, catalog.beside(view, offered.shownTo(asked.exchange.identity)));
  }

  /** How a request is answered without the server, if it is. @throws GatewayError */
  async #workOf(request: PendingRequest, asked: Asked): Promise<Work | undefined> {
    return (await this.#work(request, asked)) ?? (await this.#absence(request, asked));
  }

  async #work(request: PendingRequest, asked: Asked): Promise<Work | undefined> {
    const { methods, resources, limits } = this.#deps;
    const { client, exchange } = asked;
    const { principal, signal } = exchange;
    const { method, params } = request;
    const refused = (error: GatewayError) => tellError(this.#deps, error, exchange);
    if (methods.has(method)) {
      await letServerJudge(asked, this.#deps, this.#parts.transports.overHttp);
      const read = this.#inquire(asked) && ((uri: string) => this.#parts.streams.asFile(uri, asked));
      return () => methods.answer(method, params, { client, principal, read, signal, refused });
    }
    const own = await resources.answerTo(request, { principal, client, signal, refused });
    if (own) {
      await letServerJudgeReader(asked, this.#deps, this.#parts.transports.overHttp);
      return own;
    }
    const tool = await this.tool(request, asked);
    if (!tool) return undefined;
    await letServerJudge(asked, this.#deps, this.#parts.transports.overHttp);
    if (request.tooLong) throw tooLongError(request.tooLong, limits);
    if (request.heavyArguments)
      throw invalid(`more than limits.values = ${limits.values} values in the arguments of ${tool.name}`);
    const args = isObject(params.arguments) ? params.arguments : {};
    const caller = { ...exchange.identity, signal, refused };
    return async () => ({ result: await callLocally(tool, args, caller, client) });
  }

  /** How a request for resources is answered if the server has none. */
  async #absence(request: PendingRequest, asked: Asked): Promise<Work | undefined> {
    const answer = await answerWithoutResources(request, asked, this.#parts.abilities);
    return answer && (async () => answer);
  }

  /** Asks the server in the caller's own session; undefined before there is one. */
  #inquire(asked: Asked): Inquire | undefined {
    const { messages, session, inquire } = asked;
    const isOpen = session !== undefined || !messages.era.hasSessions;
    return isOpen || this.#parts.transports.channelOf(asked) === 'shared' ? inquire : undefined;
  }
}
