import type { PendingRequest } from '../../pending-request.js';
import type { ChannelDeps } from '../deps.js';
import { AbandonedCalls } from './abandoned-calls.js';
import type { CallFiles } from './call-files.js';

/** After these a task needs its files no longer: the first is answered when it is over. */
const ENDS_TASK = new Set(['tasks/result', 'tasks/cancel']);

/** How long the files of a task are kept that no client asks about: a day. */
const MOST_OF_A_TASK_MS = 24 * 60 * 60 * 1000;

/** The tasks that calls on one channel have become, for as long as these need the files of their calls. */
export class CallTasks {
  readonly #kept: AbandonedCalls;
  #isOver = false;

  constructor({ limits, taskTools, clock }: ChannelDeps) {
    this.#kept = new AbandonedCalls({
      most: limits.abandoned,
      ms: Math.min(taskTools.keptMs, MOST_OF_A_TASK_MS),
      clock,
      givenUp: () => {},
    });
  }

  /**
   * The requests of a POST, which from now on tell of the tasks that they become.
   * @param files what exists only for its calls
   */
  watched(
    requests: readonly PendingRequest[],
    files: CallFiles | undefined,
    principal: string,
  ): readonly PendingRequest[] {
    if (!files) return requests;
    const becameTask = (id: string) => this.#began(keyOf(principal, id), files);
    return requests.map((request) => ({ ...request, becameTask }));
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

  #began(task: string, files: CallFiles): void {
    if (this.#isOver) return;
    this.#kept.add({ ids: [task], files });
    files.neededBy(task);
  }
}

/** Clients that share the channel have tasks of their own. */
function keyOf(principal: string, taskId: string): string {
  return JSON.stringify([principal, taskId]);
}
