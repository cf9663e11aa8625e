import type { OwnAnswer, ReadHeavy } from '../../mcp/inquire.js';
import type { ClientMessages } from '../../mcp/request.js';
import { answersIn } from '../../mcp/responses.js';
import type { Limits } from '../../policy/limits.js';
import type { JsonObject } from '../../ports/dialect.js';
import type { SharedConnection } from '../../ports/upstream.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import { ownAnswer, ownRequest } from './own-request.js';

/** Time-out of a request of Wharf's own. */
const ASK_TIMEOUT_MS = 10_000;

interface Waiting {
  answered: (answer: OwnAnswer | Promise<OwnAnswer>) => void;
  read: ReadHeavy | undefined;
}

/** Wharf's own requests on a channel shared with a client, and the answers to them. */
export class OwnRequests {
  readonly #connection: SharedConnection;
  readonly #declares: JsonObject;
  readonly #limits: Pick<Limits, 'values'>;
  readonly #waiting = new Map<string, Waiting>();

  /** @param declares Wharf's capabilities */
  constructor(connection: SharedConnection, declares: JsonObject, limits: Pick<Limits, 'values'>) {
    this.#connection = connection;
    this.#declares = declares;
    this.#limits = limits;
  }

  /** The answer; undefined when the server ended or took too long. */
  async ask(
    method: string,
    params: JsonObject,
    client: ClientMessages | undefined,
    read?: ReadHeavy,
  ): Promise<OwnAnswer> {
    const own = ownRequest(method, params, client, this.#declares);
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise((resolve) => {
        timer = setTimeout(() => resolve(undefined), ASK_TIMEOUT_MS);
        this.#waiting.set(own.id, { answered: resolve, read });
        this.#connection.send(own.bytes).catch(() => resolve(undefined));
      });
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(own.id);
    }
  }

  /**
   * True when the message answered one of them and so is for no client. @param failed it could not be read completely
   */
  takes(message: HeldMessage, failed: boolean): boolean {
    if (this.#waiting.size === 0) return false;
    // a server that logs its input repeats the request, which is not an answer
    const waiting = this.#waiting.get(answersIn(message)[0]?.id ?? '');
    if (!waiting) return false;
    const isRead = !failed && !message.malformed;
    waiting.answered(isRead ? ownAnswer(message, this.#limits, waiting.read) : undefined);
    return true;
  }

  /** The channel is gone: ends every wait without an answer. */
  giveUp(): void {
    for (const { answered } of this.#waiting.values()) answered(undefined);
  }
}
