import { GatewayError } from '../errors.js';
import type { Limits } from '../policy/limits.js';
import type { JsonObject } from '../ports/json.js';
import type { SharedConnection } from '../ports/upstream.js';
import { type Conversation, resultOf } from './conversation.js';
import { messagesIn } from './messages.js';

const METHOD_NOT_FOUND = -32601;

/** A session over one channel for all messages: stdio, or the older HTTP+SSE. */
export class SharedConversation implements Conversation {
  readonly #connection: SharedConnection;
  readonly #server: string;
  readonly #waiting = new Map<number, { resolve(answer: JsonObject): void; reject(error: unknown): void }>();
  #lastId = 0;
  #ended: unknown;

  constructor(connection: SharedConnection, server: string, limits: Readonly<Limits>) {
    this.#connection = connection;
    this.#server = server;
    this.#listen(limits).catch((error: unknown) => this.#end(error));
  }

  async request(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const id = ++this.#lastId;
    const answer = new Promise<JsonObject>((resolve, reject) => {
      if (this.#ended !== undefined) return reject(this.#ended);
      this.#waiting.set(id, { resolve, reject });
    });
    try {
      // together, so that a failed sending is noticed even if the answer never comes
      const both = Promise.all([answer, this.#send({ jsonrpc: '2.0', id, method, params })]);
      const [message] = await orAborted(both, signal);
      return resultOf(message, method);
    } finally {
      this.#waiting.delete(id);
    }
  }

  async notify(method: string, signal: AbortSignal): Promise<void> {
    await orAborted(this.#send({ jsonrpc: '2.0', method }), signal);
  }

  agree(): void {
    // such a channel does not repeat the version
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  async #listen(limits: Readonly<Limits>): Promise<void> {
    for await (const message of messagesIn(this.#connection.body, this.#connection.kind, limits)) {
      const { id, method } = message;
      if (method !== undefined) {
        if (id !== undefined) await this.#answer(message);
      } else if (typeof id === 'number') this.#waiting.get(id)?.resolve(message);
    }
    throw new GatewayError('upstream_closed', { server: this.#server });
  }

  /** A server may ping its client; Wharf declared nothing else, so it refuses other requests. */
  #answer({ id = null, method }: JsonObject): Promise<void> {
    const refused = { code: METHOD_NOT_FOUND, message: 'Method not found' };
    return this.#send({ jsonrpc: '2.0', id, ...(method === 'ping' ? { result: {} } : { error: refused }) });
  }

  #send(message: JsonObject): Promise<void> {
    return this.#connection.send(Buffer.from(JSON.stringify(message)));
  }

  #end(error: unknown): void {
    this.#ended = error;
    for (const { reject } of this.#waiting.values()) reject(error);
  }
}

/** The outcome of the work, or the signal's reason if that comes first: a server may also stop reading. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
  return Promise.race([work, aborted]);
}
