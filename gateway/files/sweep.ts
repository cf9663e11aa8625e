import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { Metrics } from '../ports/metrics.js';
import type { ObjectStore } from '../ports/object-store.js';
import type { StateStore } from '../ports/state-store.js';
import type { FileRecord } from './file.js';
import { idOfKey, OBJECTS } from './handle.js';

const HOUR_MS = 3_600_000;

/** An object younger than this is not even looked at: its message may still be on its way. */
export const ORPHAN_GRACE_MS = HOUR_MS;

/**
 * An object is removed only if it was seen without a record by an earlier sweep too, at least this long ago. The age
 * alone says nothing: S3 dates an object back to the beginning of its multipart upload, and its clock is not ours.
 * This must exceed the time between an object's commit, from which on it is listed, and the creation of its record,
 * which is a few steps against the state store (`timeouts.state` each).
 */
export const CONFIRM_MS = 10 * 60_000;

/** No message takes a day, so a write begun before that has lost its writer. */
export const UNFINISHED_AGE_MS = 24 * HOUR_MS;

/** Objects remembered from one sweep to the next, about 100 bytes each. What is beyond waits for a later sweep. */
const MAX_SUSPECTS = 100_000;

export interface SweepDeps {
  objects: ObjectStore;
  state: StateStore;
  clock: Clock;
  metrics: Metrics;
  /** Milliseconds; default `ORPHAN_GRACE_MS`. */
  graceMs?: number;
  /** Milliseconds; default `CONFIRM_MS`. */
  confirmMs?: number;
}

export interface SweepResult {
  /** Objects that no record points to any more. */
  orphans: number;
  /** Writes that nobody will finish. */
  unfinished: number;
}

/** @throws GatewayError when a store fails, or the signal's reason; whatever was not judged until then stays */
export type Sweep = (signal?: AbortSignal) => Promise<SweepResult>;

/**
 * Makes the function that removes what no record points to: files whose record has expired, objects whose writer died
 * before it made one or came second, unfinished writes. Any number of replicas may sweep at the same time.
 *
 * It never removes a living file, because an object is given a record at most once, soon after it is listed for the
 * first time: one that had none for `confirmMs` will never have one.
 */
export function createSweep(deps: SweepDeps): Sweep {
  const { objects, state, metrics, graceMs = ORPHAN_GRACE_MS, confirmMs = CONFIRM_MS } = deps;
  /** Keys seen without a record, and when that was first. */
  let suspects = new Map<string, number>();

  return async (signal) => {
    const now = deps.clock.now();
    const still = new Map<string, number>();
    let orphans = 0;
    for await (const { key, modifiedAt } of objects.list(OBJECTS)) {
      signal?.throwIfAborted();
      if (modifiedAt > now - graceMs) continue;
      // A read that fails throws and ends the sweep: an unknown record is not a missing one.
      if (await hasRecord(state, key)) continue;
      // Not `now`, which is when the listing began: this object may have been committed since.
      const since = suspects.get(key) ?? deps.clock.now();
      if (now - since < confirmMs) {
        if (still.size < MAX_SUSPECTS) still.set(key, since);
        continue;
      }
      await objects.remove(key);
      metrics.count('wharf_swept_objects_total', { reason: 'orphan' });
      orphans += 1;
    }
    suspects = still;
    signal?.throwIfAborted();
    const unfinished = await objects.removeUnfinished(now - UNFINISHED_AGE_MS);
    metrics.count('wharf_swept_objects_total', { reason: 'unfinished' }, unfinished);
    return { orphans, unfinished };
  };
}

/** Whether a file's record points to this very object: of several tries to upload one file, only one has it. */
async function hasRecord(state: Pick<StateStore, 'read'>, key: string): Promise<boolean> {
  const text = await state.read(`file:${idOfKey(key)}`);
  return text !== undefined && (JSON.parse(text) as FileRecord | null)?.key === key;
}

export interface SweeperDeps extends SweepDeps {
  log: Log;
  /** Milliseconds from the end of one sweep to the next, give or take a fifth; default one hour. */
  intervalMs?: number;
}

export interface Sweeper {
  /** No sweep begins any more; resolves when the one under way has ended, after the object it is at. */
  stop(): Promise<void>;
}

/** Sweeps again and again. A sweep that fails is logged, and the next one tries again. */
export function startSweeper(deps: SweeperDeps): Sweeper {
  const { log, intervalMs = HOUR_MS } = deps;
  const sweep = createSweep(deps);
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  const sweepOnce = async (): Promise<void> => {
    try {
      const { orphans, unfinished } = await sweep(stopping.signal);
      if (orphans + unfinished > 0) log.info({ orphans, unfinished }, 'removed objects that nothing points to');
    } catch (error) {
      if (!stopping.signal.aborted) log.warn({ err: error }, 'could not look for objects that nothing points to');
    }
  };

  const scheduleIn = (ms: number): void => {
    if (stopping.signal.aborted) return;
    timer = setTimeout(() => {
      // Replicas that were started together shall not sweep together.
      running = sweepOnce().then(() => scheduleIn(intervalMs * (0.8 + 0.4 * Math.random())));
    }, ms);
    timer.unref();
  };
  // The first one comes early, or a gateway that is restarted every half hour would never sweep.
  scheduleIn((intervalMs / 4) * Math.random());

  return {
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
  };
}
