import { createHash } from 'node:crypto';
import { LateCache } from '../budget/collections/late-cache.js';
import { asGatewayError, type GatewayError } from '../errors.js';
import type { FewLines } from '../few-lines.js';
import type { Audit } from '../ports/audit.js';
import type { Stopwatch } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { Metrics } from '../ports/metrics.js';
import { noteRefusal } from './audit-exchange.js';
import { type Exchange, noteError } from './exchange.js';

const TAG_LENGTH = 10;

/** The log's code for an exchange whose client left before its answer. */
const CLIENT_GONE = 'client_gone';

/** Most characters of a client's own name. */
const MAX_CLIENT = 100;
const MAX_ID = 64;

/** Of the last sessions: a hash for every line cost 2 % of a short exchange. A longer id is not one of Wharf's. */
const TAGS = new LateCache<string>({ max: 2000 });

/** The usual estimate for English; base64 takes more tokens, so this is the least that was saved. */
const BYTES_OF_A_TOKEN = 4;

interface Tellers {
  log: Log;
  metrics: Metrics;
  /** While a server or a store is away, each request fails: clients could fill the log. Their lines at `info` name the error. */
  fewLines: FewLines;
  /** That the log names in each of its lines; absent where it does not. */
  server?: string;
}

/** What the lines of an exchange say of it. */
type Told = Pick<Exchange, 'facts' | 'principal' | 'address'>;

interface Line {
  /** Whose error it is, where one exchange can be named. */
  exchange?: Told;
  /** For a server's own error, which is not a fault of Wharf. */
  level?: 'warn' | undefined;
}

/** Logs an error that a client gets. */
export function logError(
  { log, fewLines, server }: Omit<Tellers, 'metrics'>,
  { code, facts, cause }: GatewayError,
  what: string,
  { exchange, level }: Line = {},
): void {
  const leftOut = fewLines.take(kindOf(what, code, server));
  if (!leftOut) return;
  const fields = { ...(exchange && whose(exchange)), code, facts, err: cause, ...leftOut };
  log[level ?? (code === 'internal' ? 'error' : 'warn')](fields, what);
}

function kindOf(what: string, code: string, server = ''): string {
  return JSON.stringify([what, code, server]);
}

/** Logs and counts an error that a client gets in a message, after a head with a success status. */
export function reportError(tellers: Tellers, error: GatewayError, what: string, line?: Line): void {
  logError(tellers, error, what, line);
  tellers.metrics.count('wharf_errors_total', { code: error.code });
}

/**
 * Notes, logs and counts an error that a client gets in an answer with a success status.
 * @param tellers whose log names the server in each of its lines
 */
export function tellError(tellers: Tellers, error: GatewayError, exchange: Told, what?: string): void {
  noteError(exchange.facts, error);
  logFailure(tellers, error, exchange, { what });
  tellers.metrics.count('wharf_errors_total', { code: error.code });
}

/**
 * The error of an exchange for its client. It is also logged and counted, unless the exchange failed because the client
 * has gone.
 */
export function noteFailure(
  { log, metrics, fewLines }: Pick<Tellers, 'log' | 'metrics' | 'fewLines'>,
  thrown: unknown,
  exchange: Exchange,
  server: string,
): GatewayError {
  const error = asGatewayError(thrown);
  if (!noteOutcome(error, exchange)) return error;
  logFailure({ log, fewLines }, error, exchange, { server });
  metrics.count('wharf_errors_total', { code: error.code });
  return error;
}

/** One rule for every failure, whether its client sees it in the status or in a message. */
function logFailure(
  { log, fewLines, server: bound }: Omit<Tellers, 'metrics'>,
  { code, cause, httpStatus }: GatewayError,
  exchange: Told,
  { server, what = 'an exchange failed' }: { server?: string; what?: string | undefined },
): void {
  if (httpStatus < 500) {
    // a client's mistake is in its exchange's own line, and clients can cause it as often as they like
    if (cause) log.debug({ ...whose(exchange, server), code, err: cause }, what);
    return;
  }
  const leftOut = fewLines.take(kindOf(what, code, server ?? bound));
  if (!leftOut) return;
  if (code === 'internal') log.error({ ...whose(exchange, server), err: cause, ...leftOut }, what);
  else log.warn({ ...whose(exchange, server), code, err: cause, ...leftOut }, what);
}

/** Notes how an exchange failed. @returns false when its client has gone, which no line of its own need say */
export function noteOutcome(error: GatewayError, { facts, signal }: Pick<Exchange, 'facts' | 'signal'>): boolean {
  if (signal.aborted) {
    // its failure is a consequence of that; `internal` would blame Wharf
    const { code } = asGatewayError(signal.reason);
    facts.error = code === 'internal' ? CLIENT_GONE : code;
    return false;
  }
  noteError(facts, error);
  return true;
}

/** A request that Wharf itself should have answered, and could not. */
export function noteRefused(
  { log, metrics, fewLines, server }: Tellers,
  thrown: unknown,
  exchange: Told & Pick<Exchange, 'signal'>,
  method: string,
): void {
  const error = asGatewayError(thrown);
  if (!noteOutcome(error, exchange)) return;
  metrics.count('wharf_errors_total', { code: error.code });
  const what = 'a request was refused';
  const leftOut = fewLines.take(kindOf(what, error.code, server));
  if (leftOut) log.warn({ ...whose(exchange), code: error.code, method, err: thrown, ...leftOut }, what);
}

/** Links the lines of one session. The id itself is a credential, but a hash does not reveal its 122 random bits. */
export function sessionTag(id: string): string {
  let tag = TAGS.get(id);
  if (tag === undefined) {
    tag = createHash('sha256').update(id).digest('base64url').slice(0, TAG_LENGTH);
    if (id.length <= MAX_ID) TAGS.set(id, tag);
  }
  return tag;
}

/** What the lines of one exchange have in common, by which they are found. */
function whose({ facts, principal, address }: Told, server?: string) {
  return {
    ...(server !== undefined && { server }),
    principal: principal || undefined,
    session: facts.session && sessionTag(facts.session),
    client: facts.client?.slice(0, MAX_CLIENT),
    address,
    // the first one of a batch
    id: facts.requests[0]?.id.slice(0, MAX_ID),
    method: facts.method,
    name: facts.name,
  };
}

/** How an exchange ended. */
interface ExchangeEnd {
  server: string;
  verb: string;
  /** HTTP status of the answer. */
  status: number;
  /** On the stopwatch. */
  startedAt: number;
}

/** One line per exchange: the caller, the request, bytes in and out, and the duration. A refusal is audited too. */
export function logExchange(
  { log, metrics, clock, audit }: Pick<Tellers, 'log' | 'metrics'> & { clock: Stopwatch; audit: Audit },
  exchange: Exchange,
  { server, verb, status, startedAt }: ExchangeEnd,
): void {
  const { facts, body } = exchange;
  const ms = Math.round((clock.ticks() - startedAt) * 10) / 10;
  // by 405 a server says that it has no stream of its own, or does not end sessions: MCP's clients ask each one
  const isWell = status < 400 || (status === 405 && verb !== 'POST');
  const outcome = facts.error ?? (isWell ? 'ok' : `http_${status}`);
  log.info(
    {
      ...whose(exchange, server),
      verb,
      status,
      bytesIn: body.length,
      bytesOut: facts.bytesOut,
      files: facts.files,
      fileBytes: facts.fileBytes,
      ms,
      error: facts.error,
      rule: facts.rule,
      limit: facts.limit,
      source: facts.source,
      allowed: facts.allowed,
      actual: facts.actual,
    },
    'exchange',
  );
  if (audit.isOn) noteRefusal(audit, exchange, server);
  metrics.count('wharf_exchanges_total', { server, outcome });
  if (facts.limit !== undefined) metrics.count('wharf_limits_total', { limit: facts.limit });
  metrics.observe('wharf_exchange_seconds', ms / 1000, { server });
  if (facts.files > 0) {
    metrics.count('wharf_files_total', { server }, facts.files);
    metrics.count('wharf_file_bytes_total', { server }, facts.fileBytes);
    const kept = Math.ceil(facts.fileBytes / 3) * 4;
    metrics.count('wharf_kept_out_bytes_total', { server }, kept);
    metrics.count('wharf_kept_out_tokens_total', { server }, Math.ceil(kept / BYTES_OF_A_TOKEN));
  }
}
