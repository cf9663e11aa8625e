/** What is kept of a call whose client has gone and on which the server still works. */
export interface AbandonedCall {
  /** Ids on the channel of its requests that are not answered, as JSON text. */
  ids: ReadonlySet<string>;
  /** Their progress tokens, as JSON text. */
  tokens: readonly string[];
  /** Removes what existed for the call only. */
  release: () => Promise<void>;
}

interface Kept {
  ids: Set<string>;
  tokens: readonly string[];
  release: () => Promise<void>;
  since: number;
}

export interface AbandonedOptions {
  /** `limits.abandoned` */
  most: number;
  /** `timeouts.upstream` */
  ms: number;
  /** A call is not waited for any more; to be told to the server. */
  givenUp: (ids: readonly string[]) => void;
}

/**
 * The calls of one channel whose clients have gone without cancelling them. A server may well finish such a call, so it
 * is left alone until there are too many of them or it takes too long. Nothing of its messages is kept: a server that
 * never answers would otherwise make Wharf hold whatever it was sent.
 */
export class AbandonedCalls {
  readonly #options: AbandonedOptions;
  /** In order of their leaving. */
  readonly #calls = new Set<Kept>();
  readonly #byId = new Map<string, Kept>();
  readonly #tokens = new Map<string, Kept>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: AbandonedOptions) {
    this.#options = options;
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  /** Whether progress with this token is about one of them. */
  hasToken(token: string): boolean {
    return this.#tokens.has(token);
  }

  add({ ids, tokens, release }: AbandonedCall): void {
    const kept: Kept = { ids: new Set(ids), tokens, release, since: Date.now() };
    this.#calls.add(kept);
    for (const id of ids) this.#byId.set(id, kept);
    for (const token of tokens) this.#tokens.set(token, kept);
    while (this.#byId.size > this.#options.most) this.#giveUpOldest();
    this.#schedule();
  }

  /** A request was answered, or cancelled by its client. */
  async settle(id: string): Promise<void> {
    const call = this.#byId.get(id);
    if (!call) return;
    this.#byId.delete(id);
    call.ids.delete(id);
    if (call.ids.size > 0) return;
    this.#forget(call);
    await call.release();
  }

  /** The channel is gone. */
  async end(): Promise<void> {
    const calls = [...this.#calls];
    for (const call of calls) this.#forget(call);
    await Promise.all(calls.map((call) => call.release()));
  }

  #giveUpOldest(): void {
    const [oldest] = this.#calls;
    if (!oldest) return;
    const ids = [...oldest.ids];
    this.#forget(oldest);
    this.#options.givenUp(ids);
    void oldest.release();
  }

  #forget(call: Kept): void {
    this.#calls.delete(call);
    for (const id of call.ids) this.#byId.delete(id);
    for (const token of call.tokens) if (this.#tokens.get(token) === call) this.#tokens.delete(token);
    if (this.#calls.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** One timer for all: the oldest ends first. */
  #schedule(): void {
    if (this.#timer) return;
    const [oldest] = this.#calls;
    if (!oldest) return;
    const wait = Math.max(0, oldest.since + this.#options.ms - Date.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      for (const call of [...this.#calls]) {
        if (call.since + this.#options.ms > Date.now()) break;
        this.#giveUpOldest();
      }
      this.#schedule();
    }, wait).unref();
  }
}
