import { lightValue } from '../../../json/light-value.js';
import { isObject } from '../../../json/value.js';
import { RANGE, rangeAt } from '../../../mcp/ranges.js';
import type { JsonObject, JsonPath } from '../../../ports/json.js';
import { parseJson } from '../../../wire/json/parse.js';
import type { HeldMessage } from '../../../wire/json/reader.js';
import type { EditableAnswer, PendingRequest } from '../../pending-request.js';
import { TERMINAL, taskBegunIn } from '../../results/tool/tool-of-task.js';
import type { ChannelDeps } from '../deps.js';
import { AbandonedCalls, type LostCall } from './abandoned-calls.js';
import { CallFiles } from './call-files.js';

/** After these a task needs its files no longer: the first is answered when it is over. */
const ENDS_TASK = new Set(['tasks/result', 'tasks/cancel']);

/** Its answer tells whether a task is over. The extension of 2026-07-28 has the result in it, and no `tasks/result`. */
const TELLS_OF_TASK = 'tasks/get';

/** By which a server tells what has become of a task: in 2025-11-25, and in the extension. As JSON text. */
const NOTICES = new Set(['"notifications/tasks/status"', '"notifications/tasks"']);

const TERMINAL_WORDS = [...TERMINAL].map((status) => Buffer.from(`"${status}"`));

/** How long the files of a task are kept that no client asks about: a day. */
const MOST_OF_A_TASK_MS = 24 * 60 * 60 * 1000;

/** Ids of tasks that are longer are not kept of tasks that ended early: those of servers are UUIDs. */
const MAX_TASK_ID = 1024;

/** The tasks that calls on one channel have become, for as long as these need the files of their calls. */
export class CallTasks {
  readonly #deps: ChannelDeps;
  readonly #kept: AbandonedCalls;
  /** What exists only for calls and tasks that are not over. */
  readonly #files = new Set<CallFiles>();
  /**
   * Tasks that ended before the answers that create them, oldest first: a server may report the end of a quick one at once.
   * At most `limits.abandoned`. All are forgotten when no call or task has files.
   */
  readonly #early = new Set<string>();
  #isOver = false;

  constructor(deps: ChannelDeps) {
    const { limits, taskTools, clock } = deps;
    this.#deps = deps;
    this.#kept = new AbandonedCalls({
      most: limits.abandoned,
      ms: Math.min(taskTools.keptMs, MOST_OF_A_TASK_MS),
      clock,
      givenUp: () => {},
    });
  }

  /**
   * What exists only for the calls of a POST.
   * @param ids of its requests on the channel, as JSON text
   */
  filesOf(ids: Iterable<string>, remove: () => Promise<void>): CallFiles {
    const files = new CallFiles(ids, () => {
      this.#files.delete(files);
      if (this.#files.size === 0) this.#early.clear();
      return remove();
    });
    this.#files.add(files);
    return files;
  }

  /**
   * The requests of a POST, which from now on tell of the tasks that they begin, and of those that they find to be over.
   * @param files what exists only for its calls
   */
  watched(
    requests: readonly PendingRequest[],
    files: CallFiles | undefined,
    principal: string,
  ): readonly PendingRequest[] {
    if (!files && this.#kept.isEmpty) return requests;
    return requests.map((request): PendingRequest => {
      const task = request.method === TELLS_OF_TASK ? this.#taskOf(request, principal) : undefined;
      if (task !== undefined) {
        const tells = { apply: (answer: EditableAnswer) => this.#told(task, answer), mayChange: mayTellOfEnd };
        return { ...request, edits: [...(request.edits ?? []), tells] };
      }
      return files ? { ...request, becameTask: (id) => this.#began(keyOf(principal, id), files) } : request;
    });
  }

  /** The answer to a call whose client has gone. If it creates a task, the client still finds that in the server's list. */
  async missed(
    message: HeldMessage,
    base: JsonPath,
    { files, task: call, principal }: LostCall & { principal: string },
  ): Promise<void> {
    const { limits, taskTools, server } = this.#deps;
    const task = files || call ? taskBegunIn(message, base, limits) : undefined;
    if (task === undefined) return;
    if (files && !task.isOver) this.#began(keyOf(principal, task.id), files);
    if (call) await taskTools.remember(task.id, call, { principal, server });
  }

  /** What a server says by itself: a task that is over needs its files no longer, though no client asks about it. */
  heard(message: HeldMessage, principal: string): void {
    if (this.#files.size === 0 || message.malformed || !NOTICES.has(message.captured('method') ?? '')) return;
    if (message.values > this.#deps.limits.values) return;
    const { params } = parseJson(message.skeleton().toString('utf8')) as JsonObject;
    if (!isObject(params) || typeof params.taskId !== 'string' || !TERMINAL.has(params.status)) return;
    const task = keyOf(principal, params.taskId);
    if (this.#kept.has(task)) void this.#kept.settle(task);
    else if (params.taskId.length <= MAX_TASK_ID) this.#endedEarly(task);
  }

  /** A request has its answer. */
  async answered(request: PendingRequest, principal: string): Promise<void> {
    const task = ENDS_TASK.has(request.method) ? this.#taskOf(request, principal) : undefined;
    if (task !== undefined) await this.#kept.settle(task);
  }

  /** The channel is gone. */
  end(): Promise<void> {
    this.#isOver = true;
    return this.#kept.end();
  }

  /** The task that a request is about, if it needs files. */
  #taskOf({ subject }: PendingRequest, principal: string): string | undefined {
    if (subject === undefined || this.#kept.isEmpty) return undefined;
    const task = keyOf(principal, subject);
    return this.#kept.has(task) ? task : undefined;
  }

  #endedEarly(task: string): void {
    this.#early.add(task);
    const [oldest] = this.#early;
    if (this.#early.size > this.#deps.limits.abandoned && oldest !== undefined) this.#early.delete(oldest);
  }

  #began(task: string, files: CallFiles): void {
    if (this.#isOver || this.#early.delete(task)) return;
    this.#kept.add({ ids: [task], files });
    files.neededBy(task);
  }

  async #told(task: string, { message, base }: EditableAnswer): Promise<void> {
    const range = rangeAt(message, RANGE.result, [...base, 'result']);
    const result = range && lightValue(message, range, this.#deps.limits);
    if (isObject(result) && TERMINAL.has(result.status)) await this.#kept.settle(task);
  }
}

/** Clients that share the channel have tasks of their own. */
function keyOf(principal: string, taskId: string): string {
  return JSON.stringify([principal, taskId]);
}

/** A cheap test of an answer. */
function mayTellOfEnd(message: Buffer): boolean {
  return TERMINAL_WORDS.some((word) => message.includes(word));
}
