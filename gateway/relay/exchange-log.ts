import { createHash } from 'node:crypto';
import { asGatewayError, type GatewayError } from '../errors.js';
import type { Log } from '../ports/log.js';
import type { Metrics } from '../ports/metrics.js';
import { type Exchange, noteError } from './exchange.js';

const TAG_LENGTH = 10;

/** What the log calls an exchange whose client left before its answer. */
const CLIENT_GONE = 'client_gone';

/** Characters of what a client says of itself. */
const MAX_CLIENT = 100;
const MAX_ID = 64;

interface Tellers {
  log: Log;
  metrics: Metrics;
}

/**
 * What an exchange failed with, for its client. Log and metrics hear of it as well, unless it failed because the client
 * has gone.
 */
export function noteFailure({ log, metrics }: Tellers, thrown: unknown, { facts, signal }: Exchange): GatewayError {
  const error = asGatewayError(thrown);
  if (signal.aborted) {
    // whatever it failed with came of that; `internal` would be a fault of Wharf
    facts.error = CLIENT_GONE;
    return error;
  }
  noteError(facts, error);
  if (error.code === 'internal') log.error({ err: error.cause }, 'an exchange failed');
  else if (error.cause) {
    // what a client did wrong its exchange's own line says: anybody can cause it as often as they like
    const level = error.httpStatus >= 500 ? 'warn' : 'debug';
    log[level]({ code: error.code, err: error.cause }, 'an exchange failed');
  }
  metrics.count('wharf_errors_total', { code: error.code });
  return error;
}

/**
 * What lines of one session have in common. The id itself is the right to the session, and nobody finds one of 122
 * random bits behind a hash.
 */
function sessionTag(id: string): string {
  return createHash('sha256').update(id).digest('base64url').slice(0, TAG_LENGTH);
}

/** One line for each exchange: who asked what, how much went in and out, and how long it took. */
export function logExchange(
  { log, metrics }: Tellers,
  server: string,
  verb: string,
  status: number,
  { facts, body, principal, address }: Exchange,
  startedAt: number,
): void {
  const ms = Math.round((performance.now() - startedAt) * 10) / 10;
  const outcome = facts.error ?? (status < 400 ? 'ok' : `http_${status}`);
  log.info(
    {
      server,
      principal: principal || undefined,
      session: facts.session && sessionTag(facts.session),
      client: facts.client?.slice(0, MAX_CLIENT),
      address,
      verb,
      // of a batch the first
      id: facts.requests[0]?.id.slice(0, MAX_ID),
      method: facts.method,
      name: facts.name,
      status,
      bytesIn: body.length,
      bytesOut: facts.bytesOut,
      files: facts.files,
      fileBytes: facts.fileBytes,
      ms,
      error: facts.error,
      limit: facts.limit,
      allowed: facts.allowed,
      actual: facts.actual,
    },
    'exchange',
  );
  metrics.count('wharf_exchanges_total', { server, outcome });
  if (facts.limit !== undefined) metrics.count('wharf_limits_total', { limit: facts.limit });
  metrics.observe('wharf_exchange_seconds', ms / 1000, { server });
  if (facts.files > 0) {
    metrics.count('wharf_files_total', { server }, facts.files);
    metrics.count('wharf_file_bytes_total', { server }, facts.fileBytes);
  }
}
