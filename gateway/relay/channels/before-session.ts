import { GatewayError } from '../../errors.js';
import { errorAnswer } from '../../mcp/error-response.js';
import { RANGE } from '../../mcp/ranges.js';
import type { Metrics } from '../../ports/metrics.js';
import type { SharedConnection } from '../../ports/upstream.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { MessageCuts } from '../cut/message-cuts.js';
import { dismiss } from '../results/to-client.js';
import { isRequest, pingIn } from './channel-message.js';

/** How long a server's request waits for a stream on which it can reach the client. */
export const STREAM_WAIT_MS = 5000;

/** Most messages that wait for the session. Their bytes count against `limits.held`; this bounds their other costs. */
const MAX_EARLY = 1000;

interface Waiting {
  message: HeldMessage;
  cuts: MessageCuts;
  /** For a request: refuses it. */
  timer: NodeJS.Timeout | undefined;
}

interface BeforeSessionOptions {
  connection: SharedConnection;
  metrics: Metrics;
  server: string;
}

/**
 * A server's messages before its answer to `initialize`. MCP allows pings and logging then (2025-11-25, lifecycle), and
 * servers send more. They wait, because the answer's head carries the session's id and is sent with the first message.
 */
export class BeforeSession {
  readonly #options: BeforeSessionOptions;
  readonly #waiting = new Set<Waiting>();
  #isOver = false;

  constructor(options: BeforeSessionOptions) {
    this.#options = options;
  }

  /** Takes a message that is not an answer. */
  async take(message: HeldMessage, cuts: MessageCuts): Promise<void> {
    // it was read before the channel ended, and its turn has come after that
    if (this.#isOver) return dismiss(cuts);
    const ping = pingIn(message);
    if (ping !== undefined) {
      await dismiss(cuts);
      // the client could not answer: it learns its session's id from the answer that the server may be holding back
      await this.#send(Buffer.from(`{"jsonrpc":"2.0","id":${ping},"result":{}}`));
      return;
    }
    const waiting: Waiting = { message, cuts, timer: undefined };
    if (this.#waiting.size >= MAX_EARLY) return this.#drop(waiting);
    this.#waiting.add(waiting);
    // a server that waits for the client before it answers would wait for ever
    if (isRequest(message)) waiting.timer = setTimeout(() => void this.#drop(waiting), STREAM_WAIT_MS).unref();
  }

  /**
   * The session is open, or has failed: the waiting messages go to the client in order.
   * @param isOpen the client can answer: otherwise requests are not sent to it
   */
  async release(isOpen: boolean, forward: (message: HeldMessage, cuts: MessageCuts) => Promise<void>): Promise<void> {
    for (const waiting of [...this.#waiting]) {
      if (!this.#remove(waiting)) continue;
      if (isOpen || !isRequest(waiting.message)) await forward(waiting.message, waiting.cuts);
      else await this.#drop(waiting);
    }
  }

  /** The channel is gone. */
  end(): void {
    this.#isOver = true;
    for (const waiting of [...this.#waiting]) {
      this.#remove(waiting);
      waiting.cuts.discardFiles();
      waiting.cuts.release();
    }
  }

  #remove(waiting: Waiting): boolean {
    clearTimeout(waiting.timer);
    return this.#waiting.delete(waiting);
  }

  async #drop(waiting: Waiting): Promise<void> {
    this.#remove(waiting);
    const { message, cuts } = waiting;
    const id = isRequest(message) ? message.captured(RANGE.id) : undefined;
    await dismiss(cuts);
    const { metrics, server } = this.#options;
    metrics.count('wharf_dropped_messages_total', { server, reason: 'no_stream' });
    if (id !== undefined) await this.#send(errorAnswer(new GatewayError('no_stream'), id));
  }

  /** A server that reads nothing is noticed at the next message to it. */
  async #send(bytes: Buffer): Promise<void> {
    await this.#options.connection.send(bytes).catch(() => {});
  }
}
