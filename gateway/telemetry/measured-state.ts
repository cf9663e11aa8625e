import type { Stopwatch } from '../ports/clock.js';
import type { BoundMetrics } from '../ports/metrics.js';
import type { StateStore } from '../ports/state-store.js';
import { Measure } from './measure.js';
import { partOf } from './whole.js';

const PART = {
  seconds: 'wharf_state_store_seconds',
  errors: 'wharf_state_store_errors_total',
  codes: 'state_',
} as const;

/** A state store whose steps are timed, by their kinds: what reads, what writes, what does both, and tallies. */
export function measuredState(
  state: StateStore,
  { metrics, clock }: { metrics: BoundMetrics; clock: Stopwatch },
): StateStore {
  const measure = new Measure<'read' | 'write' | 'take' | 'tally'>(PART, metrics, clock);
  return partOf<StateStore>({
    name: state.name,
    create: (...of) => measure.step('write', () => state.create(...of)),
    read: (key) => measure.step('read', () => state.read(key)),
    extend: (key, ttlMs) => measure.step('write', () => state.extend(key, ttlMs)),
    replace: (...of) => measure.step('write', () => state.replace(...of)),
    take: (key) => measure.step('take', () => state.take(key)),
    remove: (key) => measure.step('write', () => state.remove(key)),
    tally: (...of) => measure.step('tally', () => state.tally(...of)),
    time: state.time?.bind(state),
    check: () => state.check(),
    about: state.about?.bind(state),
    lackedRights: state.lackedRights?.bind(state),
    close: () => state.close(),
  });
}
