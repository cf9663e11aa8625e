import { asGatewayError, type GatewayError } from '../errors.js';
import type { Log } from '../ports/log.js';
import type { Metrics } from '../ports/metrics.js';
import type { Exchange } from './exchange.js';

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
  facts.error = error.code;
  if (signal.aborted) return error;
  if (error.code === 'internal') log.error({ err: error.cause }, 'an exchange failed');
  else if (error.cause) log.warn({ code: error.code, err: error.cause }, 'an exchange failed');
  metrics.count('wharf_errors_total', { code: error.code });
  return error;
}

/** One line for each exchange: who asked what, how much went in and out, and how long it took. */
export function logExchange(
  { log, metrics }: Tellers,
  server: string,
  verb: string,
  status: number,
  { facts, body }: Exchange,
  startedAt: number,
): void {
  const ms = Math.round((performance.now() - startedAt) * 10) / 10;
  const outcome = facts.error ?? (status < 400 ? 'ok' : `http_${status}`);
  log.info(
    {
      server,
      verb,
      method: facts.method,
      name: facts.name,
      status,
      bytesIn: body.length,
      bytesOut: facts.bytesOut,
      files: facts.files,
      fileBytes: facts.fileBytes,
      ms,
      error: facts.error,
    },
    'exchange',
  );
  metrics.count('wharf_exchanges_total', { server, outcome });
  metrics.observe('wharf_exchange_seconds', ms / 1000, { server });
  if (facts.files > 0) {
    metrics.count('wharf_files_total', { server }, facts.files);
    metrics.count('wharf_file_bytes_total', { server }, facts.fileBytes);
  }
}
