import type { Stopwatch } from '../../../ports/clock.js';
import type { TaskCall } from '../../results/tool/tool-of-task.js';
import type { CallFiles } from './call-files.js';

/** What is kept of a call that the server still works on after its client has gone. */
interface AbandonedCall {
  /** Channel ids of its unanswered requests, as JSON text. */
  ids: readonly string[];
  /** Their progress tokens, as JSON text. */
  tokens?: readonly string[];
  /** What exists only for it. */
  files: CallFiles | undefined;
  /** By its requests' ids, what those run that may become tasks. */
  tasks?: ReadonlyMap<string, TaskCall>;
}

/** What an answer may concern that its client does not get. */
export interface LostCall {
  files: CallFiles | undefined;
  /** What it runs, if it may become a task. */
  task: TaskCall | undefined;
}

interface Kept {
  ids: Set<string>;
  tokens: readonly string[];
  files: CallFiles | undefined;
  tasks: ReadonlyMap<string, TaskCall> | undefined;
  since: number;
}

export interface AbandonedOptions {
  /** `limits.abandoned` */
  most: number;
  /** `timeouts.upstream` */
  ms: number;
  /** Called when a call is given up, to tell the server. */
  givenUp: (ids: readonly string[]) => void;
  clock: Stopwatch;
}

/**
 * The calls of one channel whose clients have gone without cancelling them. A server may still finish such a call, so
 * it is left alone until there are too many or it takes too long. Of its messages at most the names of a tool and of
 * files are kept: otherwise a server that never answers would make Wharf hold everything it was sent. Calls that have
 * become tasks are kept in the same way: the server still works on them, and their ids are those of the tasks.
 */
export class AbandonedCalls {
  readonly #options: AbandonedOptions;
  /** In the order in which their clients left. */
  readonly #calls = new Set<Kept>();
  readonly #byId = new Map<string, Kept>();
  readonly #tokens = new Map<string, Kept>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: AbandonedOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#calls.size === 0;
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  /** What is known of the call of a request, if it is one of them. */
  callOf(id: string): LostCall | undefined {
    const kept = this.#byId.get(id);
    return kept && { files: kept.files, task: kept.tasks?.get(id) };
  }

  /** True when progress with this token belongs to one of them. */
  hasToken(token: string): boolean {
    return this.#tokens.has(token);
  }

  add({ ids, tokens = [], files, tasks }: AbandonedCall): void {
    // "Task IDs MUST be unique among all tasks controlled by the receiver": it is another task, and the one before is over
    for (const id of ids) void this.settle(id);
    const kept: Kept = { ids: new Set(ids), tokens, files, tasks, since: this.#options.clock.ticks() };
    this.#calls.add(kept);
    for (const id of kept.ids) this.#byId.set(id, kept);
    for (const token of tokens) this.#tokens.set(token, kept);
    while (this.#byId.size > this.#options.most) this.#giveUpOldest();
    this.#schedule();
  }

  /** A request was answered, or cancelled by its client. */
  settle(id: string): Promise<void> | undefined {
    const call = this.#byId.get(id);
    if (!call) return undefined;
    this.#byId.delete(id);
    call.ids.delete(id);
    if (call.ids.size === 0) this.#forget(call);
    return call.files?.over([id]);
  }

  /** The channel is gone. */
  async end(): Promise<void> {
    const calls = [...this.#calls];
    for (const call of calls) this.#forget(call);
    await Promise.all(calls.map(({ files, ids }) => files?.over(ids)));
  }

  #giveUpOldest(): void {
    const [oldest] = this.#calls;
    if (!oldest) return;
    const { ids, files } = oldest;
    this.#forget(oldest);
    this.#options.givenUp([...ids]);
    void files?.over(ids);
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
    const wait = Math.max(0, oldest.since + this.#options.ms - this.#options.clock.ticks());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      for (const call of [...this.#calls]) {
        if (call.since + this.#options.ms > this.#options.clock.ticks()) break;
        this.#giveUpOldest();
      }
      this.#schedule();
    }, wait).unref();
  }
}
