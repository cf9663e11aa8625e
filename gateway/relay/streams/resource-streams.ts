import { asGatewayError, GatewayError } from '../../errors.js';
import { inOrder, replaceRange } from '../../json/edits.js';
import { locate } from '../../json/locate.js';
import { isObject } from '../../json/value.js';
import { asking, type Inquire } from '../../mcp/inquire.js';
import { type ClientMessages, META_CAPABILITIES } from '../../mcp/request.js';
import type { ClientFacts } from '../../ports/client.js';
import type { ResourceStreaming } from '../../ports/resource-streaming.js';
import type { UpstreamAnswer } from '../../ports/upstream.js';
import { CapturedResponse } from '../client/captured-response.js';
import { answerLocally, onlyRequest } from '../client/local-answer.js';
import { type Exchange, noteError } from '../exchange.js';
import type { PendingRequest } from '../pending-request.js';
import type { ResultDeps } from '../results/deps.js';
import type { Session } from '../session.js';
import { declaredBy } from '../upstream/declared.js';
import type { OwnHttpRequest } from '../upstream/own-request.js';
import { ServerDialects } from '../upstream/server-dialects.js';
import { viewOf } from '../upstream/view.js';
import { linkInstead, type Remote, readByStream } from './edit.js';
import { inStore, type StreamItem } from './item.js';
import { LiveResource } from './live.js';
import { rpcErrorOf } from './refusal.js';
import { openRemote, twice } from './remote.js';
import { RESOURCE_LISTS, showResources } from './resource-list.js';
import { StreamSender } from './send.js';

/** What every server has; the method of a dialect is asked of it as this one. */
const READ = 'resources/read';

/** These are about the request or its session, and clients tell them by their HTTP status. */
const OF_THE_EXCHANGE = new Set(['session_required', 'session_unknown', 'version_unsupported', 'meta_missing']);

/** What clients of a server are told by these statuses is for them: to authorize themselves, to initialize again. */
const OF_HTTP = new Set([401, 403, 404]);

/** The way to one server, whatever its transport. */
export interface StreamHost {
  forward(
    exchange: Exchange,
    messages: ClientMessages,
    session: Session | undefined,
    probe?: (answer: UpstreamAnswer) => Promise<boolean>,
  ): Promise<void>;
  /** Requests of Wharf's own over HTTP; undefined where all messages share a channel. */
  own(
    exchange: Exchange,
    messages: ClientMessages,
    session: Session | undefined,
  ):
    | { open: (request: OwnHttpRequest) => Promise<{ id: string; answer: UpstreamAnswer }>; inquire: Inquire }
    | undefined;
}

interface Asked {
  exchange: Exchange;
  messages: ClientMessages;
  session: Session | undefined;
  client: ClientFacts;
}

/** Resources as streams of bytes: for clients of servers that only have `resources/read`, and the reverse. */
export class ResourceStreams {
  readonly #deps: ResultDeps;
  readonly #host: StreamHost;
  readonly #servers: ServerDialects;

  constructor(deps: ResultDeps, host: StreamHost) {
    this.#deps = deps;
    this.#host = host;
    this.#servers = new ServerDialects(deps.dialects);
  }

  /** Answers what asks for a stream. @returns false when nothing does: the messages go on, marked with what their answers need */
  async answer(asked: Asked): Promise<boolean> {
    const { messages } = asked;
    const streaming = this.#deps.dialects.find(
      ({ streaming: own }) => own && messages.requests.some(({ method }) => method === own.method),
    )?.streaming;
    if (!streaming) {
      this.#mark(asked);
      return false;
    }
    const request = onlyRequest(messages);
    if (!request) await this.#answerBatch(streaming, asked);
    else await this.#answerOne(request, streaming, asked);
    return true;
  }

  #mark(asked: Asked): void {
    const { client, messages, session } = asked;
    const pending: readonly PendingRequest[] = messages.requests;
    for (const request of pending) {
      const key = RESOURCE_LISTS[request.method];
      if (key !== undefined) {
        const shows = this.#deps.dialects.flatMap((dialect) => dialect.showResources?.(client) ?? []);
        if (shows.length > 0) request.edit = showResources(key, shows, client, this.#deps.limits);
      } else if (request.method === READ && request.subject !== undefined) {
        const maySpeak = session ? session.speaks !== undefined : messages.statelessVersion !== undefined;
        const streaming = this.#deps.dialects.find((dialect) => dialect.streaming)?.streaming;
        if (maySpeak && streaming)
          request.edit = readByStream(request.subject, this.#remote(asked, streaming), this.#deps);
      }
    }
  }

  async #answerOne(request: PendingRequest, streaming: ResourceStreaming, asked: Asked): Promise<void> {
    const { exchange, messages, client } = asked;
    try {
      const sender = this.#sender(request, streaming, asked);
      await this.#serve(request, sender, asked);
    } catch (thrown) {
      const error = asGatewayError(thrown);
      const { code, cause, facts } = error;
      if (OF_THE_EXCHANGE.has(code)) throw thrown;
      noteError(exchange.facts, error);
      if (!exchange.signal.aborted) {
        this.#deps.log.warn({ code, facts, err: cause ?? thrown }, 'a resource could not be streamed');
        this.#deps.metrics.count('wharf_errors_total', { code });
      }
      if (exchange.response.headersSent) exchange.response.destroy();
      else if (!exchange.signal.aborted)
        answerLocally(exchange, messages, { error: rpcErrorOf(thrown, streaming, client) });
    }
  }

  /** A batch has one body for all its answers, so its streams are links. */
  async #answerBatch(streaming: ResourceStreaming, asked: Asked): Promise<void> {
    const { exchange, messages, session } = asked;
    const pending: readonly PendingRequest[] = messages.requests;
    const streams = pending.filter(({ method }) => method === streaming.method);
    for (const request of streams) {
      const sender = this.#sender(request, streaming, asked);
      request.edit = linkInstead(sender, this.#remote(asked, streaming), this.#deps);
    }
    await this.#host.forward(reading(exchange), asRead(messages, streams, streaming), session);
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
    const { exchange, messages, session } = asked;
    const { streaming, uri } = sender.order;
    const { library } = this.#deps.cut;
    if (library.names(uri)) return sender.send(await this.#ownFile(uri, exchange));
    const remote = this.#remote(asked, streaming);
    const own = this.#host.own(exchange, messages, session);
    const read = asRead(messages, [request], streaming);
    if (!own) return this.#serveShared(request, read, sender, remote, asked);
    const context = await remote({ to: { inquire: own.inquire, signal: exchange.signal } });
    if (context) return sender.send(await twice(() => openRemote(uri, context)));
    // for an answer that is refused by its HTTP status
    request.edit = linkInstead(sender, remote, this.#deps);
    await this.#host.forward(reading(exchange), read, session, async (answer) => {
      const { kind, status } = answer;
      if (kind === 'bytes' || kind === 'none') {
        if (OF_HTTP.has(status)) return false;
        answer.body.destroy();
        // passed on it would look like the resource itself
        throw new GatewayError('upstream_refused', { server: this.#deps.server, status });
      }
      if (status !== 200) return false;
      await new LiveResource(answer, kind, request.id, sender, exchange, this.#deps).run();
      return true;
    });
  }

  /** On a channel for all messages nothing can be held up for one client: its bytes go by the store. */
  async #serveShared(
    request: PendingRequest,
    read: ClientMessages,
    sender: StreamSender,
    remote: Remote,
    { exchange, session }: Asked,
  ): Promise<void> {
    const { library } = this.#deps.cut;
    const owner = { principal: exchange.principal, server: this.#deps.server };
    const captured = new CapturedResponse(exchange.response, this.#deps.cut.held, owner);
    let item: StreamItem | undefined;
    let isKept = false;
    request.edit = linkInstead(sender, remote, this.#deps, (taken) => {
      item = taken;
    });
    const headers = { ...exchange.headers, accept: 'application/json' };
    try {
      await this.#host.forward({ ...exchange, response: captured, headers }, read, session);
      if (captured.failure) throw captured.failure;
      const content = item as StreamItem | undefined;
      if (!content) return captured.replay();
      await this.#held(content, exchange, () =>
        sender.send(content, () => {
          isKept = true;
        }),
      );
    } finally {
      captured.release();
      const stored = (item as StreamItem | undefined)?.stored;
      if (stored && !isKept) library.discard(stored.key);
    }
  }

  /** Bytes that no message holds any more are still in memory. */
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

  async #ownFile(uri: string, { principal, signal }: Exchange): Promise<StreamItem> {
    const { library } = this.#deps.cut;
    const found = await library.open(uri, principal, signal);
    if (found.kind !== 'ready' || !(await library.touch(found.record.id))) {
      throw new GatewayError('stream_refused', { reason: 'resourceNotFound', uri, text: 'There is no such file.' });
    }
    const { record } = found;
    return { ...inStore(record, library), name: record.name, mimeType: record.mimeType, record };
  }

  /** How the server itself is asked for streams, if it has declared them. */
  #remote({ exchange, messages, session, client }: Asked, streaming: ResourceStreaming): Remote {
    const name = this.#deps.dialects.find((dialect) => dialect.streaming === streaming)?.name ?? '';
    const own = this.#host.own(exchange, messages, session);
    return async ({ to }) => {
      const inquire = own?.inquire ?? to.inquire;
      const view = viewOf(client.protocolVersion, exchange.principal);
      const speaks = session
        ? (session.speaks ?? [])
        : messages.statelessVersion
          ? await this.#servers.of(view, asking(inquire))
          : [];
      if (!speaks.includes(name)) return undefined;
      // what a stateless client cannot do itself, Wharf can
      const declared = messages.statelessVersion === undefined ? undefined : declaredBy(this.#deps);
      const meta = declared && { _meta: { [META_CAPABILITIES]: declared } };
      const { principal } = exchange;
      return { streaming, server: { open: own?.open, inquire }, deps: this.#deps, principal, signal: to.signal, meta };
    };
  }
}

/** What MCP asks of a client that reads: the request for a stream has an Accept of its own, which servers refuse. */
const READS_BOTH = 'application/json, text/event-stream';

/** The exchange as one of a client that reads messages; what its own Accept allows is for the answer to it. */
function reading(exchange: Exchange): Exchange {
  return { ...exchange, headers: { ...exchange.headers, accept: READS_BOTH } };
}

/** The messages with every stream asked for as `resources/read`: only what that method defines, the rest as it came. */
function asRead(
  messages: ClientMessages,
  streams: readonly PendingRequest[],
  streaming: ResourceStreaming,
): ClientMessages {
  const paths = streams.flatMap(({ base }) => [
    [...base, 'method'],
    [...base, 'params'],
  ]);
  const { text, at, duplicate } = locate(messages.bytes, paths, messages.isBatch);
  if (duplicate) throw new GatewayError('file_key_duplicate', { path: duplicate.path, key: duplicate.key });
  const edits = streams.flatMap(({ base, params }) => {
    const method = at([...base, 'method']);
    const range = at([...base, 'params']);
    if (!method || !range) return [];
    const { uri, _meta } = params;
    const known = { uri: uri ?? null, ...(isObject(_meta) && { _meta }) };
    return [replaceRange(method, JSON.stringify(READ)), replaceRange(range, JSON.stringify(known))];
  });
  return {
    ...messages,
    bytes: Buffer.concat(text.render(inOrder(edits))),
    firstMethod: messages.firstMethod === streaming.method ? READ : messages.firstMethod,
  };
}
