import type { HeldMessage } from '../wire/json/reader.js';
import { answersIn } from './answers.js';
import { asTarget, type Target } from './channel-target.js';
import type { GetStream } from './get-stream.js';
import type { PostStream } from './post-stream.js';
import { metaOf, type PendingRequest } from './request.js';
import { RANGE } from './slots.js';

/** The streams on which a channel's messages reach its clients, and which of them a message is for. */
export class ChannelStreams {
  readonly #isShared: boolean;
  readonly #posts = new Set<PostStream>();
  readonly #byId = new Map<string, PostStream>();
  readonly #byProgress = new Map<string, PostStream>();
  #get: GetStream | undefined;
  #arrived: (() => void)[] = [];

  /** @param isShared several clients use the channel, so that a request's id is its progress token too */
  constructor(isShared: boolean) {
    this.#isShared = isShared;
  }

  /** POSTs whose client listens. */
  get posts(): readonly PostStream[] {
    return [...this.#posts];
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
    this.#posts.add(stream);
    for (const [id, request] of pending) {
      this.#byId.set(id, stream);
      const token = this.#isShared ? id : JSON.stringify(metaOf(request.params).progressToken);
      if (token !== undefined) this.#byProgress.set(token, stream);
    }
    if (this.#posts.size === 1) this.#tellArrival();
  }

  /** Nobody waits at it any more. Its requests stay known until they are answered, so that the answers can be dropped. */
  remove(stream: PostStream): void {
    this.#posts.delete(stream);
    for (const [token, owner] of this.#byProgress) if (owner === stream) this.#byProgress.delete(token);
  }

  /** The stream of a request that is not answered yet. */
  of(id: string): PostStream | undefined {
    return this.#byId.get(id);
  }

  /** Streams with requests that are not answered yet, whether or not anybody listens. */
  get unanswered(): ReadonlySet<PostStream> {
    return new Set(this.#byId.values());
  }

  /** The request is answered. */
  forget(id: string): void {
    this.#byId.delete(id);
    this.#byProgress.delete(id);
  }

  /** An answer goes to the POST that asked, progress by its token, everything else to the GET, else the only open POST. */
  targetOf(message: HeldMessage): Target | undefined {
    const id = answersIn(message)[0]?.id;
    if (id !== undefined) return asTarget(this.#byId.get(id));
    const token = message.captured(RANGE.progressToken);
    if (message.captured('method') === '"notifications/progress"' && token !== undefined) {
      const owner = this.#byProgress.get(token);
      if (owner) return asTarget(owner);
    }
    const subscription = message.captured(RANGE.subscriptionId);
    if (this.#isShared && subscription !== undefined) return asTarget(this.#byId.get(subscription));
    if (this.#get) return asTarget(this.#get);
    const [only] = this.#posts;
    return asTarget(this.#posts.size === 1 ? only : undefined);
  }

  /** Resolves when a stream arrives that takes what is for nobody in particular, or after `ms`. */
  arrival(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#arrived.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  #tellArrival(): void {
    for (const arrived of this.#arrived.splice(0)) arrived();
  }
}
