import { asGatewayError, GatewayError } from '../../errors.js';
import type { FileRecord } from '../../files/file.js';
import { JsonDocument } from '../../json/document.js';
import { Edits } from '../../json/edit.js';
import { isObject } from '../../json/value.js';
import { asking } from '../../mcp/inquire.js';
import { META_CAPABILITIES } from '../../mcp/meta-keys.js';
import { RESOURCE_LISTS } from '../../mcp/resource-lists.js';
import type { ResourceStreaming } from '../../ports/resource-streaming.js';
import type { UpstreamAnswer } from '../../ports/upstream.js';
import { type Asked, withEdits } from '../caller.js';
import { CollectedReply } from '../client/collected-reply.js';
import { answerLocally, type LocalAnswer, onlyRequest } from '../client/local-answer.js';
import type { Exchange } from '../exchange.js';
import { noteOutcome, reportError } from '../exchange-log.js';
import { noFileText } from '../local/own-resources.js';
import { type OwnUri, ownUri } from '../local/own-uri.js';
import type { AnswerEdit, PendingRequest } from '../pending-request.js';
import type { Reply } from '../reply.js';
import type { ResultDeps } from '../results/deps.js';
import { refuseDuplicates } from '../results/duplicates.js';
import { declaredBy } from '../upstream/declared.js';
import type { ServerAbilities } from '../upstream/server-abilities.js';
import { viewOf } from '../upstream/view.js';
import { linkInstead, type Remote, readByStream } from './edit.js';
import { inStore, type StreamItem } from './item.js';
import { LiveResource } from './live.js';
import { readAsFile } from './read-as-file.js';
import { rpcErrorOf, ServerError, unlessOnlyRead } from './refusal.js';
import { openRemote, type StreamingServer, twice } from './remote.js';
import { showResources } from './resource-list.js';
import { StreamSender } from './send.js';

/** The method that every server has: a dialect's method is sent to it as this one. */
const READ = 'resources/read';

/** Errors about the request, its session or its credentials, which clients recognise by their HTTP status. */
const OF_THE_EXCHANGE = new Set([
  ...['session_required', 'session_unknown', 'version_unsupported', 'meta_missing'],
  ...['login_needed', 'caller_forbidden'],
]);

/** Statuses that clients must see: to authorize themselves, or to initialize again. */
const OF_HTTP = new Set([401, 403, 404]);

/** The connection to one server, over any transport. */
export interface StreamHost {
  /** @param takesOver sees an answer on its own channel first; returns true when it has taken over the exchange */
  forward(asked: Asked, takesOver?: (answer: UpstreamAnswer) => Promise<boolean>): Promise<void>;
  /** Lets the server judge a caller that reads a file of its own, where that is for the server. @throws GatewayError */
  judge(asked: Asked): Promise<void>;
  /** Sends requests of Wharf's own over HTTP; undefined when all messages share a channel. */
  opener(asked: Asked): StreamingServer['open'];
}

/** Resources as streams of bytes: for clients of servers with only `resources/read`, and the reverse. */
export class ResourceStreams {
  readonly #deps: ResultDeps;
  readonly #host: StreamHost;
  readonly #abilities: ServerAbilities;
  /** Of all requests that are not simply forwarded. */
  readonly #methods: ReadonlySet<string>;

  constructor(deps: ResultDeps, host: StreamHost, abilities: ServerAbilities) {
    this.#deps = deps;
    this.#host = host;
    this.#abilities = abilities;
    const own = deps.dialects.flatMap(({ streaming }) => streaming?.method ?? []);
    this.#methods = new Set([READ, ...Object.keys(RESOURCE_LISTS), ...own]);
  }

  /**
   * Answers requests for streams. A promise only where there is one.
   * @returns undefined when it has answered; otherwise the POST to forward, with the edits of its answers
   */
  answer(asked: Asked): Asked | Promise<Asked | undefined> {
    const { messages } = asked;
    if (!messages.requests.some(({ method }) => this.#methods.has(method))) return asked;
    const streaming = this.#deps.dialects.find(
      ({ streaming: own }) => own && messages.requests.some(({ method }) => method === own.method),
    )?.streaming;
    return streaming ? this.#answer(streaming, asked) : withEdits(asked, this.#editsOf(asked));
  }

  /** Makes a file of a resource. @param asked as in `readAsFile` */
  asFile(uri: string, asked: Asked): Promise<FileRecord | undefined> {
    const forward = (one: Asked) => this.#host.forward(one);
    return readAsFile(uri, asked, { forward, isShared: !this.#host.opener(asked) }, this.#deps);
  }

  /**
   * How a request of a batch is answered that is for the bytes of a file of Wharf's own, by a link, or that is refused.
   * Undefined for all others.
   */
  async ownLink(request: PendingRequest, asked: Asked): Promise<(() => Promise<LocalAnswer>) | undefined> {
    const { exchange } = asked;
    const streaming = this.#deps.dialects.find((one) => one.streaming?.method === request.method)?.streaming;
    if (!streaming) return undefined;
    let sender: StreamSender;
    try {
      sender = this.#sender(request, streaming, asked);
    } catch (refusal) {
      return async () => this.#refusalOf(refusal, streaming, asked);
    }
    const own = await ownUri(this.#deps.cut.library, sender.order.uri, exchange.principal);
    if (!own) return undefined;
    await this.#host.judge(asked);
    return async () => {
      try {
        return { result: await sender.linkTo(await this.#ownFile(own, exchange)) };
      } catch (thrown) {
        return this.#refusalOf(thrown, streaming, asked);
      }
    };
  }

  #refusalOf(thrown: unknown, streaming: ResourceStreaming, { exchange, client }: Asked): LocalAnswer {
    const error = asGatewayError(thrown);
    if (noteOutcome(error, exchange)) reportError(this.#deps, error, 'a resource could not be streamed', { exchange });
    return { error: rpcErrorOf(thrown, streaming, client) };
  }

  async #answer(streaming: ResourceStreaming, asked: Asked): Promise<undefined> {
    const { messages } = asked;
    const request = onlyRequest(messages);
    if (!request) await this.#answerBatch(streaming, asked);
    else await this.#answerOne(request, streaming, asked);
    return undefined;
  }

  #editsOf(asked: Asked): Map<PendingRequest, AnswerEdit> {
    const { client, messages, session } = asked;
    const edits = new Map<PendingRequest, AnswerEdit>();
    for (const request of messages.requests) {
      const key = RESOURCE_LISTS[request.method];
      if (key !== undefined) {
        const shows = this.#deps.dialects.flatMap((dialect) => dialect.showResources?.(client) ?? []);
        if (shows.length > 0) edits.set(request, showResources(key, shows, client, this.#deps.limits));
      } else if (request.method === READ && request.subject !== undefined) {
        const maySpeak = session ? session.speaks !== undefined : !messages.era.hasSessions;
        const streaming = this.#deps.dialects.find((dialect) => dialect.streaming)?.streaming;
        if (maySpeak && streaming)
          edits.set(request, readByStream(request.subject, this.#remote(asked, streaming), this.#deps));
      }
    }
    return edits;
  }

  async #answerOne(request: PendingRequest, streaming: ResourceStreaming, asked: Asked): Promise<void> {
    const { exchange, messages, client } = asked;
    try {
      const sender = this.#sender(request, streaming, asked);
      await this.#serve(request, sender, asked);
    } catch (thrown) {
      const error = asGatewayError(thrown);
      if (OF_THE_EXCHANGE.has(error.code)) throw thrown;
      const isTold = noteOutcome(error, exchange);
      const level = thrown instanceof ServerError ? 'warn' : undefined;
      if (isTold) reportError(this.#deps, error, 'a resource could not be streamed', { exchange, level });
      if (exchange.reply.begun) exchange.reply.abort();
      else if (isTold) answerLocally(exchange, messages, { error: rpcErrorOf(thrown, streaming, client) });
    }
  }

  /** A batch has one body for all its answers, so its streams become links. */
  async #answerBatch(streaming: ResourceStreaming, asked: Asked): Promise<void> {
    const remote = this.#remote(asked, streaming);
    const edits = new Map<PendingRequest, AnswerEdit>();
    for (const request of asked.messages.requests) {
      if (request.method !== streaming.method) continue;
      const sender = this.#sender(request, streaming, asked);
      if (await ownUri(this.#deps.cut.library, sender.order.uri, asked.exchange.principal))
        throw new GatewayError('request_invalid', {
          reason: `${request.method} of Wharf's own cannot be in a batch; send it by itself`,
        });
      edits.set(request, linkInstead(sender, remote, this.#deps));
    }
    await this.#host.forward(asRead(asked, edits, streaming));
  }

  /** @throws GatewayError `stream_refused` for a client that does not take streams, `params_invalid` */
  #sender(
    { params }: PendingRequest,
    streaming: ResourceStreaming,
    { exchange, messages, client }: Asked,
  ): StreamSender {
    const taken = streaming.takenBy(client);
    if (!taken)
      throw new GatewayError('stream_refused', { reason: 'undeclared', text: 'The client takes no streams.' });
    const order = { uri: streaming.read(params), streaming, client, maxBytes: taken.maxBytes };
    return new StreamSender(order, exchange, messages, this.#deps);
  }

  async #serve(request: PendingRequest, sender: StreamSender, asked: Asked): Promise<void> {
    const { exchange, inquire } = asked;
    const { streaming, uri } = sender.order;
    const { library } = this.#deps.cut;
    const own = await ownUri(library, uri, exchange.principal);
    if (own) {
      await this.#host.judge(asked);
      return sender.send(await this.#ownFile(own, exchange));
    }
    const remote = this.#remote(asked, streaming);
    if (!this.#host.opener(asked)) return this.#serveShared(request, sender, asked);
    // for an answer that is refused by its HTTP status
    const read = asRead(asked, new Map([[request, linkInstead(sender, remote, this.#deps)]]), streaming);
    const context = await remote({ to: { inquire, signal: exchange.signal } });
    const streamed = context && (await twice(() => openRemote(uri, context)).catch(unlessOnlyRead));
    if (streamed) return sender.send(streamed);
    await this.#host.forward(read, async (answer) => {
      const { kind, status } = answer;
      if (kind === 'bytes' || kind === 'none') {
        if (OF_HTTP.has(status)) return false;
        answer.body.destroy();
        // passed on, it would look like the resource itself
        throw new GatewayError('upstream_refused', { server: this.#deps.server, status });
      }
      if (status !== 200) return false;
      await new LiveResource({ answer, kind, id: request.id }, sender, asked, this.#deps).run();
      return true;
    });
  }

  /** On a channel for all messages one client must not hold up the others: its bytes go through the store. */
  async #serveShared(request: PendingRequest, sender: StreamSender, asked: Asked): Promise<void> {
    const { exchange } = asked;
    const { streaming } = sender.order;
    const { library, held } = this.#deps.cut;
    const owner = { principal: exchange.principal, server: this.#deps.server };
    const { reply } = exchange;
    const collected = new CollectedReply({ id: request.id, held, owner, instead: reply });
    let item: StreamItem | undefined;
    let isKept = false;
    const edit = linkInstead(sender, this.#remote(asked, streaming), this.#deps, (taken) => {
      item = taken;
    });
    const read = asRead(asked, new Map([[request, edit]]), streaming);
    const headers = { ...exchange.headers, accept: 'application/json' };
    try {
      await this.#host.forward({ ...read, exchange: { ...exchange, reply: collected, headers } });
      if (collected.failure) throw collected.failure;
      const content = item as StreamItem | undefined;
      if (!content) return passOn(collected, request.id, reply);
      await this.#held(content, exchange, () =>
        sender.send(content, () => {
          isKept = true;
        }),
      );
    } finally {
      collected.release();
      const stored = (item as StreamItem | undefined)?.stored;
      if (stored && !isKept) library.discardUnrecorded({ key: stored.key, principal: exchange.principal });
    }
  }

  /** Bytes that their message no longer holds are still in memory, and counted here. */
  async #held({ held = 0 }: StreamItem, { principal }: Exchange, run: () => Promise<void>): Promise<void> {
    const budget = this.#deps.cut.held;
    const owner = { principal, server: this.#deps.server };
    try {
      budget.add(held, owner);
      await run();
    } finally {
      budget.add(-held, owner);
    }
  }

  async #ownFile(own: OwnUri, { principal, signal }: Exchange): Promise<StreamItem> {
    const { library } = this.#deps.cut;
    const { uri } = own;
    const refusal = (why: Parameters<typeof noFileText>[0]) =>
      new GatewayError('stream_refused', { reason: 'resourceNotFound', uri, text: noFileText(why) });
    if ('why' in own) throw refusal({ kind: own.why });
    const found = await library.open(own.handle, principal, signal);
    if (found.kind !== 'ready') throw refusal(found);
    const { record } = found;
    if (!(await library.touch(record.id))) throw refusal({ kind: 'expired' });
    return { ...inStore(record, library), name: record.name, mimeType: record.mimeType, record };
  }

  /** How to request streams from the server itself, if it has declared them. */
  #remote(asked: Asked, streaming: ResourceStreaming): Remote {
    const { exchange, messages, session, client } = asked;
    const name = this.#deps.dialects.find((dialect) => dialect.streaming === streaming)?.name ?? '';
    const open = this.#host.opener(asked);
    return async ({ to }) => {
      const inquire = open ? asked.inquire : to.inquire;
      const view = viewOf(client.protocolVersion, exchange.principal);
      const isAsked = !session && !messages.era.hasSessions;
      const { speaks } = isAsked ? await this.#abilities.of(view, asking(inquire)) : { ...session };
      if (!speaks?.includes(name)) return undefined;
      // Wharf declares what a stateless client cannot do itself
      const declared = messages.era.describesClient ? declaredBy(this.#deps) : undefined;
      const meta = declared && { _meta: { [META_CAPABILITIES]: declared } };
      const { principal } = exchange;
      return { streaming, server: { open, inquire }, deps: this.#deps, principal, signal: to.signal, meta };
    };
  }
}

/** The Accept that MCP requires for reading: the request for a stream has its own, which servers refuse. */
const READS_BOTH = 'application/json, text/event-stream';

/**
 * Rewrites every request for a stream as `resources/read`, with only that method's parameters; the rest stays
 * unchanged. The client's own Accept applies to its answer.
 * @param answers the edits of the streams' answers
 */
function asRead(asked: Asked, answers: ReadonlyMap<PendingRequest, AnswerEdit>, streaming: ResourceStreaming): Asked {
  const edited = withEdits(asked, answers);
  const { exchange, messages } = edited;
  const document = JsonDocument.of(messages.bytes, messages.isBatch, { principal: exchange.principal });
  const edits = new Edits(document);
  for (const { base, params } of answers.keys()) {
    const { uri, _meta } = params;
    edits.set([...base, 'method'], READ);
    edits.set([...base, 'params'], { uri: uri ?? null, ...(isObject(_meta) && { _meta }) });
  }
  document.find(edits.paths());
  refuseDuplicates(document);
  const read = {
    ...messages,
    bytes: Buffer.concat(edits.applied().pieces as readonly Buffer[]),
    firstMethod: messages.firstMethod === streaming.method ? READ : messages.firstMethod,
  };
  return {
    ...edited,
    exchange: { ...exchange, headers: { ...exchange.headers, accept: READS_BOTH } },
    messages: read,
  };
}

/** Gives a client the collected answer after all. */
function passOn({ headGiven, answer }: CollectedReply, id: string, reply: Reply): void {
  if (!reply.gone) reply.all(headGiven ?? { status: 200, body: 'values' }, answer ?? Buffer.alloc(0), [id]);
}
