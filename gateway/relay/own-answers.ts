import { GatewayError } from '../errors.js';
import { isObject } from '../json/value.js';
import type { Inquire } from '../mcp/inquire.js';
import { invalid } from '../mcp/read-message.js';
import type { Asked } from './caller.js';
import type { Transports } from './channels/transports.js';
import { answerLocally, errorOf, type LocalAnswer, onlyRequest } from './client/local-answer.js';
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
      for (const candidate of messages.requests) {
        if (!(await this.#work(candidate, asked))) continue;
        // not what is read: it may be a link
        const what = candidate.method === 'tools/call' ? calledName(candidate) : candidate.method;
        const reason = `${what} of Wharf's own cannot be in a batch; send it by itself`;
        throw new GatewayError('request_invalid', { reason });
      }
      return false;
    }
    const work = (await this.#work(request, asked)) ?? (await this.#absence(request, asked));
    if (!work) return false;
    const answer = await work().catch((error): LocalAnswer => {
      noteRefused(this.#deps, error, exchange, request.method);
      return errorOf(error);
    });
    answerLocally(exchange, messages, answer);
    return true;
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
  async #work(request: PendingRequest, asked: Asked): Promise<(() => Promise<LocalAnswer>) | undefined> {
    const { methods, resources, limits } = this.#deps;
    const { client, exchange } = asked;
    const { principal, signal } = exchange;
    const { method, params } = request;
    if (methods.has(method)) {
      await letServerJudge(asked, this.#deps, this.#parts.transports.overHttp);
      const read = this.#inquire(asked) && ((uri: string) => this.#parts.streams.asFile(uri, asked));
      const refused = (error: GatewayError) => tellError(this.#deps, error, exchange);
      return () => methods.answer(method, params, { client, principal, read, signal, refused });
    }
    const own = await resources.answerTo(request, { principal, client, signal });
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
    const caller = { ...exchange.identity, signal: exchange.signal };
    return async () => ({ result: await callLocally(tool, args, caller, client) });
  }

  /** How a request for resources is answered if the server has none. */
  async #absence(request: PendingRequest, asked: Asked): Promise<(() => Promise<LocalAnswer>) | undefined> {
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
