import { breathe } from '../../budget/turn.js';
import type { Stopwatch } from '../../ports/clock.js';
import type { Log } from '../../ports/log.js';
import type { Metrics } from '../../ports/metrics.js';
import type { ObjectStore } from '../../ports/object-store.js';
import type { StateStore } from '../../ports/state-store.js';
import { recordKey } from '../file.js';
import { StateMark } from './state-mark.js';
import { failuresOf, TOGETHER } from './together.js';

/** Files watched at one time, about 150 bytes each; the rest is left to the sweeper. */
const MAX_WATCHED = 100_000;

/** The shortest and the longest pause between two checks. */
const MIN_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 60_000;

interface ExpiryDeps {
  objects: Pick<ObjectStore, 'remove'>;
  state: Pick<StateStore, 'read' | 'create' | 'extend' | 'remove'>;
  clock: Stopwatch;
  log: Log;
  metrics: Metrics;
  /** `retention`, milliseconds. */
  retentionMs: number;
}

interface Watched {
  id: string;
  /** Of its object. */
  key: string;
  /** When its record may be gone, by the stopwatch: a clock that is set back must not keep the bytes of expired files. */
  dueAt: number;
}

/**
 * Removes the objects of files soon after their record has expired. It knows the files that this process has recorded:
 * for those a missing record means expired, never "not recorded yet". All others, such as those of a process that has
 * ended, are left to the sweeper, which must wait to tell the two apart. So are all of them once the state store has lost
 * its records: operators have as long as the sweeper waits to bring them back.
 */
export class Expiry {
  readonly #deps: ExpiryDeps;
  readonly #pauseMs: number;
  readonly #mark: StateMark;
  /** By file id, ordered by time: a checked file moves to the end. */
  readonly #watched = new Map<string, Watched>();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(deps: ExpiryDeps) {
    this.#deps = deps;
    this.#mark = new StateMark(deps.state);
    this.#pauseMs = Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, deps.retentionMs / 4));
  }

  /** Watches a file that has just got its record. */
  watch(id: string, key: string): void {
    if (this.#watched.size < MAX_WATCHED) {
      this.#watched.set(id, { id, key, dueAt: this.#deps.clock.ticks() + this.#deps.retentionMs });
    }
  }

  /**
   * Checks every file that is due. The record of a file in use has been extended, and the file is checked again later.
   * So is one whose check fails.
   * @throws the first failure
   */
  async look(): Promise<void> {
    const now = this.#deps.clock.ticks();
    if (this.#watched.size === 0) return this.#mark.drop();
    // while the store is away, nothing can be judged below either
    await this.#looksAtMark().catch(() => false);
    const failures = new Map<Watched, unknown>();
    for (let due = this.#due(now); due.length > 0; due = this.#due(now)) {
      const failed = await this.#judge(due, now);
      // none is watched any longer, and least of all one whose record could not be read before it was lost
      if (!failed) return;
      for (const [one, error] of failed) {
        failures.set(one, error);
        this.#watched.delete(one.id);
      }
      // a store that is down makes each of them wait for its time-out
      if (failed.size === due.length) break;
      await breathe();
    }
    // behind the others: one object that cannot be removed, under a legal hold for example, must not keep them all
    for (const one of failures.keys()) this.#watched.set(one.id, { ...one, dueAt: now });
    for (const error of failures.values()) throw error;
  }

  /** Some of those that are due; none once it stops. */
  #due(now: number): Watched[] {
    const due: Watched[] = [];
    for (const one of this.#watched.values()) {
      if (one.dueAt > now || this.#stopped || due.length === TOGETHER) break;
      due.push(one);
    }
    return due;
  }

  /** @returns why some of them could not be judged, or removed; undefined when the state store has lost its records */
  async #judge(due: readonly Watched[], now: number): Promise<Map<Watched, unknown> | undefined> {
    const { state, objects, metrics, retentionMs } = this.#deps;
    const expired: Watched[] = [];
    const unread = await failuresOf(due, async (one) => {
      if ((await state.read(recordKey(one.id))) === undefined) expired.push(one);
      else this.#lookAgain(one, now + retentionMs / 4);
    });
    // after they were read: what is lost later was there
    if (expired.length > 0 && !(await this.#looksAtMark())) return undefined;
    const unremoved = await failuresOf(expired, async ({ id, key }) => {
      await objects.remove(key);
      metrics.count('wharf_swept_objects_total', { reason: 'expired' });
      this.#watched.delete(id);
    });
    return new Map([...unread, ...unremoved]);
  }

  #lookAgain({ id, key }: Watched, dueAt: number): void {
    this.#watched.delete(id);
    this.#watched.set(id, { id, key, dueAt });
  }

  /** False when the state store has lost its records: then none of the files is watched any longer. */
  async #looksAtMark(): Promise<boolean> {
    if (await this.#mark.isKept()) return true;
    const fields = { files: this.#watched.size };
    this.#watched.clear();
    this.#deps.log.warn(
      fields,
      'the state store has lost what was in it: to bring back a backup, stop every Wharf within 45 minutes, before files are removed',
    );
    return false;
  }

  start(): void {
    this.#timer = setTimeout(() => {
      this.#running = this.look()
        .catch((error) => this.#deps.log.warn({ err: error }, 'could not remove an expired file'))
        .finally(() => {
          if (!this.#stopped) this.start();
        });
    }, this.#pauseMs);
    this.#timer.unref();
  }

  /** Resolves when a running check has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
    await this.#mark.drop();
  }
}
