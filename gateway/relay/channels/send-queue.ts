import { Line } from '../../budget/collections/line.js';
import { batchItems } from '../../json/document.js';
import type { ClientMessages } from '../../mcp/request.js';
import type { Owner } from '../../ports/owner.js';
import type { OutgoingMessage, SharedConnection } from '../../ports/upstream.js';

/** A client's messages to a channel for all messages, where a short message may overtake a long one. */
export class SendQueue {
  readonly #connection: SharedConnection;
  readonly #owner: Owner;
  /** Requests that the upstream has not taken yet. */
  readonly #requests = new Line<Promise<void>>();

  constructor(connection: SharedConnection, owner: Owner) {
    this.#connection = connection;
    this.#owner = owner;
  }

  /** Sends requests; resolves when the upstream has taken them. */
  async requests(messages: readonly OutgoingMessage[]): Promise<void> {
    const [only, ...others] = messages;
    const sent = only && others.length === 0 ? this.#connection.send(only) : this.#inTurn(messages);
    const place = this.#requests.add(sent);
    try {
      await sent;
    } finally {
      this.#requests.remove(place);
    }
  }

  /** Sends messages that need no answer. A cancellation must not overtake its call. */
  async others({ cancelled, bytes, isBatch, count }: ClientMessages): Promise<void> {
    if (cancelled.length > 0) await Promise.allSettled(this.#requests.values());
    await this.#inTurn(isBatch ? await batchItems(bytes, count, this.#owner) : [bytes]);
  }

  async #inTurn(messages: readonly OutgoingMessage[]): Promise<void> {
    for (const message of messages) await this.#connection.send(message);
  }
}
