import type { OwnAnswer, ReadHeavy } from '../../mcp/inquire.js';
import type { ClientMessages } from '../../mcp/request.js';
import { answersIn } from '../../mcp/responses.js';
import type { JsonObject } from '../../ports/dialect.js';
import type { Owner } from '../../ports/owner.js';
import type { SharedConnection } from '../../ports/upstream.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { CutDeps, MessageCuts } from '../cut/message-cuts.js';
import { splice } from '../cut/splice.js';
import { ownAnswer, ownRequest } from './own-request.js';

/** Time-out of a request of Wharf's own. */
const ASK_TIMEOUT_MS = 10_000;

interface Waiting {
  answered: (answer: OwnAnswer | Promise<OwnAnswer>) => void;
  read: ReadHeavy | undefined;
}

interface OwnRequestsOptions {
  connection: SharedConnection;
  /** Wharf's capabilities. */
  declares: JsonObject;
  cut: Pick<CutDeps, 'library' | 'limits'>;
  /** Whose channel it is. */
  owner: Owner;
  /** Aborted when the channel is gone. */
  signal: AbortSignal;
}

/** Wharf's own requests on a channel shared with a client, and the answers to them. */
export class OwnRequests {
  readonly #options: OwnRequestsOptions;
  readonly #waiting = new Map<string, Waiting>();

  constructor(options: OwnRequestsOptions) {
    this.#options = options;
  }

  /** The answer; undefined when the server ended or took too long. */
  async ask(
    method: string,
    params: JsonObject,
    client: ClientMessages | undefined,
    read?: ReadHeavy,
  ): Promise<OwnAnswer> {
    const { connection, declares, signal } = this.#options;
    // what the server still says is not read
    if (signal.aborted) return undefined;
    const own = ownRequest(method, params, client, declares);
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise((resolve) => {
        timer = setTimeout(() => resolve(undefined), ASK_TIMEOUT_MS);
        this.#waiting.set(own.id, { answered: resolve, read });
        connection.send(own.bytes).catch(() => resolve(undefined));
      });
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(own.id);
    }
  }

  /** True when the message answered one of them and so is for no client; then its cuts are released here. */
  takes(message: HeldMessage, cuts: MessageCuts): boolean {
    if (this.#waiting.size === 0) return false;
    // a server that logs its input repeats the request, which is not an answer
    const id = answersIn(message)[0]?.id ?? '';
    const waiting = this.#waiting.get(id);
    if (!waiting) return false;
    // nothing would await a second answer, and a failure to read it would end the process
    this.#waiting.delete(id);
    waiting.answered(this.#answer(message, cuts, waiting.read));
    return true;
  }

  /** @returns undefined when it could not be read completely */
  async #answer(message: HeldMessage, cuts: MessageCuts, read: ReadHeavy | undefined): Promise<OwnAnswer> {
    const { cut, owner } = this.#options;
    const reading = { limits: cut.limits, owner, read };
    try {
      if (cuts.failure || message.malformed) return undefined;
      if (message.slots.length === 0) return await ownAnswer(message, reading);
      return await ownAnswer(message, reading, await this.#whole(message, cuts));
    } finally {
      cuts.discardFiles();
      cuts.release();
    }
  }

  /**
   * The message with what was cut out of it: Wharf asks for what it needs whole, and as long as it may be over HTTP.
   * @throws GatewayError `response_too_large`, `held_full`, and the store's errors
   */
  async #whole(message: HeldMessage, cuts: MessageCuts): Promise<Buffer> {
    const { cut, signal } = this.#options;
    await cuts.settle();
    if (cuts.failure) throw cuts.failure;
    const parts: Buffer[] = [];
    const where = { library: cut.library, keyOf: () => undefined, signal, anySpelling: true };
    for (const piece of splice(message, [], where)) {
      if (Buffer.isBuffer(piece)) {
        parts.push(piece);
        continue;
      }
      for await (const bytes of piece()) {
        cuts.account(bytes.length);
        if (cuts.failure) throw cuts.failure;
        parts.push(bytes);
      }
    }
    return Buffer.concat(parts);
  }

  /** The channel is gone: ends every wait without an answer. */
  giveUp(): void {
    for (const { answered } of this.#waiting.values()) answered(undefined);
  }
}
