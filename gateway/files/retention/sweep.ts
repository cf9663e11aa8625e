import { isNotWritten } from '../../errors/kept.js';
import type { Clock, Stopwatch } from '../../ports/clock.js';
import type { Log } from '../../ports/log.js';
import type { Metrics } from '../../ports/metrics.js';
import type { ObjectStat, ObjectStore } from '../../ports/object-store.js';
import type { StateStore } from '../../ports/state-store.js';
import { recordIn, recordKey } from '../file.js';
import { idOfKey, OBJECTS } from '../handles/handle.js';
import { isUnderWay } from '../tickets/progress.js';
import { Sightings } from './sightings.js';
import { failuresOf, TOGETHER as REMOVED_TOGETHER } from './together.js';

const HOUR_MS = 3_600_000;

/** By how much of it the time between two sweeps varies. */
const SPREAD = 0.2;

/** A younger object is skipped: its message may still be under way. */
export const ORPHAN_GRACE_MS = HOUR_MS;

/**
 * An object is removed only if an earlier sweep, at least this long ago, also saw it without a record. Age alone proves
 * nothing: S3 dates an object to the beginning of its multipart upload, and its clock is not ours. This must exceed the
 * time between an object's commit, when it becomes listed, and the creation of its record, which takes a few steps
 * against the state store (`timeouts.state` each).
 */
export const CONFIRM_MS = 10 * 60_000;

/** A message never takes a day, so an older write has lost its writer. */
export const UNFINISHED_AGE_MS = 24 * HOUR_MS;

/** Records that are read at the same time: read alone, those of a million files in Redis took most of an hour's sweep. */
const TOGETHER = 32;

/** Objects remembered from one sweep to the next, about 100 bytes each. The rest waits for a later sweep. */
const MAX_SUSPECTS = 100_000;

interface SweepDeps {
  objects: ObjectStore;
  state: StateStore;
  clock: Clock & Stopwatch;
  metrics: Metrics;
  /** Only this process records objects of the store: what is older than the process has no record, and will never have one. */
  isAlone?: boolean;
  /** Milliseconds; default `ORPHAN_GRACE_MS`. */
  graceMs?: number;
  /** Milliseconds; default `CONFIRM_MS`. */
  confirmMs?: number;
  /** What other processes have seen; absent where they have a state of their own. */
  sightings?: Pick<Sightings, 'note' | 'seen'> | undefined;
}

export interface SweepResult {
  /** Objects that had no record. */
  orphans: number;
  /** Writes that were abandoned. */
  unfinished: number;
}

/**
 * @throws GatewayError when a store fails, or the signal's reason; objects not judged by then stay. The failure of one
 * object is thrown at the end, when all others are gone
 */
type Sweep = (signal?: AbortSignal) => Promise<SweepResult>;

/**
 * Makes the function that removes everything without a record: files whose record has expired, objects whose writer
 * died before recording it or came second, unfinished writes. Any number of replicas may sweep at the same time.
 *
 * It never removes a living file, because an object gets a record at most once, soon after it is first listed: one that
 * has had none for `confirmMs` will never get one, nor will one that an ended process has left to a state that ended with
 * it. Such a one is removed at first sight: a gateway that never runs for an hour would not see it twice.
 */
export function createSweep(deps: SweepDeps): Sweep {
  const { objects, state, clock, metrics, isAlone, sightings } = deps;
  const { graceMs = ORPHAN_GRACE_MS, confirmMs = CONFIRM_MS } = deps;
  const begun = { now: clock.now(), ticks: clock.ticks() };
  /** When the process began, by the present clock. A clock may be set, and a stopwatch stands while the machine sleeps. */
  const beginning = () => Math.min(begun.now, clock.now() - (clock.ticks() - begun.ticks));
  /** Keys seen without a record, with the time of the first sighting. */
  let suspects = new Map<string, number>();

  return async (signal) => {
    const now = clock.now();
    // the clock of a network's disk may be another one
    const earlier = isAlone ? beginning() - graceMs : Number.NEGATIVE_INFINITY;
    const seen = await sightings?.seen();
    const still = new Map<string, number>();
    let orphans = 0;
    let confirmed: string[] = [];
    // of one object, which may be under a legal hold: a store that is down cannot be listed either
    let failure: unknown;
    const remove = async () => {
      const removed = confirmed;
      confirmed = [];
      const failed = await failuresOf(removed, async (key) => {
        // it has been judged with others, whose removal may have taken a while
        if (await isNeeded(state, key)) return;
        await objects.remove(key);
        metrics.count('wharf_swept_objects_total', { reason: 'orphan' });
        orphans += 1;
      });
      for (const error of failed.values()) failure ??= error;
    };
    for await (const { key, modifiedAt } of unneeded(oldObjects(objects, now - graceMs, signal), state)) {
      signal?.throwIfAborted();
      // Not `now`, which is when the listing began: the object may have been committed since.
      const since = suspects.get(key) ?? (seen?.has(key) ? seen.at : clock.now());
      if (now - since >= confirmMs || modifiedAt < earlier) confirmed.push(key);
      else if (still.size < MAX_SUSPECTS) still.set(key, since);
      if (confirmed.length === REMOVED_TOGETHER) await remove();
    }
    await remove();
    suspects = still;
    // what is not noted now will be by a later sweep
    await sightings?.note(still.keys()).catch(() => undefined);
    signal?.throwIfAborted();
    const unfinished = await objects.removeUnfinished(now - UNFINISHED_AGE_MS, signal);
    metrics.count('wharf_swept_objects_total', { reason: 'unfinished' }, unfinished);
    if (failure !== undefined) throw failure;
    return { orphans, unfinished };
  };
}

/** Objects that are not younger than that. */
async function* oldObjects(
  objects: Pick<ObjectStore, 'list'>,
  time: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<ObjectStat> {
  for await (const found of objects.list(OBJECTS, signal)) if (found.modifiedAt <= time) yield found;
}

/** Objects without a record, which no upload under way writes. */
async function* unneeded(
  found: AsyncIterable<ObjectStat>,
  state: Pick<StateStore, 'read'>,
): AsyncGenerator<ObjectStat> {
  let some: ObjectStat[] = [];
  const judge = async () => {
    const judged = some;
    some = [];
    const needed = await Promise.all(judged.map(({ key }) => isNeeded(state, key)));
    return judged.filter((_, index) => !needed[index]);
  };
  for await (const one of found) {
    some.push(one);
    if (some.length === TOGETHER) yield* await judge();
  }
  yield* await judge();
}

/** A failed read throws and ends the sweep: an unknown record is not a missing one. */
async function isNeeded(state: Pick<StateStore, 'read'>, key: string): Promise<boolean> {
  try {
    return (await hasRecord(state, key)) || (await isUnderWay(state, idOfKey(key), key));
  } catch (error) {
    // unknown for good: its object stays, and the others are judged all the same
    if (isNotWritten(error)) return true;
    throw error;
  }
}

/**
 * True when a file's record points to this very object: of several attempts to upload one file, only one has the
 * record.
 */
async function hasRecord(state: Pick<StateStore, 'read'>, key: string): Promise<boolean> {
  return recordIn(await state.read(recordKey(idOfKey(key))))?.key === key;
}

interface SweeperDeps extends Omit<SweepDeps, 'sightings'> {
  log: Log;
  /** Milliseconds from the end of one sweep to the next, plus or minus a fifth; default one hour. */
  intervalMs?: number;
}

interface Sweeper {
  /** Begins no further sweep; resolves when the running one has ended, after the objects it is at. */
  stop(): Promise<void>;
}

/** Sweeps repeatedly. A failed sweep is logged, and the next one tries again. */
export function startSweeper(deps: SweeperDeps): Sweeper {
  const { log, state, clock, intervalMs = HOUR_MS } = deps;
  // a state store that only this process has ends with it
  const sightings = state.time && new Sightings({ state, clock, afterMs: intervalMs * (1 - SPREAD) });
  const sweep = createSweep({ ...deps, sightings });
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  const sweepOnce = async (): Promise<void> => {
    try {
      const { orphans, unfinished } = await sweep(stopping.signal);
      if (orphans + unfinished > 0) log.info({ orphans, unfinished }, 'removed objects without a record');
    } catch (error) {
      if (!stopping.signal.aborted) log.warn({ err: error }, 'could not remove all objects without a record');
    }
  };

  const scheduleIn = (ms: number): void => {
    if (stopping.signal.aborted) return;
    timer = setTimeout(() => {
      // Keeps replicas that were started together from sweeping together.
      running = sweepOnce().then(() => scheduleIn(intervalMs * (1 - SPREAD + 2 * SPREAD * Math.random())));
    }, ms);
    timer.unref();
  };
  // The first sweep comes early, and where one is due at once; otherwise gateways that live for minutes would never sweep.
  const begin = async (): Promise<void> => {
    const isDue = await sightings?.isDue().catch(() => false);
    scheduleIn((isDue ? intervalMs / 60 : intervalMs / 4) * Math.random());
  };
  running = begin();

  return {
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
  };
}
