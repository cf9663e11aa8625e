import { type About, messagesIn, RawClient, type RawMessage } from '../../helpers/raw-client.js';

/** A call of a raw client whose answer is read while it comes, since the client is asked on it. */
export class RawCall {
  readonly client: RawClient;
  readonly id: number;
  #text = '';
  #isOver = false;
  #broken: unknown;
  readonly #over: Promise<void>;
  readonly #response: Response;

  private constructor(client: RawClient, id: number, response: Response) {
    this.client = client;
    this.id = id;
    this.#response = response;
    this.#over = this.#read().catch((error: unknown) => {
      this.#isOver = true;
      this.#broken = error;
    });
  }

  static async begin(
    url: string,
    tool: string,
    args: Record<string, unknown>,
    { meta, ...about }: About & { meta?: Record<string, unknown> },
  ): Promise<RawCall> {
    return RawCall.on(await RawClient.connect(url, '2025-11-25', about), tool, args, meta);
  }

  /** The first call of a client. */
  static async on(
    client: RawClient,
    tool: string,
    args: Record<string, unknown>,
    meta?: Record<string, unknown>,
  ): Promise<RawCall> {
    return RawCall.of(client, 'tools/call', { name: tool, arguments: args, ...(meta && { _meta: meta }) });
  }

  /** The first request of a client. */
  static async of(client: RawClient, method: string, params: Record<string, unknown>): Promise<RawCall> {
    return new RawCall(client, 1, await client.open(method, params));
  }

  /** Everything that has come so far. */
  get messages(): RawMessage[] {
    const type = this.#response.headers.get('content-type') ?? '';
    const whole = this.#isOver ? this.#text : this.#text.slice(0, this.#text.lastIndexOf('\n\n') + 2);
    return type.includes('json') && !this.#isOver ? [] : messagesIn(whole, type);
  }

  /** Waits for a message that fits. */
  async message(fits: (message: RawMessage) => boolean): Promise<RawMessage> {
    for (let tries = 0; tries < 1200; tries++) {
      const found = this.messages.find(fits);
      if (found) return found;
      if (this.#isOver) break;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error(`no such message in ${this.#text.slice(0, 500)}`);
  }

  /** Waits for the end of the answer. @returns whether it broke off */
  async broken(): Promise<boolean> {
    await this.#over;
    return this.#broken !== undefined;
  }

  async result(): Promise<Record<string, unknown>> {
    const { result } = await this.message(({ id, method }) => id === this.id && method === undefined);
    return result ?? {};
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of this.#response.body ?? []) this.#text += decoder.decode(chunk, { stream: true });
    this.#isOver = true;
  }
}

/** What a client hears of a call's questions, and says to them. */
export function asked(call: RawCall) {
  const questions = () => call.messages.filter(({ method }) => method === 'elicitation/create');
  return {
    call,
    question: async (number = 1): Promise<RawMessage> => {
      await call.message(() => questions().length >= number);
      return questions()[number - 1] ?? {};
    },
    answer: (id: unknown, result: object) => call.client.post({ jsonrpc: '2.0', id, result }),
  };
}
