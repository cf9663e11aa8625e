import { setMaxListeners } from 'node:events';
import type { Readable } from 'node:stream';
import { breathe } from '../budget/turn.js';
import { asGatewayError, GatewayError } from '../errors.js';
import { errorAnswer } from '../mcp/error-response.js';
import { toUpstreamHeaders } from '../mcp/headers.js';
import { CANCELLED, type ClientMessages, readMessages } from '../mcp/request.js';
import { idIn } from '../mcp/request-id.js';
import { knownId } from '../mcp/responses.js';
import type { TooLongArgument } from '../mcp/shortened-body.js';
import type { OpenedSession } from '../relay/reply.js';
import { type CallEnd, type CallRequest, Calls, type LineDeps } from './calls.js';
import { inputLines, type MessageLine } from './input.js';
import type { LineReply } from './line-reply.js';
import { pause } from './pause.js';
import { unansweredLine } from './unanswered.js';

/** How long to wait for a message that must arrive before the next one (a notification, an answer). */
const IN_ORDER_MS = 10_000;

/** How often a broken stream is resumed without anything new on it. */
const MAX_RESUMES = 5;
const RESUME_MS = 1000;
const LONGEST_RESUME_MS = 30_000;
/** A server may ask for no pause, and end each stream at once: for as long as its session lasts. */
const SHORTEST_RESUME_MS = 200;

/** Time-out for telling the server that its session is over. */
const FAREWELL_MS = 1000;

const INITIALIZED = 'notifications/initialized';

/** Why it ended: the client closed its end, or the server forgot the session, from which a client cannot recover. */
type FaceEnd = 'input ended' | 'session lost';

interface FaceOptions extends LineDeps {
  input: Readable;
}

/** What becomes of the requests of one POST, wherever it is heard. */
type Heard = Required<Pick<CallRequest, 'answered' | 'unreadable'>>;

/** An unanswered request of the client's. */
interface Open {
  reply: LineReply | undefined;
  cancelled: boolean;
  /** In which it is made. */
  session: OpenedSession | undefined;
}

/**
 * MCP over standard input and output in front of one server: each line is an exchange, which the same relay handles as
 * those of HTTP clients. There is one session, whose GET stream goes to the output too; a second `initialize` opens another
 * in its place, as programs send that let several clients share one server.
 */
export class StdioFace {
  readonly #options: FaceOptions;
  readonly #calls: Calls;
  readonly #open = new Map<string, Open>();
  readonly #running = new Set<Promise<void>>();
  #session: OpenedSession | undefined;
  /** Why there is no session. */
  #notOpened = new GatewayError('session_required', { face: 'stdio' });
  /** The session whose stream is read, or was until it ended. */
  #heard: OpenedSession | undefined;
  #isStopped = false;
  readonly #over: Promise<FaceEnd | 'stopped'>;
  #end: (how: FaceEnd | 'stopped') => void = () => undefined;
  /** Ends the pauses, of which there may be many before it: a race with `#over` would be remembered for each. */
  readonly #stopping = new AbortController();

  constructor(options: FaceOptions) {
    this.#options = options;
    this.#calls = new Calls(options);
    // each request that is resumed listens, and node warns from the eleventh on
    setMaxListeners(0, this.#stopping.signal);
    this.#over = new Promise((resolve) => {
      this.#end = (how) => {
        resolve(how);
        this.#stopping.abort();
      };
    });
  }

  /** Resolves when everything is finished and written, or `timeouts.drain` after its end. */
  async run(): Promise<FaceEnd> {
    const { output, timeouts } = this.#options;
    const readAll = this.#readInput().then(() => 'input ended' as const);
    const how = await Promise.race([readAll, this.#over]);
    const late = pause(timeouts.drain);
    if (how === 'input ended') await Promise.race([this.#settled(), late, this.#over]);
    this.stop();
    await Promise.race([this.#farewell(), pause(FAREWELL_MS)]);
    // a client may have stopped reading without closing its end
    await Promise.race([output.flushed(), late]);
    return how === 'session lost' ? how : 'input ended';
  }

  /** Ends everything that is running; `run` resolves soon. */
  stop(): void {
    this.#isStopped = true;
    this.#end('stopped');
    this.#options.input.destroy();
    this.#calls.stop();
  }

  async #readInput(): Promise<void> {
    const { input, server, identity, held, log, output } = this.#options;
    const { principal } = identity;
    try {
      for await (const line of inputLines(input, server.limits, held, { principal, server: server.name })) {
        await breathe({ principal, server: server.name });
        if (this.#isStopped) return;
        if ('error' in line) await output.line(errorAnswer(line.error, line.id));
        else await this.#take(line);
      }
    } catch (error) {
      if (!this.#isStopped) log.warn({ err: error }, 'standard input broke off');
    }
  }

  /** Resolves when the next line may be read: messages must not overtake those they depend on. */
  async #take({ bytes, tooLong }: MessageLine): Promise<void> {
    let messages: ClientMessages;
    try {
      messages = await readMessages(bytes, this.#options.server.limits);
    } catch (error) {
      return this.#options.output.line(errorAnswer(asGatewayError(error), idIn([bytes])));
    }
    const { firstMethod, requests } = messages;
    if (firstMethod === CANCELLED && requests.length === 0) return this.#cancel(messages);
    if (requests.length > 0 && this.#calls.size >= this.#options.server.limits.connections)
      return this.#refuse(messages);
    const before = [...this.#running];
    const session = this.#session;
    // a process may say something at once, which would find no stream; over HTTP the server may refuse it before
    if (firstMethod === INITIALIZED && session?.channel === 'shared')
      await Promise.race([this.#listen(), pause(IN_ORDER_MS)]);
    const done = this.#post(messages, { session, tooLong });
    this.#running.add(done);
    void done.finally(() => this.#running.delete(done));
    if (messages.initialize) {
      await Promise.race([done, this.#over]);
      if (session && this.#session !== session) void this.#leave(session, before);
    } else if (requests.length === 0) await Promise.race([done, pause(IN_ORDER_MS)]);
    if (firstMethod === INITIALIZED) void this.#listen();
  }

  async #refuse({ requests }: ClientMessages): Promise<void> {
    const { server, output } = this.#options;
    const facts = { server: server.name, limit: 'limits.connections', allowed: server.limits.connections };
    for (const { id } of requests) await output.line(errorAnswer(new GatewayError('connection_limit', facts), id));
  }

  async #post(
    messages: ClientMessages,
    { session, tooLong }: { session: OpenedSession | undefined; tooLong?: TooLongArgument | undefined },
  ): Promise<void> {
    const { server, output } = this.#options;
    const call: Open = { reply: undefined, cancelled: false, session };
    const pending = new Set(messages.requests.map(({ id }) => id));
    for (const id of pending) this.#open.set(id, call);
    const heard: Heard = {
      answered: (id) => void pending.delete(knownId(pending, id)),
      unreadable: async (ids) => {
        const owed = ids.map((id) => knownId(pending, id)).filter((id) => pending.delete(id));
        const error = new GatewayError('upstream_invalid', { server: server.name, reason: 'it is not valid JSON' });
        if (!call.cancelled) for (const id of owed) await output.line(errorAnswer(error, id));
      },
    };
    const begun = this.#calls.begin('POST', {
      headers: headersOf(messages, session),
      body: messages.bytes,
      tooLong,
      ...heard,
    });
    call.reply = begun.reply;
    let ended = await begun.end;
    if (messages.initialize) {
      this.#session = begun.reply.session ?? this.#session;
      if (ended.error) this.#notOpened = ended.error;
    }
    // a stdio client must do something else about it than one over HTTP
    if (ended.error?.code === 'session_required') ended = { ...ended, error: this.#notOpened };
    if (!ended.error && ended.reply.refusal === undefined && pending.size > 0) {
      ended = await this.#resume(ended, call, pending, heard);
    }
    if (!call.cancelled && !this.#isStopped) {
      for (const id of pending) await output.line(unansweredLine(id, server.name, ended));
    }
    for (const id of messages.requests.map((request) => request.id)) {
      if (this.#open.get(id) === call) this.#open.delete(id);
    }
    if (session && session === this.#session && isSessionLost(ended)) this.#end('session lost');
  }

  /** MCP 2025-11-25: a stream may end before its answer; the client requests the rest by the last event's id. */
  async #resume(ended: CallEnd, call: Open, pending: ReadonlySet<string>, heard: Heard): Promise<CallEnd> {
    let last = ended;
    for (let tries = 0; tries < MAX_RESUMES && pending.size > 0; tries++) {
      const { resumption } = last.reply;
      if (!resumption || call.cancelled || this.#isStopped) break;
      await this.#pauseBefore(resumption);
      if (call.cancelled || this.#isStopped) break;
      const headers = { ...streamHeaders(call.session), 'last-event-id': resumption.lastEventId };
      const endWhenDone = (): void => {
        if (pending.size === 0) setImmediate(() => begun.reply.abort());
      };
      const begun = this.#calls.begin('GET', {
        headers,
        answered: (id) => {
          heard.answered(id);
          endWhenDone();
        },
        unreadable: (ids) => heard.unreadable(ids).then(endWhenDone),
      });
      call.reply = begun.reply;
      last = await begun.end;
      if (last.reply.resumption && last.reply.resumption.lastEventId !== resumption.lastEventId) tries = -1;
    }
    return last;
  }

  /** As long as the server has asked for, within bounds. */
  #pauseBefore(resumption: LineReply['resumption']): Promise<void> {
    const wanted = resumption?.retryMs ?? RESUME_MS;
    return pause(Math.min(Math.max(wanted, SHORTEST_RESUME_MS), LONGEST_RESUME_MS), this.#stopping.signal);
  }

  /** Reads the server's own messages from their stream, while there is one. Resolves when it has begun. */
  async #listen(): Promise<void> {
    const session = this.#session;
    if (!session || this.#heard === session) return;
    this.#heard = session;
    const { reply, end } = this.#calls.begin('GET', { headers: streamHeaders(session) });
    void this.#keepListening(session, end);
    await Promise.race([reply.opened, end]);
  }

  async #keepListening(session: OpenedSession, first: Promise<CallEnd>): Promise<void> {
    let lastEventId: string | undefined;
    for (let end = first; ; ) {
      const ended = await end;
      if (this.#isStopped || session !== this.#session) return;
      if (isSessionLost(ended)) return this.#end('session lost');
      // 405: a server need not offer this stream
      if (ended.reply.refusal !== undefined || ended.error?.code === 'method_not_allowed') return;
      const { resumption } = ended.reply;
      lastEventId = resumption?.lastEventId ?? lastEventId;
      await this.#pauseBefore(resumption);
      if (this.#isStopped || session !== this.#session) return;
      const headers = streamHeaders(session);
      if (lastEventId !== undefined) headers['last-event-id'] = lastEventId;
      end = this.#calls.begin('GET', { headers }).end;
    }
  }

  /** Ends a session that another has replaced, with its process, once the requests made in it are answered. */
  async #leave(session: OpenedSession, requests: readonly Promise<void>[]): Promise<void> {
    await Promise.race([Promise.allSettled(requests), this.#over]);
    if (!this.#isStopped) await this.#calls.begin('DELETE', { headers: streamHeaders(session) }).end;
  }

  /** Tells the server, unless closing the stream does so (2026-07-28); no answer is awaited. */
  async #cancel(messages: ClientMessages): Promise<void> {
    const call = this.#open.get(messages.cancelled[0] ?? '');
    // first: the call may end by what the relay does about it
    if (call) call.cancelled = true;
    const session = call?.session ?? this.#session;
    if (session) await Promise.race([this.#post(messages, { session }), pause(IN_ORDER_MS)]);
    call?.reply?.abort();
  }

  async #settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled([...this.#running]);
  }

  async #farewell(): Promise<void> {
    if (this.#session) await this.#calls.begin('DELETE', { headers: streamHeaders(this.#session) }).end;
  }
}

/** Headers that an HTTP client would send, made from the message so that they match it. */
function headersOf(messages: ClientMessages, session: OpenedSession | undefined): Record<string, string> {
  const version = messages.initialize ? undefined : session?.version;
  const headers = toUpstreamHeaders(
    version === undefined ? {} : { 'mcp-protocol-version': version },
    messages,
    undefined,
  );
  if (session && !messages.initialize && messages.era.hasSessions) headers['mcp-session-id'] = session.id;
  return headers;
}

function streamHeaders(session: OpenedSession | undefined): Record<string, string> {
  const headers: Record<string, string> = { accept: 'text/event-stream' };
  if (session) Object.assign(headers, { 'mcp-protocol-version': session.version, 'mcp-session-id': session.id });
  return headers;
}

function isSessionLost({ error }: CallEnd): boolean {
  return error?.code === 'session_unknown';
}
