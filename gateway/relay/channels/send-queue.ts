import type { ClientMessages } from '../../mcp/request.js';
import type { OutgoingMessage, SharedConnection } from '../../ports/upstream.js';

/** What a client sends on a channel for all messages, where a short message may go before a long one. */
export class Sending {
  readonly #connection: SharedConnection;
  /** Requests that the upstream has not taken yet. */
  readonly #requests = new Set<Promise<void>>();

  constructor(connection: SharedConnection) {
    this.#connection = connection;
  }

  /** Requests; resolves when the upstream took them. */
  async requests(message: OutgoingMessage): Promise<void> {
    const sent = this.#connection.send(message);
    this.#requests.add(sent);
    try {
      await sent;
    } finally {
      this.#requests.delete(sent);
    }
  }

  /** Messages that nothing answers. A cancellation must not overtake the call that it is about. */
  async others({ cancelled, bytes }: ClientMessages): Promise<void> {
    if (cancelled.length > 0) await Promise.allSettled(this.#requests);
    await this.#connection.send(bytes);
  }
}
