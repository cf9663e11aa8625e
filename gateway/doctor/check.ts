import { adviceIn, causesOf, linesOf } from '../errors/causes.js';
import { type ErrorCode, GatewayError } from '../errors.js';
import { ADVICE } from '../explain/advice.js';
import { timeText } from '../policy/amounts.js';
import { redactText } from '../redact.js';

/** What a check has found. */
export interface Finding {
  state: 'ok' | 'warning' | 'failed' | 'skipped';
  /** One line. */
  text: string;
  /** What to do about it: a command or a key of the config. */
  todo?: string;
}

/** One thing that the doctor tries. */
export interface Check {
  /** The part of the config that it is about, which `--only` names. */
  group: string;
  /** What is tried, in a few words. */
  title: string;
  /** Throws what it could not do. */
  run(signal: AbortSignal): Promise<Finding>;
  /** What to do when it throws, but for a certificate that was refused. */
  todo: string;
  /** What to do when nothing answers in time, if that is another thing: what is silent has refused nothing. */
  ifLate?: string;
  /** What it finds wrong is a warning: the config leads few clients there, or none. */
  isMinor?: boolean;
  /** Milliseconds that the check pauses on purpose. They do not count as waiting for an answer. */
  waitsMs?: number;
}

/** What became of a check. */
export interface Found extends Finding {
  group: string;
  title: string;
  ms: number;
}

/** A check may take this long, beside what it waits by itself; all of them run at the same time, so a doctor takes little longer. */
const LONGEST_MS = 20_000;

/** Runs all checks at once. Never throws: what a check throws is its finding. */
export function runAll(checks: readonly Check[], signal: AbortSignal): Promise<Found[]> {
  return Promise.all(checks.map((check) => runOne(check, signal)));
}

async function runOne(check: Check, signal: AbortSignal): Promise<Found> {
  const { group, title, waitsMs = 0 } = check;
  const startedAt = performance.now();
  const most = LONGEST_MS + waitsMs;
  const late = AbortSignal.timeout(most);
  const both = AbortSignal.any([signal, late]);
  const ended = new Promise<never>((_, reject) => {
    const end = () => reject(late.aborted ? lateAfter(most) : new Error('interrupted'));
    if (both.aborted) end();
    else both.addEventListener('abort', end, { once: true });
  });
  // it may also end after everything else
  ended.catch(() => {});
  const found = await Promise.race([(async () => check.run(both))(), ended]).catch(
    // what to do about a check that was broken off is not what to do about its part
    (error: unknown): Finding => (signal.aborted ? { state: 'failed', text: 'interrupted' } : failed(error, check)),
  );
  const text = redactText(found.text);
  const state = found.state === 'failed' && check.isMinor ? 'warning' : found.state;
  return { group, title, ...found, state, text, ms: Math.round(performance.now() - startedAt) };
}

/** Errors of which the check's own advice says nothing: every part of the config is right, or the part that is not is known. */
const SAY_MORE: ReadonlySet<ErrorCode> = new Set([
  'store_full',
  'store_timeout',
  'state_full',
  'temp_full',
  'descriptors_exhausted',
  'upstream_unauthorized',
  'upstream_refused',
]);

/** What is advised about a certificate stands in the error too, for the log, which has no other place for it. */
function failed(error: unknown, { todo: usual, ifLate = usual }: Pick<Check, 'todo' | 'ifLate'>): Finding {
  const causes = causesOf(error);
  const isLate = causes.some((cause) => Object(cause).code === LATE);
  const todo = adviceIn(causes) ?? adviceOnCode(causes) ?? (isLate ? ifLate : usual);
  const text = linesOf(causes).join(' Because: ') || 'it failed';
  return { state: 'failed', text: text.replaceAll(` ${todo}`, ''), todo };
}

/** Node's code for what has not answered in time. */
const LATE = 'ETIMEDOUT';

function lateAfter(ms: number): Error {
  return Object.assign(new Error(`no answer within ${timeText(ms)}`), { code: LATE });
}

function adviceOnCode(causes: readonly unknown[]): string | undefined {
  const known = causes.find((cause) => cause instanceof GatewayError && SAY_MORE.has(cause.code));
  return known instanceof GatewayError ? ADVICE[known.code].todo.replaceAll('`', '') : undefined;
}
