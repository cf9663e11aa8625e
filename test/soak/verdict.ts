import { quantile } from '../bench/lib/stats.js';
import type { HonestCall } from './messages.js';

export type Phase = 'quiet' | 'hostile';

export interface TimedCall extends HonestCall {
  /** Seconds since the soak began. */
  at: number;
  phase: Phase;
}

/** p50, p95 and the longest, in ms. */
interface Figures {
  count: number;
  p50: number;
  p95: number;
  max: number;
}

/** How one kind of call fared. */
export interface KindVerdict {
  kind: string;
  quiet: Figures;
  hostile: Figures;
  /** The longest that a call may take, in ms. */
  allowed: number;
  errors: number;
  isOk: boolean;
}

/** A call may take so many times the slowest quiet one of its kind. */
export const MOST_TIMES = 3;

/** A call that takes no longer says nothing of the gateway: on a small machine the scheduler alone takes so long. */
export const FLOOR_MS = 250;

function figures(calls: readonly TimedCall[]): Figures {
  const times = calls.map(({ ms }) => ms);
  return {
    count: times.length,
    p50: quantile(times, 0.5),
    p95: quantile(times, 0.95),
    max: times.reduce((most, ms) => Math.max(most, ms), 0),
  };
}

/** Compares what honest callers met among hostile ones with what they met by themselves, per kind of call. */
export function judge(calls: readonly TimedCall[]): KindVerdict[] {
  return [...new Set(calls.map(({ kind }) => kind))].sort().map((kind) => {
    const own = calls.filter((call) => call.kind === kind);
    const during = (phase: Phase) => figures(own.filter((call) => call.phase === phase && call.error === undefined));
    const [quiet, hostile] = [during('quiet'), during('hostile')];
    const allowed = MOST_TIMES * Math.max(quiet.max, FLOOR_MS);
    const errors = own.filter(({ error }) => error !== undefined).length;
    const wasSeen = quiet.count > 0 && hostile.count > 0;
    return { kind, quiet, hostile, allowed, errors, isOk: wasSeen && errors === 0 && hostile.max <= allowed };
  });
}
