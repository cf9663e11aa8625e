import { GatewayError } from '../../../errors.js';
import type { Clock } from '../../../ports/clock.js';
import type { StateStore } from '../../../ports/state-store.js';
import type { StateKeys } from '../../../secrets/state-keys.js';
import { parseJson } from '../../../wire/json/parse.js';
import type { TakenQuestion } from '../sealed-state.js';

/** Steps of one change, where several replicas change the questions of one task at once. */
const MOST_TRIES = 50;

/** A task, as one caller knows it: its id alone may also exist at another server. */
export interface Task {
  principal: string;
  server: string;
  taskId: string;
}

/** A question of a task's that its client is asked in other words. */
export interface TaskQuestion extends TakenQuestion {
  /** One replica brings its answer to the server until then, milliseconds since the Unix epoch; afterwards another may. */
  bringingUntil?: number;
  /** The server has its answer, and may show the question for a while yet. */
  isTold?: true;
}

interface TaskQuestionsDeps {
  state: StateStore;
  keys: StateKeys;
  clock: Clock;
}

/** As they are kept. */
interface Kept {
  questions: readonly TaskQuestion[];
  /** Milliseconds since the Unix epoch. */
  until: number;
}

interface Found {
  key: string;
  written: string;
  kept: Kept;
}

/**
 * What Wharf asks the clients of tasks (SEP-2663). A task has no `requestState` for that, and its questions are shown by every
 * answer about it until they are answered: so they are kept in the state store, for all replicas, as long as their links.
 */
export class TaskQuestions {
  readonly #deps: TaskQuestionsDeps;

  constructor(deps: TaskQuestionsDeps) {
    this.#deps = deps;
  }

  async read(task: Task): Promise<readonly TaskQuestion[]> {
    return (await this.#find(task))?.kept.questions ?? [];
  }

  /**
   * Changes them in one step on all replicas.
   * @param change may be called several times; undefined: nothing is changed
   * @param lastsMs how long they are kept at least
   * @returns them as they are afterwards
   */
  async change(
    task: Task,
    change: (questions: readonly TaskQuestion[]) => Promise<readonly TaskQuestion[] | undefined>,
    lastsMs: number,
  ): Promise<readonly TaskQuestion[]> {
    const { state, keys, clock } = this.#deps;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const found = await this.#find(task);
      const before = found?.kept.questions ?? [];
      const questions = await change(before);
      if (!questions) return before;
      const ends = questions.flatMap(({ files }) => files.map(({ expiresAt }) => expiresAt));
      const until = Math.max(found?.kept.until ?? 0, clock.now() + lastsMs, ...ends);
      const key = found?.key ?? keys.of('input', nameOf(task));
      const text = keys.seal.close(key, JSON.stringify({ questions, until } satisfies Kept));
      const ttlMs = questions.length === 0 ? 1 : until - clock.now();
      const isWritten = found
        ? await state.replace(key, found.written, text, ttlMs)
        : questions.length === 0 || (await state.create(key, text, ttlMs, task));
      if (isWritten) return questions;
    }
    throw new GatewayError('state_unavailable', {}, 'the questions of a task changed too often');
  }

  /** Forgets them. @returns them as they were */
  async take(task: Task): Promise<readonly TaskQuestion[]> {
    const found = await this.#find(task);
    const taken = found && (await this.#deps.state.take(found.key));
    return found && taken !== undefined ? (this.#opened(found.key, taken)?.questions ?? []) : [];
  }

  async #find(task: Task): Promise<Found | undefined> {
    const { state, keys } = this.#deps;
    for (const key of keys.all('input', nameOf(task))) {
      const written = await state.read(key);
      const kept = written === undefined ? undefined : this.#opened(key, written);
      if (written !== undefined && kept) return { key, written, kept };
    }
    return undefined;
  }

  #opened(key: string, written: string): Kept | undefined {
    const text = this.#deps.keys.seal.open(key, written);
    return text === undefined ? undefined : (parseJson(text) as Kept);
  }
}

function nameOf({ principal, server, taskId }: Task): string {
  return JSON.stringify([server, principal, taskId]);
}
