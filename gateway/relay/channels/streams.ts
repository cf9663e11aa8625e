import { Line, type Place } from '../../budget/collections/line.js';
import { PassingMap } from '../../budget/collections/passing-map.js';
import { RANGE } from '../../mcp/ranges.js';
import { metaOf } from '../../mcp/request.js';
import { answersIn, knownId } from '../../mcp/responses.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { PendingRequest } from '../pending-request.js';
import { callThatMayBecomeTask, type TaskCall } from '../results/tool/tool-of-task.js';
import { AbandonedCalls, type AbandonedOptions, type LostCall } from './calls/abandoned-calls.js';
import { endedBy } from './channel-message.js';
import type { GetStream } from './get-stream.js';
import type { PostStream } from './post-stream.js';

/** The stream on which a message reaches its client. */
export type Target = PostStream | GetStream;

/** A POST, with its names on the channel, as JSON text. */
interface OpenPost {
  readonly stream: PostStream;
  readonly ids: readonly string[];
  readonly tokens: readonly string[];
}

/** Of a POST among those under way. */
type PostPlace = Place<OpenPost>;

/** The streams on which a channel's messages reach its clients, and the choice of a message's stream. */
export class ChannelStreams {
  readonly #isShared: boolean;
  readonly #posts = new Line<OpenPost>();
  readonly #byId = new PassingMap<PostStream>();
  readonly #byProgress = new PassingMap<PostStream>();
  readonly #abandoned: AbandonedCalls;
  #get: GetStream | undefined;
  readonly #arrived = new Set<() => void>();
  #expected = 0;

  /** @param isShared several clients use the channel, so a request's id is its progress token too */
  constructor(isShared: boolean, abandoned: AbandonedOptions) {
    this.#isShared = isShared;
    this.#abandoned = new AbandonedCalls(abandoned);
  }

  /** POSTs that are not over. */
  get posts(): readonly PostStream[] {
    return [...this.#posts.values()].map(({ stream }) => stream);
  }

  /** True while a POST is under way. */
  get hasPosts(): boolean {
    return this.#posts.first !== undefined;
  }

  /** True while a POST waits for its answers, or one is expected. */
  get isBusy(): boolean {
    return this.#expected > 0 || this.hasPosts;
  }

  /** A POST will be added, or has come to nothing once that is told. @param over called then @returns what tells it */
  expect(over: () => void): () => void {
    this.#expected += 1;
    return () => {
      this.#expected -= 1;
      over();
    };
  }

  /** The client's GET stream, while it is open. */
  get get(): GetStream | undefined {
    return this.#get;
  }

  set get(stream: GetStream | undefined) {
    this.#get = stream;
    if (stream) this.#tellArrival();
  }

  /** @param pending its requests, by their channel ids */
  add(stream: PostStream, pending: ReadonlyMap<string, PendingRequest>): PostPlace {
    const tokens = [...pending].flatMap(([id, { params }]) => {
      const token = this.#isShared ? id : JSON.stringify(metaOf(params).progressToken);
      return token === undefined ? [] : [token];
    });
    const place = this.#posts.add({ stream, ids: [...pending.keys()], tokens });
    for (const id of pending.keys()) this.#byId.set(id, stream);
    for (const token of tokens) this.#byProgress.set(token, stream);
    if (this.#onlyPost() === stream) this.#tellArrival();
    return place;
  }

  /**
   * Its exchange is over.
   * @param left those of its requests on which the server still works, by their channel ids
   */
  remove(place: PostPlace, left: readonly string[]): void {
    const { stream, ids, tokens } = place.value;
    this.#posts.remove(place);
    for (const id of ids) if (this.#byId.get(id) === stream) this.#byId.delete(id);
    for (const token of tokens) if (this.#byProgress.get(token) === stream) this.#byProgress.delete(token);
    if (left.length === 0) return;
    const tasks = new Map(left.flatMap((id) => taskIn(stream, id).map((task) => [id, task] as const)));
    this.#abandoned.add({ ids: left, tokens, files: stream.files, ...(tasks.size > 0 && { tasks }) });
  }

  /** True when a request with this id is unanswered. */
  has(id: string): boolean {
    return this.#byId.has(id) || this.#abandoned.has(id);
  }

  /** The id, as sent, of the request that an answer names. */
  idOf(id: string): string {
    return knownId(this, id);
  }

  /** The stream of an unanswered request, while its exchange continues. */
  of(id: string): PostStream | undefined {
    return this.#byId.get(id);
  }

  /** What is known of the call of an unanswered request whose client does not get its answer. */
  lost(id: string): LostCall | undefined {
    const stream = this.#byId.get(id);
    return stream ? { files: stream.files, task: taskIn(stream, id)[0] } : this.#abandoned.callOf(id);
  }

  /** The request is answered, or its answer is no longer wanted. */
  settle(id: string): Promise<void> | undefined {
    const stream = this.#byId.get(id);
    this.#byId.delete(id);
    // elsewhere it may be the token of another request, whose progress is still to come
    if (this.#isShared) this.#byProgress.delete(id);
    const missed = stream?.gone ? stream.missed(id) : undefined;
    return missed ? missed.then(() => this.#abandoned.settle(id)) : this.#abandoned.settle(id);
  }

  /** The channel is gone, and there will be no further answers. */
  end(): Promise<void> {
    return this.#abandoned.end();
  }

  /** An answer goes to its POST, progress by its token, everything else to the GET, otherwise to the only open POST. */
  targetOf(message: HeldMessage): Target | undefined {
    const id = answersIn(message)[0]?.id;
    if (id !== undefined) return this.#byId.get(this.idOf(id));
    const token = message.captured(RANGE.progressToken);
    if (message.captured('method') === '"notifications/progress"' && token !== undefined) {
      const owner = this.#byProgress.get(knownId(this.#byProgress, token));
      if (owner) return owner;
      // on a channel of several clients, a message that none of them requested has no recipient
      if (this.#isShared || this.#abandoned.hasToken(token)) return undefined;
    }
    const subscription = message.captured(RANGE.subscriptionId);
    // where clients share a channel, a server has no requests of its own that it could mean
    const subject = this.#isShared ? (subscription ?? endedBy(message)) : undefined;
    if (subject !== undefined) return this.#byId.get(this.idOf(subject));
    return this.#get ?? this.#onlyPost();
  }

  /** Resolves when a stream arrives that takes general messages, after `ms`, or when none will any longer arrive. */
  arrival(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const arrived = () => {
        clearTimeout(timer);
        this.#arrived.delete(arrived);
        signal.removeEventListener('abort', arrived);
        resolve();
      };
      const timer = setTimeout(arrived, ms);
      this.#arrived.add(arrived);
      signal.addEventListener('abort', arrived, { once: true });
    });
  }

  /** The only POST under way. */
  get only(): PostStream | undefined {
    const { first, last } = this.#posts;
    return first === last ? first?.stream : undefined;
  }

  /** The only POST that can carry more than its answers, or the first of several whose messages all go to one place. */
  #onlyPost(): PostStream | undefined {
    let only: PostStream | undefined;
    for (const { stream } of this.#posts.values()) {
      if (!stream.takesMessages) continue;
      if (stream.output !== undefined) return stream;
      if (only) return undefined;
      only = stream;
    }
    return only;
  }

  #tellArrival(): void {
    for (const arrived of this.#arrived) arrived();
  }
}

/** What an unanswered request runs that may become a task. */
function taskIn({ pending }: PostStream, id: string): TaskCall[] {
  const request = pending.get(id);
  const task = request && callThatMayBecomeTask(request);
  return task ? [task] : [];
}
