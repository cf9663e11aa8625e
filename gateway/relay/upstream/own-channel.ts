import type { OwnAnswer, ReadHeavy } from '../../mcp/inquire.js';
import type { ClientMessages } from '../../mcp/request.js';
import { answersIn } from '../../mcp/responses.js';
import type { Limits } from '../../policy/limits.js';
import type { JsonObject } from '../../ports/dialect.js';
import type { SharedConnection } from '../../ports/upstream.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import { ownAnswer, ownRequest } from './own-request.js';

/** How long a request of Wharf's own may take. */
const ASK_TIMEOUT_MS = 10_000;

interface Waiting {
  answered: (answer: OwnAnswer | Promise<OwnAnswer>) => void;
  read: ReadHeavy | undefined;
}

/** Wharf's own requests on a channel that it shares with its client, and the answers to them. */
export class OwnRequests {
  readonly #connection: SharedConnection;
  readonly #declares: JsonObject;
  readonly #limits: Pick<Limits, 'values'>;
  readonly #waiting = new Map<string, Waiting>();

  /** @param declares what Wharf can */
  constructor(connection: SharedConnection, declares: JsonObject, limits: Pick<Limits, 'values'>) {
    this.#connection = connection;
    this.#declares = declares;
    this.#limits = limits;
  }

  /** The answer, or undefined when the server died or took too long. */
  async ask(
    method: string,
    params: JsonObject,
    client: ClientMessages | undefined,
    read?: ReadHeavy,
  ): Promise<OwnAnswer> {
    const own = ownRequest(method, params, client, this.#declares);
    try {
      return await new Promise((resolve) => {
        const timer = setTimeout(() => resolve(undefined), ASK_TIMEOUT_MS);
        const answered = (answer: OwnAnswer | Promise<OwnAnswer>) => {
          clearTimeout(timer);
          resolve(answer);
        };
        this.#waiting.set(own.id, { answered, read });
        this.#connection.send(own.bytes).catch(() => resolve(undefined));
      });
    } finally {
      this.#waiting.delete(own.id);
    }
  }

  /** True when the message answered one of them: then it is for nobody else. @param failed it could not be read whole */
  takes(message: HeldMessage, failed: boolean): boolean {
    if (this.#waiting.size === 0) return false;
    // a server that logs what it is sent repeats the request, and has not answered it
    const waiting = this.#waiting.get(answersIn(message)[0]?.id ?? '');
    if (!waiting) return false;
    const isRead = !failed && !message.malformed;
    waiting.answered(isRead ? ownAnswer(message, this.#limits, waiting.read) : undefined);
    return true;
  }

  /** The channel is gone: nobody will be answered. */
  giveUp(): void {
    for (const { answered } of this.#waiting.values()) answered(undefined);
  }
}
