import { AdvisedError, adviceOnCertificate } from '../errors/system.js';
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

/** Errors of which the check's own advice says nothing: every part of the config is right. */
const LACKS: ReadonlySet<ErrorCode> = new Set([
  'store_full',
  'store_timeout',
  'state_full',
  'temp_full',
  'descriptors_exhausted',
]);

/** What is advised about a certificate stands in the error too, for the log, which has no other place for it. */
function failed(error: unknown, usual: string): Finding {
  const causes = causesOf(error);
  const own = causes.find((cause) => cause instanceof AdvisedError)?.todo;
  const todo = own ?? adviceOnCertificate(error) ?? adviceOnLack(causes) ?? usual;
  const text = linesOf(causes).join(' Because: ') || 'it failed';
  return { state: 'failed', text: text.replaceAll(` ${todo}`, ''), todo };
}

function adviceOnLack(causes: readonly unknown[]): string | undefined {
  const lack = causes.find((cause) => cause instanceof GatewayError && LACKS.has(cause.code));
  return lack instanceof GatewayError ? ADVICE[lack.code].todo.replaceAll('`', '') : undefined;
}

function textOf(cause: unknown, message: string): string {
  if (cause instanceof AdvisedError) return cause.why;
  // what is to be done stands below it
  return cause instanceof GatewayError ? cause.forOperator.replace(' Try again later.', '') : message;
}

/** The error and its causes. */
function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let cause = error; causes.length < MAX_CAUSES && cause !== undefined; cause = Object(cause).cause)
    causes.push(cause);
  return causes;
}

/** What they say, without the words for clients between two others, and without what has been said before. */
function linesOf(causes: readonly unknown[]): string[] {
  const lines: string[] = [];
  const said = new Set<string>();
  for (const [depth, cause] of causes.entries()) {
    const { name, message } = Object(cause) as { name?: unknown; message?: unknown };
    if (typeof message !== 'string') break;
    const isForClients = cause instanceof GatewayError && depth > 0 && depth < causes.length - 1;
    if (isForClients) continue;
    const text = textOf(cause, message);
    // what S3 calls it is its name: the text is optional, and often missing
    const code = typeof name === 'string' && !/(?:Error|^Unknown)$/.test(name) ? `${name}: ` : '';
    const line = `${code}${text}`.replaceAll(/\s+/g, ' ');
    const words = line.split(/[^\w]+/).filter((word) => !said.has(word));
    if (words.length > 0) lines.push(line);
    for (const word of words) said.add(word);
  }
  return lines;
}
