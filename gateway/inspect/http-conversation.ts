import type { Limits } from '../policy/limits.js';
import type { JsonObject } from '../ports/json.js';
import type { ExchangeUpstream, UpstreamAnswer } from '../ports/upstream.js';
import { type Conversation, Refusal, resultOf } from './conversation.js';
import { messagesIn } from './messages.js';

/** A session over Streamable HTTP: each request has its own answer. */
export class HttpConversation implements Conversation {
  readonly #upstream: ExchangeUpstream;
  readonly #limits: Readonly<Limits>;
  #lastId = 0;
  #session: string | undefined;
  #version: string | undefined;

  constructor(upstream: ExchangeUpstream, limits: Readonly<Limits>) {
    this.#upstream = upstream;
    this.#limits = limits;
  }

  async request(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const id = ++this.#lastId;
    const answer = await this.#post({ jsonrpc: '2.0', id, method, params }, signal);
    try {
      const { status, kind } = answer;
      const session = answer.headers['mcp-session-id'];
      if (typeof session === 'string') this.#session = session;
      if (kind !== 'bytes' && kind !== 'none') {
        for await (const message of messagesIn(answer.body, kind, this.#limits)) {
          const isMine = message.id === id || (message.id ?? null) === null;
          if (isMine && message.method === undefined) return resultOf(message, method, status);
        }
      }
      throw new Refusal(method, `HTTP ${status} with ${whatIs(answer)}, which is not an answer of MCP`, {
        isMcp: kind === 'json' && status < 400,
        status,
      });
    } finally {
      answer.body.destroy();
    }
  }

  async notify(method: string, signal: AbortSignal): Promise<void> {
    const answer = await this.#post({ jsonrpc: '2.0', method }, signal);
    answer.body.destroy();
  }

  agree(version: string): void {
    this.#version = version;
  }

  async close(): Promise<void> {
    if (this.#session === undefined) return;
    // servers without sessions refuse it, and the answer does not matter
    const answer = await this.#upstream.open(
      { method: 'DELETE', headers: this.#headers() },
      AbortSignal.timeout(CLOSE_MS),
    );
    answer.body.destroy();
  }

  #post(message: JsonObject, signal: AbortSignal): Promise<UpstreamAnswer> {
    const headers = { ...this.#headers(), 'content-type': 'application/json', 'mcp-method': String(message.method) };
    const body = Buffer.from(JSON.stringify(message));
    return this.#upstream.open({ method: 'POST', headers, body }, signal);
  }

  #headers(): Record<string, string> {
    return {
      accept: 'application/json, text/event-stream',
      ...(this.#session === undefined ? {} : { 'mcp-session-id': this.#session }),
      ...(this.#version === undefined ? {} : { 'mcp-protocol-version': this.#version }),
    };
  }
}

/** Time-out for ending a session; if it passes, the session is abandoned. */
const CLOSE_MS = 2000;

/** The kind of a body that no answer is in; a page of a web server has a type of its own. */
function whatIs({ kind, headers }: UpstreamAnswer): string {
  const [type] = /^[\w.+-]{1,64}\/[\w.+-]{1,64}/.exec(String(headers['content-type'] ?? '')) ?? [];
  return kind === 'none' || type === undefined ? 'no body of a known type' : type;
}
