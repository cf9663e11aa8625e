import type { HeldBudget } from '../../budget/held.js';
import { GatewayError } from '../../errors.js';
import type { FileRecord } from '../../files/file.js';
import { absentCaller } from '../../identity/identities.js';
import { isObject } from '../../json/value.js';
import { NEWEST, OWN_VERSION } from '../../mcp/era.js';
import { META_CAPABILITIES, META_CLIENT, META_VERSION } from '../../mcp/request.js';
import type { Limits, Timeouts } from '../../policy/limits.js';
import type { JsonObject, JsonValue } from '../../ports/json.js';
import { parseJson } from '../../wire/json/parse.js';
import { CollectedReply } from '../client/collected-reply.js';
import { type Exchange, noFacts } from '../exchange.js';
import { deadline } from '../upstream/deadline.js';

const CLIENT = { name: 'wharf', version: '1' };

/** Time-out for telling a server that a session is over. */
const FAREWELL_MS = 10_000;

/** What Wharf's own client connects to. */
export interface Endpoint {
  name: string;
  post(exchange: Exchange): Promise<void>;
  remove(exchange: Exchange): Promise<void>;
}

export interface OwnClientDeps {
  endpoint: Endpoint;
  /** The caller it acts for. */
  principal: string;
  limits: Pick<Limits, 'response'>;
  timeouts: Pick<Timeouts, 'upstream'>;
  held: HeldBudget;
}

/** The answer to an exchange of Wharf's own. */
interface OwnResult {
  result: JsonObject;
  /** The file that Wharf has made of the first content of a resource. */
  content: FileRecord | undefined;
}

interface Answered extends Pick<OwnResult, 'content'> {
  status: number;
  message: JsonObject | undefined;
  session: string | undefined;
  /** Why the answer cannot be used. */
  failure: GatewayError | undefined;
}

/**
 * Wharf as a client of its own endpoint, when no client's session is open. Its exchanges are ordinary ones, over any
 * transport of the server, and large files in the answers are stored as they arrive.
 */
export class OwnClient {
  readonly #deps: OwnClientDeps;

  constructor(deps: OwnClientDeps) {
    this.#deps = deps;
  }

  /**
   * Sends one request in its own session, within `timeouts.upstream` in total.
   * @param take uses the answer, which counts against `limits.held` until then
   * @throws GatewayError `upstream_invalid` when it is refused, `upstream_timeout`, `response_too_large`, `held_full`
   */
  async request<Value>(
    { method, params, name }: { method: string; params: JsonObject; name: string },
    outer: AbortSignal,
    take: (own: OwnResult) => Promise<Value>,
  ): Promise<Value> {
    const { endpoint, timeouts } = this.#deps;
    const facts = { server: endpoint.name, limit: 'timeouts.upstream', allowed: timeouts.upstream };
    const { signal, clear } = deadline(outer, timeouts.upstream, () => new GatewayError('upstream_timeout', facts));
    const talk = new Talk(this.#deps, signal);
    try {
      const answered = await talk.ask(method, params, name);
      // the time-out does not include the use of the answer
      clear();
      return await take(resultOf(answered, method));
    } finally {
      clear();
      talk.release();
      // the caller need not wait for the end of the session
      void talk.end();
    }
  }
}

/** What an exchange of Wharf's own says. */
interface OwnExchange {
  body?: Buffer;
  headers: Record<string, string>;
  signal: AbortSignal;
  /** The answer is there, or there will be none. */
  enough: () => void;
  /** Of its request. */
  id?: JsonValue | undefined;
}

/** One such session, or its equivalent for a server without sessions. */
class Talk {
  readonly #deps: OwnClientDeps;
  readonly #signal: AbortSignal;
  readonly #replies: CollectedReply[] = [];
  #headers: Record<string, string> | undefined;

  constructor(deps: OwnClientDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
  }

  async ask(method: string, params: JsonObject, name: string): Promise<Answered> {
    const opening = { protocolVersion: OWN_VERSION, capabilities: {}, clientInfo: CLIENT };
    const opened = await this.#post({ id: 0, method: 'initialize', params: opening }, {});
    const agreed = isObject(opened.message?.result) ? opened.message.result.protocolVersion : undefined;
    if (opened.session === undefined || typeof agreed !== 'string') return this.#stateless(method, params, name);
    const headers = { 'mcp-session-id': opened.session, 'mcp-protocol-version': agreed };
    this.#headers = headers;
    await this.#post({ method: 'notifications/initialized' }, headers);
    return this.#post({ id: 1, method, params }, headers);
  }

  /** Releases the answers. */
  release(): void {
    for (const reply of this.#replies) reply.release();
  }

  async end(): Promise<void> {
    if (!this.#headers) return;
    const signal = AbortSignal.timeout(FAREWELL_MS);
    await this.#deps.endpoint
      .remove(this.#exchange({ headers: this.#headers, signal, enough: () => {} }))
      .catch(() => {});
  }

  /** For a server without sessions. */
  async #stateless(method: string, params: JsonObject, name: string): Promise<Answered> {
    const { version } = NEWEST;
    const _meta = { [META_VERSION]: version, [META_CAPABILITIES]: {}, [META_CLIENT]: CLIENT };
    const headers = { 'mcp-protocol-version': version, 'mcp-method': method, 'mcp-name': name };
    return this.#post({ id: 1, method, params: { ...params, _meta } }, headers);
  }

  async #post(message: JsonObject, headers: Record<string, string>): Promise<Answered> {
    // a stream may stay open after the answer, as long as its server likes
    const over = new AbortController();
    const abort = () => over.abort(this.#signal.reason);
    if (this.#signal.aborted) abort();
    this.#signal.addEventListener('abort', abort, { once: true });
    // not now: the writer of the answer has not finished
    const enough = () => void setImmediate(() => over.abort(new GatewayError('internal', {}, 'the answer is there')));
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
    const exchange = this.#exchange({ body, headers, signal: over.signal, enough, id: message.id });
    const { reply } = exchange;
    try {
      await this.#deps.endpoint.post(exchange);
    } catch (error) {
      if (!reply.answer && !reply.failure) throw error;
    } finally {
      this.#signal.removeEventListener('abort', abort);
    }
    this.#signal.throwIfAborted();
    const { answer, failure, headGiven } = reply;
    return {
      status: headGiven?.status ?? 200,
      message: answer && (parseJson(answer.toString('utf8')) as JsonObject),
      session: headGiven?.session?.id,
      content: exchange.facts.content,
      failure,
    };
  }

  #exchange({ body, headers, signal, enough, id = null }: OwnExchange): Exchange & { reply: CollectedReply } {
    const { principal, limits, held, endpoint } = this.#deps;
    const owner = { principal, server: endpoint.name };
    const reply = new CollectedReply({ id: JSON.stringify(id), held, owner, most: limits.response, enough });
    this.#replies.push(reply);
    return {
      headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
      body: body ?? Buffer.alloc(0),
      reply,
      identity: absentCaller(principal),
      principal,
      signal,
      facts: noFacts(),
    };
  }
}

/** @throws GatewayError */
function resultOf({ message, content, status, failure }: Answered, method: string): OwnResult {
  if (failure) throw failure;
  if (isObject(message?.result)) return { result: message.result, content };
  const told = isObject(message?.error) ? message.error.message : undefined;
  const why = typeof told === 'string' ? told.slice(0, 200).replace(/\.$/, '') : `HTTP ${status}`;
  throw new GatewayError('upstream_invalid', { reason: `${method} was refused: ${why}` });
}
