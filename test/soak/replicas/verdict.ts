import { quantile } from '../../bench/lib/stats.js';
import type { HonestCall } from '../messages.js';
import type { Found } from './messages.js';

/** What happens to the replicas, in this order. */
export const PHASES = ['both', 'one killed', 'both again', 'no Redis', 'all again'] as const;
export type PhaseName = (typeof PHASES)[number];

/** In which phases a call may fail: what was under way, and what needs Redis. */
const MAY_FAIL: readonly PhaseName[] = ['one killed', 'no Redis'];

export interface PhasedCall extends HonestCall {
  phase: PhaseName;
}

export interface PhaseFigures {
  phase: PhaseName;
  calls: number;
  /** Milliseconds. */
  p50: number;
  p95: number;
  p99: number;
  longest: number;
  errors: number;
  /** How often each error was met, the most frequent first. */
  texts: readonly (readonly [text: string, count: number])[];
}

/** How the calls of each phase fared. */
export function figuresOf(calls: readonly PhasedCall[]): PhaseFigures[] {
  return PHASES.map((phase) => {
    const own = calls.filter((call) => call.phase === phase);
    const times = own.filter(({ error }) => error === undefined).map(({ ms }) => ms);
    const texts = new Map<string, number>();
    for (const { kind, error } of own) {
      if (error === undefined) continue;
      const text = `${kind}: ${withoutNames(error)}`;
      texts.set(text, (texts.get(text) ?? 0) + 1);
    }
    return {
      phase,
      calls: own.length,
      ...{ p50: quantile(times, 0.5), p95: quantile(times, 0.95), p99: quantile(times, 0.99) },
      longest: times.reduce((most, ms) => Math.max(most, ms), 0),
      errors: [...texts.values()].reduce((all, count) => all + count, 0),
      texts: [...texts].sort(([, one], [, other]) => other - one),
    };
  });
}

/** Ids and times differ in errors that are alike. */
function withoutNames(error: string): string {
  return error
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
    .replace(/\b[fu]_[\w-]+/g, 'FILE')
    .replace(/\d+(\.\d+)? (ms|s)\b/g, 'N $2')
    .slice(0, 160);
}

/** What did not hold, in words; empty where all did. */
export function broken(figures: readonly PhaseFigures[], found: Found | undefined): string[] {
  const words = figures.flatMap(({ phase, calls, errors }) => [
    ...(calls === 0 ? [`there was no call in "${phase}"`] : []),
    ...(errors > 0 && !MAY_FAIL.includes(phase) ? [`${errors} calls failed in "${phase}"`] : []),
  ]);
  if (!found) return [...words, 'what was given was not asked for again'];
  const { links, uploads, lost, refused, readable } = found;
  if (links === 0 || uploads === 0 || refused === 0) words.push('a kind of file did not occur');
  if (lost.length > 0) words.push(`${lost.length} acknowledged files are lost, such as ${lost[0]}`);
  if (readable.length > 0) words.push(`${readable.length} refused files can be read, such as ${readable[0]}`);
  return words;
}
