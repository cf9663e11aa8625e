import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { create as createObjects, settings as objectSettings } from '../../adapters/objects/memory.js';
import { create as createState, settings as stateSettings } from '../../adapters/state/memory.js';
import { UNSHARED } from '../../gateway/budget/ledger.js';
import { GatewayError } from '../../gateway/errors.js';
import { createSweep } from '../../gateway/files/retention/sweep.js';
import type { Metrics } from '../../gateway/ports/metrics.js';
import type { ObjectStore } from '../../gateway/ports/object-store.js';
import type { StateStore } from '../../gateway/ports/state-store.js';
import { runs } from '../helpers/effort.js';

/** Interleavings per run of the suite: about five seconds. 20,000 were run when this was written. */
const RUNS = 1500;

const NEVER = new AbortController().signal;
/** From an object's commit to its record no more time passes than this. */
const CONFIRM = 100;
const TTL = 250;
const metrics: Metrics = { count() {}, observe() {}, gauge() {} };

/** What one file goes through: how far its writer comes, and how often its life is extended. */
interface Life {
  end: 'before-commit' | 'before-record' | 'recorded';
  extensions: number;
}

const lifeArbitrary: fc.Arbitrary<Life> = fc.record({
  end: fc.constantFrom('before-commit', 'before-record', 'recorded', 'recorded', 'recorded'),
  extensions: fc.nat(3),
});

interface Plan {
  lives: Life[];
  /** Steps of the clock, in milliseconds. */
  ticks: number[];
  /** Sweeps of two replicas, and which of their reads of the state fail. */
  sweeps: [number, number];
  failingReads: number[];
  /** Whether the store dates every object back, as S3 does with one that was long on its way. */
  datedBack: boolean;
}

const planArbitrary: fc.Arbitrary<Plan> = fc.record({
  lives: fc.array(lifeArbitrary, { minLength: 1, maxLength: 4 }),
  ticks: fc.array(fc.integer({ min: 1, max: 120 }), { maxLength: 12 }),
  sweeps: fc.tuple(fc.nat(4), fc.nat(4)),
  failingReads: fc.uniqueArray(fc.nat(20), { maxLength: 3 }),
  datedBack: fc.boolean(),
});

/**
 * Runs writers, two sweeping replicas and the clock against each other, in the order the scheduler chooses, with a
 * pause before and after every step against a store. Throws when a file with a record is without its object.
 */
async function play(s: fc.Scheduler, plan: Plan, confirmMs: number): Promise<void> {
  let now = 1_000_000;
  const clock = { now: () => now, ticks: () => now };
  const objects = createObjects(objectSettings.parse({}), { clock });
  const state = createState(stateSettings.parse({}), { sharing: UNSHARED, clock });
  /** When each object was committed whose writer has not yet made its record: the clock waits for those. */
  const between = new Map<string, number>();
  const violations: string[] = [];
  const pause = (label: string) => s.schedule(Promise.resolve(), label);

  const paused = async <T>(label: string, step: () => Promise<T>): Promise<T> => {
    await pause(`before ${label}`);
    const result = await step();
    await pause(`after ${label}`);
    return result;
  };

  const live = async (life: Life, n: number): Promise<void> => {
    const id = `f_${n}`;
    const writer = await paused(`${id} create`, () => objects.create(`f/${id}`, NEVER));
    await paused(`${id} write`, () => writer.writeLast(Buffer.from(id)));
    if (life.end === 'before-commit') return paused(`${id} abort`, () => writer.abort());
    await paused(`${id} commit`, async () => {
      await writer.commit();
      between.set(id, now);
    });
    if (life.end === 'before-record') return void between.delete(id);
    await paused(`${id} record`, async () => {
      await state.create(`file:${id}`, JSON.stringify({ key: `f/${id}` }), TTL);
      between.delete(id);
      if ((await objects.head(`f/${id}`)) === undefined) violations.push(`${id} has a record but no object`);
    });
    for (let k = 0; k < life.extensions; k += 1) {
      const lives = await paused(`${id} extend`, () => state.extend(`file:${id}`, TTL));
      if (!lives) return;
    }
  };

  let reads = 0;
  const seenObjects: ObjectStore = {
    ...objects,
    async *list(prefix) {
      for await (const stat of objects.list(prefix)) {
        await pause('listed');
        yield plan.datedBack ? { ...stat, modifiedAt: 0 } : stat;
      }
    },
    remove: (key) =>
      paused(`remove ${key}`, async () => {
        await objects.remove(key);
        const id = key.slice('f/'.length);
        if ((await state.read(`file:${id}`)) !== undefined) violations.push(`${id} was living when it was removed`);
      }),
  };
  const seenState: StateStore = {
    ...state,
    read: (key) =>
      paused(`read ${key}`, async () => {
        reads += 1;
        if (plan.failingReads.includes(reads)) throw new GatewayError('state_unavailable');
        return state.read(key);
      }),
  };
  const replica = async (times: number): Promise<void> => {
    const sweep = createSweep({ objects: seenObjects, state: seenState, clock, metrics, graceMs: 50, confirmMs });
    for (let k = 0; k < times; k += 1) {
      await pause('sweep');
      await sweep().catch((error: unknown) => {
        if (!(error instanceof GatewayError)) throw error;
      });
    }
  };
  const tick = async (): Promise<void> => {
    for (const ms of plan.ticks) {
      await pause('tick');
      // What is waited for before an object is removed: until then its record is made, or never.
      now = Math.min(now + ms, ...[...between.values()].map((committed) => committed + CONFIRM - 1));
    }
  };

  const everything = Promise.all([...plan.lives.map(live), ...plan.sweeps.map(replica), tick()]);
  await s.waitFor(everything);
  expect(violations).toEqual([]);

  const last = createSweep({ objects, state, clock, metrics, graceMs: 50, confirmMs });
  for (const ms of [TTL, CONFIRM]) {
    now += ms;
    await last();
  }
  for await (const { key } of objects.list('')) violations.push(`${key} is left`);
  expect(violations).toEqual([]);
  await objects.close();
  await state.close();
}

const property = (confirmMs: number) =>
  fc.asyncProperty(fc.scheduler(), planArbitrary, (s, plan) => play(s, plan, confirmMs));

describe('sweeping while files are written, recorded, extended and forgotten', () => {
  it('never removes a living file, and leaves no orphan (R20)', async () => {
    await fc.assert(property(CONFIRM), { numRuns: runs(RUNS) });
  }, 120_000);

  it('would remove living files if it did not wait', async () => {
    // one in 300 of them shows it, and the first one ends the search
    const outcome = await fc.check(property(0), { numRuns: 10 * RUNS, endOnFailure: true });
    expect(outcome.failed).toBe(true);
  }, 120_000);
});
