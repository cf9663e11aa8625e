import { RANGE } from '../../mcp/ranges.js';
import { metaOf } from '../../mcp/request.js';
import { answersIn, knownId } from '../../mcp/responses.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { PendingRequest } from '../pending-request.js';
import { AbandonedCalls, type AbandonedOptions } from './abandoned-calls.js';
import type { GetStream } from './get-stream.js';
import type { PostStream } from './post-stream.js';
import { asTarget, type Target } from './target.js';

/** What a POST is known by on the channel, as JSON text. */
interface Names {
  ids: readonly string[];
  tokens: readonly string[];
}

/** The streams on which a channel's messages reach its clients, and which of them a message is for. */
export class ChannelStreams {
  readonly #isShared: boolean;
  readonly #posts = new Map<PostStream, Names>();
  readonly #byId = new Map<string, PostStream>();
  readonly #byProgress = new Map<string, PostStream>();
  readonly #abandoned: AbandonedCalls;
  #get: GetStream | undefined;
  readonly #arrived = new Set<() => void>();

  /** @param isShared several clients use the channel, so that a request's id is its progress token too */
  constructor(isShared: boolean, abandoned: AbandonedOptions) {
    this.#isShared = isShared;
    this.#abandoned = new AbandonedCalls(abandoned);
  }

  /** POSTs that are not over. */
  get posts(): readonly PostStream[] {
    return [...this.#posts.keys()];
  }

  /** The client's GET stream, while it is open. */
  get get(): GetStream | undefined {
    return this.#get;
  }

  set get(stream: GetStream | undefined) {
    this.#get = stream;
    if (stream) this.#tellArrival();
  }

  /** @param pending its requests, by the ids they have on the channel */
  add(stream: PostStream, pending: ReadonlyMap<string, PendingRequest>): void {
    const tokens = [...pending].flatMap(([id, { params }]) => {
      const token = this.#isShared ? id : JSON.stringify(metaOf(params).progressToken);
      return token === undefined ? [] : [token];
    });
    this.#posts.set(stream, { ids: [...pending.keys()], tokens });
    for (const id of pending.keys()) this.#byId.set(id, stream);
    for (const token of tokens) this.#byProgress.set(token, stream);
    if (this.#onlyPost() === stream) this.#tellArrival();
  }

  /**
   * Its exchange is over.
   * @param release where the server still works on what is not answered: removes what that needs. It is called in the end.
   */
  remove(stream: PostStream, release?: () => Promise<void>): void {
    const { ids, tokens } = this.#posts.get(stream) ?? { ids: [], tokens: [] };
    this.#posts.delete(stream);
    for (const id of ids) if (this.#byId.get(id) === stream) this.#byId.delete(id);
    for (const token of tokens) if (this.#byProgress.get(token) === stream) this.#byProgress.delete(token);
    if (release) this.#abandoned.add({ ids: new Set(stream.awaited), tokens, release });
  }

  /** Whether a request of this id is not answered yet. */
  has(id: string): boolean {
    return this.#byId.has(id) || this.#abandoned.has(id);
  }

  /** The id of a request, as it was sent, that an answer names. */
  idOf(id: string): string {
    return knownId(this, id);
  }

  /** The stream of a request that is not answered yet, while its exchange goes on. */
  of(id: string): PostStream | undefined {
    return this.#byId.get(id);
  }

  /** The request is answered, or its client wants no answer. */
  async settle(id: string): Promise<void> {
    const stream = this.#byId.get(id);
    this.#byId.delete(id);
    this.#byProgress.delete(id);
    if (stream?.gone) await stream.missed(id);
    await this.#abandoned.settle(id);
  }

  /** The channel is gone, and nothing will be answered any more. */
  end(): Promise<void> {
    return this.#abandoned.end();
  }

  /** An answer goes to the POST that asked, progress by its token, everything else to the GET, else the only open POST. */
  targetOf(message: HeldMessage): Target | undefined {
    const id = answersIn(message)[0]?.id;
    if (id !== undefined) return asTarget(this.#byId.get(this.idOf(id)));
    const token = message.captured(RANGE.progressToken);
    if (message.captured('method') === '"notifications/progress"' && token !== undefined) {
      const owner = this.#byProgress.get(knownId(this.#byProgress, token));
      if (owner) return asTarget(owner);
      // on a channel of several clients what nobody here asked for is nobody's
      if (this.#isShared || this.#abandoned.hasToken(token)) return undefined;
    }
    const subscription = message.captured(RANGE.subscriptionId);
    if (this.#isShared && subscription !== undefined) return asTarget(this.#byId.get(this.idOf(subscription)));
    if (this.#get) return asTarget(this.#get);
    return asTarget(this.#onlyPost());
  }

  /** Resolves when a stream arrives that takes what is for nobody in particular, or after `ms`. */
  arrival(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const arrived = () => {
        clearTimeout(timer);
        this.#arrived.delete(arrived);
        resolve();
      };
      const timer = setTimeout(arrived, ms);
      this.#arrived.add(arrived);
    });
  }

  /** The only POST on which more than its answers can be said. */
  #onlyPost(): PostStream | undefined {
    let only: PostStream | undefined;
    for (const post of this.#posts.keys()) {
      if (!post.takesMessages) continue;
      if (only) return undefined;
      only = post;
    }
    return only;
  }

  #tellArrival(): void {
    for (const arrived of this.#arrived) arrived();
  }
}
