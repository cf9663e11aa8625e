import type { IncomingHttpHeaders } from 'node:http';
import type { ErrorCode, GatewayError } from '../errors.js';
import type { Stopwatch } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { Metrics } from '../ports/metrics.js';

/**
 * Most log lines of one kind per window; the rest is counted, because any client that reaches the port can cause them.
 */
const LINES = 10;
const WINDOW_MS = 60_000;

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
  readonly #tellers: { log: Log; metrics: Metrics; clock: Stopwatch };
  readonly #windows = new Map<ErrorCode, { begin: number; lines: number; left: number }>();

  constructor(tellers: { log: Log; metrics: Metrics; clock: Stopwatch }) {
    this.#tellers = tellers;
  }

  note({ code, facts, cause }: GatewayError, request: RefusedRequest): void {
    const { log, metrics } = this.#tellers;
    metrics.count('wharf_refused_requests_total', { code });
    const leftOut = this.#mayWrite(code);
    if (leftOut === undefined) return;
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
      ...(code === 'internal' && { err: cause }),
    };
    log.warn(leftOut > 0 ? { ...fields, leftOut } : fields, 'refused');
  }

  /** @returns how many lines of that kind were omitted before this one; undefined to omit this one too */
  #mayWrite(code: ErrorCode): number | undefined {
    const now = this.#tellers.clock.ticks();
    const window = this.#windows.get(code);
    if (window === undefined || Math.abs(now - window.begin) >= WINDOW_MS) {
      this.#windows.set(code, { begin: now, lines: 1, left: 0 });
      return window?.left ?? 0;
    }
    window.lines += 1;
    if (window.lines <= LINES) return 0;
    window.left += 1;
    return undefined;
  }
}

function shown(text: string | undefined): string | undefined {
  return text !== undefined && text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
