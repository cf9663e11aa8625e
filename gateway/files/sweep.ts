import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { Metrics } from '../ports/metrics.js';
import type { ObjectStore } from '../ports/object-store.js';
import type { StateStore } from '../ports/state-store.js';

const HOUR_MS = 3_600_000;

/** Where the objects of files are; the last segment of a key is the file's id. */
const FILES = 'f/';

/**
 * How long an object may be without a record. It must exceed the longest time between an object's commit and the
 * creation of its record, that is one message's way through the gateway, plus the difference between the clocks of
 * the object store and of this machine.
 */
export const ORPHAN_GRACE_MS = HOUR_MS;

/** No message takes a day, so a write begun before that has lost its writer. */
export const UNFINISHED_AGE_MS = 24 * HOUR_MS;

export interface SweepDeps {
  objects: ObjectStore;
  state: StateStore;
  clock: Clock;
  metrics: Metrics;
  /** Milliseconds; default `ORPHAN_GRACE_MS`. */
  graceMs?: number;
}

export interface SweepResult {
  /** Objects that no record points to any more. */
  orphans: number;
  /** Writes that nobody will finish. */
  unfinished: number;
}

/**
 * Removes what no record points to: files whose record has expired, objects whose writer died before it made one,
 * unfinished writes. Any number of replicas may sweep at the same time.
 *
 * It never removes a living file, because an id is given a record at most once, within the grace after its object was
 * committed: an object that is older and has none will never have one.
 * @throws GatewayError when a store fails, or the signal's reason; whatever was not judged until then stays
 */
export async function sweep(deps: SweepDeps, signal?: AbortSignal): Promise<SweepResult> {
  const { objects, state, metrics, graceMs = ORPHAN_GRACE_MS } = deps;
  // Read once, before the listing: an object that is committed during the sweep is younger than any grace.
  const now = deps.clock.now();
  let orphans = 0;
  for await (const { key, modifiedAt } of objects.list(FILES)) {
    signal?.throwIfAborted();
    if (modifiedAt > now - graceMs) continue;
    const id = key.slice(key.lastIndexOf('/') + 1);
    // A read that fails throws and ends the sweep: an unknown record is not a missing one.
    if ((await state.read(`file:${id}`)) !== undefined) continue;
    await objects.remove(key);
    metrics.count('wharf_swept_objects_total', { reason: 'orphan' });
    orphans += 1;
  }
  signal?.throwIfAborted();
  const unfinished = await objects.removeUnfinished(now - UNFINISHED_AGE_MS);
  metrics.count('wharf_swept_objects_total', { reason: 'unfinished' }, unfinished);
  return { orphans, unfinished };
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
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  const sweepOnce = async (): Promise<void> => {
    try {
      const { orphans, unfinished } = await sweep(deps, stopping.signal);
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
