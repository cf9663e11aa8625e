import type { IncomingHttpHeaders } from 'node:http';
import type { GatewayError } from '../errors.js';
import { FewLines } from '../few-lines.js';
import type { Stopwatch } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { Metrics } from '../ports/metrics.js';

/** Characters of a path or a header that a line repeats. */
const MAX_SHOWN = 200;

/** The known facts of a refused request; for bytes that are not HTTP, only where they came from. */
export interface RefusedRequest {
  method?: string | undefined;
  url?: string | undefined;
  headers: IncomingHttpHeaders;
  socket: { remoteAddress?: string | undefined };
}

/**
 * Logs requests that are refused before they reach a route, so that an operator whose clients all get 403 or 404 can
 * find out why. Such requests have no server and are not exchanges.
 */
export class Refusals {
  readonly #tellers: { log: Log; metrics: Metrics };
  /** Any client that reaches the port can cause them. */
  readonly #lines: FewLines;

  constructor(tellers: { log: Log; metrics: Metrics; clock: Stopwatch }) {
    this.#tellers = tellers;
    this.#lines = new FewLines(tellers.clock);
  }

  note({ code, facts, cause }: GatewayError, request: RefusedRequest): void {
    const { log, metrics } = this.#tellers;
    metrics.count('wharf_refused_requests_total', { code });
    const leftOut = this.#lines.take(code);
    if (!leftOut) return;
    const { method, url = '', headers, socket } = request;
    const fields = {
      code,
      verb: method,
      // a query may contain a credential
      path: shown(url.replace(/\?.*$/s, '')),
      host: shown(headers.host),
      origin: shown(headers.origin),
      address: socket.remoteAddress,
      ...(typeof facts.reason === 'string' && { reason: facts.reason }),
      // no other line says what has failed: a file that is missing from the package, for example
      ...((code === 'internal' || code === 'installation_changed') && { err: cause }),
      ...leftOut,
    };
    log.warn(fields, 'refused');
  }
}

function shown(text: string | undefined): string | undefined {
  return text !== undefined && text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
