import { adviceOnCertificate } from '../errors/system.js';
import { GatewayError } from '../errors.js';
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

export interface Check {
  /** The part of the config that it is about, which `--only` names. */
  group: string;
  /** What is tried, in a few words. */
  title: string;
  /** Throws what it could not do. */
  run(signal: AbortSignal): Promise<Finding>;
  /** What to do when it throws, but for a certificate that was refused. */
  todo: string;
  /** Milliseconds that the check pauses on purpose. They do not count as waiting for an answer. */
  waitsMs?: number;
}

export interface Found extends Finding {
  group: string;
  title: string;
  ms: number;
}

/** A check may take this long, beside what it waits by itself; all of them run at the same time, so a doctor takes little longer. */
const LONGEST_MS = 20_000;

const MAX_CAUSES = 4;

/** Runs all checks at once. Never throws: what a check throws is its finding. */
export function runAll(checks: readonly Check[], signal: AbortSignal): Promise<Found[]> {
  return Promise.all(checks.map((check) => runOne(check, signal)));
}

async function runOne(check: Check, signal: AbortSignal): Promise<Found> {
  const { group, title, todo, waitsMs = 0 } = check;
  const startedAt = performance.now();
  const most = LONGEST_MS + waitsMs;
  const late = AbortSignal.timeout(most);
  const both = AbortSignal.any([signal, late]);
  const ended = new Promise<never>((_, reject) => {
    const end = () => reject(late.aborted ? new Error(`no answer within ${timeText(most)}`) : new Error('interrupted'));
    if (both.aborted) end();
    else both.addEventListener('abort', end, { once: true });
  });
  // it may also end after everything else
  ended.catch(() => {});
  const found = await Promise.race([(async () => check.run(both))(), ended]).catch(
    (error: unknown): Finding => failed(error, todo),
  );
  const text = redactText(found.text);
  return { group, title, ...found, text, ms: Math.round(performance.now() - startedAt) };
}

/** What an adapter advises about a certificate stands in its error too, for the log, which has no other place for it. */
function failed(error: unknown, usual: string): Finding {
  const todo = adviceOnCertificate(error) ?? usual;
  return { state: 'failed', text: causesOf(error).replaceAll(` ${todo}`, ''), todo };
}

/** The error and its causes, in one line. */
function causesOf(error: unknown): string {
  const texts: string[] = [];
  let cause = error;
  for (let depth = 0; depth < MAX_CAUSES; depth++) {
    const { name, message, cause: next } = Object(cause) as { name?: unknown; message?: unknown; cause?: unknown };
    if (typeof message !== 'string') break;
    const text = cause instanceof GatewayError ? cause.forOperator : message;
    // what S3 calls it is its name: the text is optional, and often missing
    const code = typeof name === 'string' && !/(?:Error|^Unknown)$/.test(name) ? `${name}: ` : '';
    texts.push(`${code}${text}`.replaceAll(/\s+/g, ' '));
    cause = next;
  }
  return texts.join(' Because: ') || 'it failed';
}
