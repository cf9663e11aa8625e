import type { HeldBudget } from '../../budget/held.js';
import { GatewayError } from '../../errors.js';
import type { FileRecord } from '../../files/file.js';
import { isObject } from '../../json/value.js';
import { META_CAPABILITIES, META_CLIENT, META_VERSION, STATELESS_VERSIONS } from '../../mcp/request.js';
import type { Limits, Timeouts } from '../../policy/limits.js';
import type { JsonObject, JsonValue } from '../../ports/json.js';
import { type Exchange, noFacts } from '../exchange.js';
import { deadline } from '../upstream/deadline.js';
import { OwnResponse } from '../upstream/own-response.js';

const CLIENT = { name: 'wharf', version: '1' };
const LEGACY_VERSION = '2025-06-18';

/** How long a server may take to hear that a session is over. */
const FAREWELL_MS = 10_000;

/** What Wharf's own client is a client of. */
export interface Endpoint {
  name: string;
  post(exchange: Exchange): Promise<void>;
  remove(exchange: Exchange): Promise<void>;
}

export interface OwnClientDeps {
  endpoint: Endpoint;
  /** For whom. */
  principal: string;
  limits: Pick<Limits, 'response' | 'depth'>;
  timeouts: Pick<Timeouts, 'upstream'>;
  held: HeldBudget;
}

/** What an exchange of Wharf's own was answered with. */
interface OwnResult {
  result: JsonObject;
  /** What Wharf has made a file of: the first content of a resource. */
  content: FileRecord | undefined;
}

interface Answered extends Pick<OwnResult, 'content'> {
  status: number;
  message: JsonObject | undefined;
  session: string | undefined;
  /** Why nothing can be read of it. */
  failure: GatewayError | undefined;
}

/**
 * Wharf as a client of its own endpoint, for what no client's session is open for: its exchanges are like any other's,
 * whatever transport the server has, and large files in the answers are stored while they arrive.
 */
export class OwnClient {
  readonly #deps: OwnClientDeps;

  constructor(deps: OwnClientDeps) {
    this.#deps = deps;
  }

  /**
   * One request on a session of its own, within `timeouts.upstream` in all.
   * @param take what the answer is for; it counts against `limits.held` until then
   * @throws GatewayError `upstream_invalid` where it is refused, `upstream_timeout`, `response_too_large`, `held_full`
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
      // from here on it is the taker's time
      clear();
      return await take(resultOf(answered, method));
    } finally {
      clear();
      talk.release();
      // nobody who waits for the answer waits for the end of the session
      void talk.end();
    }
  }
}

/** One such session, or what stands for one where there are none. */
class Talk {
  readonly #deps: OwnClientDeps;
  readonly #signal: AbortSignal;
  readonly #responses: OwnResponse[] = [];
  #headers: Record<string, string> | undefined;

  constructor(deps: OwnClientDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
  }

  async ask(method: string, params: JsonObject, name: string): Promise<Answered> {
    const opening = { protocolVersion: LEGACY_VERSION, capabilities: {}, clientInfo: CLIENT };
    const opened = await this.#post({ id: 0, method: 'initialize', params: opening }, {});
    const agreed = isObject(opened.message?.result) ? opened.message.result.protocolVersion : undefined;
    if (opened.session === undefined || typeof agreed !== 'string') return this.#stateless(method, params, name);
    const headers = { 'mcp-session-id': opened.session, 'mcp-protocol-version': agreed };
    this.#headers = headers;
    await this.#post({ method: 'notifications/initialized' }, headers);
    return this.#post({ id: 1, method, params }, headers);
  }

  /** The answers are not used any more. */
  release(): void {
    for (const response of this.#responses) response.release();
  }

  async end(): Promise<void> {
    if (!this.#headers) return;
    const signal = AbortSignal.timeout(FAREWELL_MS);
    await this.#deps.endpoint.remove(this.#exchange(undefined, this.#headers, signal, () => {})).catch(() => {});
  }

  /** 2026-07-28: there are no sessions. */
  async #stateless(method: string, params: JsonObject, name: string): Promise<Answered> {
    const version = STATELESS_VERSIONS.at(-1) as string;
    const _meta = { [META_VERSION]: version, [META_CAPABILITIES]: {}, [META_CLIENT]: CLIENT };
    const headers = { 'mcp-protocol-version': version, 'mcp-method': method, 'mcp-name': name };
    return this.#post({ id: 1, method, params: { ...params, _meta } }, headers);
  }

  async #post(message: JsonObject, headers: Record<string, string>): Promise<Answered> {
    // a stream may stay open behind the answer, for as long as its server likes
    const over = new AbortController();
    const abort = () => over.abort(this.#signal.reason);
    if (this.#signal.aborted) abort();
    this.#signal.addEventListener('abort', abort, { once: true });
    // not now: whoever wrote the answer is not done with it
    const enough = () => void setImmediate(() => over.abort(new GatewayError('internal', {}, 'the answer is there')));
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
    const exchange = this.#exchange(body, headers, over.signal, enough, message.id);
    const { response } = exchange;
    try {
      await this.#deps.endpoint.post(exchange);
    } catch (error) {
      if (!response.answer && !response.failure) throw error;
    } finally {
      this.#signal.removeEventListener('abort', abort);
    }
    this.#signal.throwIfAborted();
    const session = response.headers['mcp-session-id'];
    return {
      status: response.status,
      message: response.answer && (JSON.parse(response.answer.skeleton().toString('utf8')) as JsonObject),
      session: typeof session === 'string' ? session : undefined,
      content: exchange.facts.content,
      failure: response.failure,
    };
  }

  #exchange(
    body: Buffer | undefined,
    headers: Record<string, string>,
    signal: AbortSignal,
    enough: () => void,
    id: JsonValue = null,
  ): Exchange & { response: OwnResponse } {
    const { principal, limits, held, endpoint } = this.#deps;
    const owner = { principal, server: endpoint.name };
    const response = new OwnResponse({ id: JSON.stringify(id), limits, held, owner }, enough);
    this.#responses.push(response);
    return {
      headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
      body: body ?? Buffer.alloc(0),
      response,
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
