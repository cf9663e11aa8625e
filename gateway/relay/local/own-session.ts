import type { HeldBudget } from '../../budget/held.js';
import { GatewayError } from '../../errors.js';
import type { FileRecord } from '../../files/file.js';
import { isObject } from '../../json/value.js';
import { eraOf, NEWEST } from '../../mcp/era.js';
import { META_CAPABILITIES, META_CLIENT, META_VERSION } from '../../mcp/meta-keys.js';
import type { Identity } from '../../ports/identity.js';
import type { JsonObject } from '../../ports/json.js';
import { parseJson } from '../../wire/json/parse.js';
import { weigh } from '../../wire/json/weigh.js';
import { CollectedReply } from '../client/collected-reply.js';
import { type Exchange, noFacts } from '../exchange.js';

/** Time-out for telling a server that a session is over. */
const FAREWELL_MS = 10_000;

/** What Wharf's own client connects to. */
export interface Endpoint {
  name: string;
  post(exchange: Exchange): Promise<void>;
  remove(exchange: Exchange): Promise<void>;
}

interface OwnSessionDeps {
  endpoint: Endpoint;
  /** The caller it acts for. */
  identity: Identity;
  clientInfo: { name: string; version: string };
  /** The revision that it asks for. */
  version: string;
  /** Most bytes of an answer, and the limit's name; and most values in it, which are parsed in one step. */
  most: { limit: string; bytes: number; values: { limit?: string; count: number } };
  held: HeldBudget;
}

/** A request in a session of Wharf's own. */
export interface SessionRequest {
  method: string;
  params: JsonObject;
  /** What `Mcp-Name` repeats. */
  name?: string;
  /** Further headers for a server without sessions. */
  headers?: Readonly<Record<string, string>>;
  /** Of the person for whom it is sent, for the log. */
  address?: string | undefined;
}

/** The answer to an exchange of Wharf's own. It counts against `limits.held` until it is released. */
export interface SessionAnswer {
  status: number;
  message: JsonObject | undefined;
  /** The file that Wharf has made of the first content of a resource. */
  content: FileRecord | undefined;
  /** Why the answer cannot be used. */
  failure: GatewayError | undefined;
  /** The error in the message, if Wharf has put it there. */
  thrown: GatewayError | undefined;
  release(): void;
}

interface Posted extends SessionAnswer {
  session: string | undefined;
}

/** How a session began. */
interface Opened {
  version: string;
  /** Of every request in it; undefined for a server without sessions. */
  headers: Record<string, string> | undefined;
  /** What the server answered instead of opening a session, until it answers something else. */
  refusal: SessionAnswer | undefined;
}

/**
 * A session of Wharf's own at one of its endpoints, or its equivalent at a server without sessions. Its exchanges are
 * ordinary ones, over any transport of the server, and large files in the answers are stored as they arrive.
 */
export class OwnSession {
  readonly #deps: OwnSessionDeps;
  #opening: Promise<Opened> | undefined;
  #opened: Opened | undefined;
  #lastId = 0;

  constructor(deps: OwnSessionDeps) {
    this.#deps = deps;
  }

  /** The revision that was agreed on; that asked for, before the first request. */
  get version(): string {
    return eraOf(this.#opened?.version ?? this.#deps.version).version;
  }

  /**
   * Sends a request, after opening the session where that has not been done.
   * @throws GatewayError and the reason of the signal
   */
  async ask(request: SessionRequest, signal: AbortSignal): Promise<SessionAnswer> {
    const { address, method, params } = request;
    const { headers, refusal } = await this.#open(signal, address);
    const id = ++this.#lastId;
    if (headers) return this.#post({ id, method, params }, { headers, address }, signal);
    const answer = await this.#stateless(request, id, signal);
    const isResult = isObject(answer.message?.result);
    if (isResult && this.#opened) this.#opened.refusal = undefined;
    // the server that refuses both ways has said why at the first one
    const { message, thrown } = refusal ?? {};
    return message && !isResult && !answer.failure ? { ...answer, message, thrown } : answer;
  }

  /** Ends it, where it has been opened. Never fails. */
  async end(): Promise<void> {
    const { headers } = this.#opened ?? {};
    this.#opened = undefined;
    this.#opening = undefined;
    if (!headers) return;
    const signal = AbortSignal.timeout(FAREWELL_MS);
    await this.#deps.endpoint.remove(this.#exchange({ headers, signal, enough: () => {} })).catch(() => {});
  }

  async #open(signal: AbortSignal, address: string | undefined): Promise<Opened> {
    this.#opening ??= this.#begin(signal, address);
    try {
      this.#opened = await this.#opening;
      return this.#opened;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  async #begin(signal: AbortSignal, address: string | undefined): Promise<Opened> {
    const { version, clientInfo } = this.#deps;
    const params = { protocolVersion: version, capabilities: {}, clientInfo };
    const opened = await this.#post({ id: 0, method: 'initialize', params }, { headers: {}, address }, signal);
    opened.release();
    if (opened.failure) throw opened.failure;
    const agreed = isObject(opened.message?.result) ? opened.message.result.protocolVersion : undefined;
    if (opened.session === undefined || typeof agreed !== 'string')
      return { version: NEWEST.version, headers: undefined, refusal: opened };
    const headers = { 'mcp-session-id': opened.session, 'mcp-protocol-version': agreed };
    (await this.#post({ method: 'notifications/initialized' }, { headers, address }, signal)).release();
    return { version: agreed, headers, refusal: undefined };
  }

  /** For a server without sessions. */
  #stateless(
    { method, params, name, headers, address }: SessionRequest,
    id: number,
    signal: AbortSignal,
  ): Promise<Posted> {
    const { version } = NEWEST;
    const _meta = { [META_VERSION]: version, [META_CAPABILITIES]: {}, [META_CLIENT]: this.#deps.clientInfo };
    const repeated = {
      'mcp-protocol-version': version,
      'mcp-method': method,
      ...(name !== undefined && { 'mcp-name': name }),
      ...headers,
    };
    return this.#post({ id, method, params: { ...params, _meta } }, { headers: repeated, address }, signal);
  }

  async #post(message: JsonObject, by: Pick<OwnExchange, 'headers' | 'address'>, signal: AbortSignal): Promise<Posted> {
    // a stream may stay open after the answer, as long as its server likes
    const over = new AbortController();
    // not now: the writer of the answer has not finished
    const enough = () => void setImmediate(() => over.abort(new GatewayError('internal', {}, 'the answer is there')));
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
    const exchange = this.#exchange({ ...by, body, signal: over.signal, enough, id: JSON.stringify(message.id) });
    const { reply } = exchange;
    try {
      await this.#sent(exchange, over, signal);
    } catch (error) {
      if (signal.aborted || (!reply.answer && !reply.failure)) {
        reply.release();
        throw error;
      }
    }
    const { answer, headGiven } = reply;
    const failure = reply.failure ?? (answer && tooHeavy(answer, this.#deps.most.values));
    return {
      status: headGiven?.status ?? 200,
      message: answer && !failure ? (parseJson(answer.toString('utf8')) as JsonObject) : undefined,
      session: headGiven?.session?.id,
      content: exchange.facts.content,
      thrown: exchange.facts.thrown,
      failure,
      release: () => reply.release(),
    };
  }

  /** An exchange over stdio goes on without its caller: then its end is not waited for. */
  #sent(exchange: Exchange, over: AbortController, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        over.abort(signal.reason);
        exchange.reply.abort();
        reject(signal.reason);
      };
      if (signal.aborted) return leave();
      signal.addEventListener('abort', leave, { once: true });
      this.#deps.endpoint
        .post(exchange)
        .finally(() => signal.removeEventListener('abort', leave))
        .then(resolve, reject);
    });
  }

  #exchange({
    body,
    headers,
    address,
    signal,
    enough,
    id = 'null',
  }: OwnExchange): Exchange & { reply: CollectedReply } {
    const { identity, most, held, endpoint } = this.#deps;
    const { principal } = identity;
    const owner = { principal, server: endpoint.name };
    const reply = new CollectedReply({ id, held, owner, most, enough });
    return {
      headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
      body: body ?? Buffer.alloc(0),
      reply,
      identity,
      principal,
      address,
      signal,
      facts: noFacts(),
    };
  }
}

/** Why an answer is not parsed. */
function tooHeavy(answer: Buffer, { limit, count }: OwnSessionDeps['most']['values']): GatewayError | undefined {
  // its depth has been judged on its way
  if (weigh(answer, { depth: Number.POSITIVE_INFINITY, values: count }) === 'light') return undefined;
  const most = limit === undefined ? count : `${limit} = ${count}`;
  return new GatewayError('upstream_invalid', { reason: `its answer has more than ${most} values` });
}

/** What an exchange of Wharf's own says. */
interface OwnExchange {
  body?: Buffer;
  headers: Record<string, string>;
  address?: string | undefined;
  signal: AbortSignal;
  /** The answer is there, or there will be none. */
  enough: () => void;
  /** Of its request, as JSON text. */
  id?: string | undefined;
}
