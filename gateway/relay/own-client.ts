import { GatewayError } from '../errors.js';
import type { JsonObject, JsonValue } from '../ports/json.js';
import { createReader } from '../wire/json/reader.js';
import { compileWatchTree } from '../wire/json/watch-tree.js';
import { CapturedResponse } from './captured-response.js';
import { type Exchange, noFacts } from './exchange.js';
import { isObject, META_CAPABILITIES, META_CLIENT, META_VERSION, STATELESS_VERSIONS } from './request.js';

const CLIENT = { name: 'wharf', version: '1' };
const LEGACY_VERSION = '2025-06-18';
const ENVELOPE = compileWatchTree({ keys: { id: { capture: 'id' } } });

/** What Wharf's own client is a client of. */
export interface Endpoint {
  name: string;
  post(exchange: Exchange): Promise<void>;
  remove(exchange: Exchange): Promise<void>;
}

/** What an exchange of Wharf's own was answered with. */
interface OwnResult {
  result: JsonObject;
  /** Files that Wharf has made of what was in it. */
  files: number;
}

type Answered = { status: number; message: JsonObject | undefined; session: string | undefined; files: number };

/**
 * Wharf as a client of its own endpoint, for what no client's session is open for: its exchanges are like any other's,
 * whatever transport the server has, and large files in the answers are stored while they arrive.
 */
export class OwnClient {
  readonly #endpoint: Endpoint;
  readonly #principal: string;
  readonly #signal: AbortSignal;

  constructor(endpoint: Endpoint, principal: string, signal: AbortSignal) {
    this.#endpoint = endpoint;
    this.#principal = principal;
    this.#signal = signal;
  }

  /** One request on a session of its own. @throws GatewayError `upstream_invalid` where it is refused */
  async request(method: string, params: JsonObject, name: string): Promise<OwnResult> {
    const opening = { protocolVersion: LEGACY_VERSION, capabilities: {}, clientInfo: CLIENT };
    const opened = await this.#post({ id: 0, method: 'initialize', params: opening }, {});
    const agreed = isObject(opened.message?.result) ? opened.message.result.protocolVersion : undefined;
    if (opened.session === undefined || typeof agreed !== 'string') return this.#stateless(method, params, name);
    const headers = { 'mcp-session-id': opened.session, 'mcp-protocol-version': agreed };
    try {
      await this.#post({ method: 'notifications/initialized' }, headers);
      return this.#resultOf(await this.#post({ id: 1, method, params }, headers), method);
    } finally {
      await this.#endpoint.remove(this.#exchange(undefined, headers)).catch(() => {});
    }
  }

  /** 2026-07-28: there are no sessions. */
  async #stateless(method: string, params: JsonObject, name: string): Promise<OwnResult> {
    const version = STATELESS_VERSIONS.at(-1) as string;
    const _meta = { [META_VERSION]: version, [META_CAPABILITIES]: {}, [META_CLIENT]: CLIENT };
    const headers = { 'mcp-protocol-version': version, 'mcp-method': method, 'mcp-name': name };
    return this.#resultOf(await this.#post({ id: 1, method, params: { ...params, _meta } }, headers), method);
  }

  #resultOf({ message, files, status }: Answered, method: string): OwnResult {
    if (isObject(message?.result)) return { result: message.result, files };
    const told = isObject(message?.error) ? message.error.message : undefined;
    const why = typeof told === 'string' ? told.slice(0, 200).replace(/\.$/, '') : `HTTP ${status}`;
    const reason = `${method} was refused: ${why}`;
    throw new GatewayError('upstream_invalid', { reason });
  }

  async #post(message: JsonObject, headers: Record<string, string>): Promise<Answered> {
    const response = new CapturedResponse();
    const exchange = this.#exchange(Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message })), headers, response);
    await this.#endpoint.post(exchange);
    const session = response.headers['mcp-session-id'];
    return {
      status: response.status,
      message: message.id === undefined ? undefined : answerIn(response, message.id),
      session: typeof session === 'string' ? session : undefined,
      files: exchange.facts.files,
    };
  }

  #exchange(body: Buffer | undefined, headers: Record<string, string>, response = new CapturedResponse()): Exchange {
    return {
      headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
      body: body ?? Buffer.alloc(0),
      response,
      principal: this.#principal,
      signal: this.#signal,
      facts: noFacts(),
    };
  }
}

/** The answer to a request, in what was written to its response. */
function answerIn(response: CapturedResponse, id: JsonValue): JsonObject | undefined {
  let found: JsonObject | undefined;
  const type = String(response.headers['content-type'] ?? '');
  const reader = createReader(type.includes('text/event-stream') ? 'sse' : 'json', {
    tree: ENVELOPE,
    maxHeld: Number.POSITIVE_INFINITY,
    maxDepth: Number.POSITIVE_INFINITY,
    slotMin: Number.POSITIVE_INFINITY,
    handler: {
      slot: () => ({ write: () => {}, end: () => {} }),
      message: (message) => {
        if (message.malformed || message.captured('id') !== JSON.stringify(id)) return;
        const value = JSON.parse(message.skeleton().toString('utf8')) as JsonValue;
        if (isObject(value) && value.method === undefined) found = value;
      },
    },
  });
  reader.feed(response.body);
  return found;
}
