import type { IncomingHttpHeaders } from 'node:http';
import type { ErrorCode, GatewayError } from '../errors.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { Metrics } from '../ports/metrics.js';

/** Lines of one kind in that time; the rest is counted, since anybody who reaches the port can cause them. */
const LINES = 10;
const WINDOW_MS = 60_000;

/** Characters of a path or a header that a line repeats. */
const MAX_SHOWN = 200;

/** As much as is known of a request that is refused: of what is not HTTP, where it came from. */
export interface RefusedRequest {
  method?: string | undefined;
  url?: string | undefined;
  headers: IncomingHttpHeaders;
  socket: { remoteAddress?: string | undefined };
}

/**
 * What is refused before it reaches a route, so that an operator whose clients all get 403 or 404 finds out why. Such
 * requests belong to no server and are no exchanges.
 */
export class Refusals {
  readonly #tellers: { log: Log; metrics: Metrics; clock: Clock };
  readonly #windows = new Map<ErrorCode, { begin: number; lines: number; left: number }>();

  constructor(tellers: { log: Log; metrics: Metrics; clock: Clock }) {
    this.#tellers = tellers;
  }

  note({ code, facts }: GatewayError, request: RefusedRequest): void {
    const { log, metrics } = this.#tellers;
    metrics.count('wharf_refused_requests_total', { code });
    const leftOut = this.#mayWrite(code);
    if (leftOut === undefined) return;
    const { method, url = '', headers, socket } = request;
    const fields = {
      code,
      verb: method,
      // what follows a question mark may be a credential
      path: shown(url.replace(/\?.*$/s, '')),
      host: shown(headers.host),
      origin: shown(headers.origin),
      address: socket.remoteAddress,
      ...(typeof facts.reason === 'string' && { reason: facts.reason }),
    };
    log.warn(leftOut > 0 ? { ...fields, leftOut } : fields, 'refused');
  }

  /** @returns how many lines of that kind were left out before this one; undefined to leave it out too */
  #mayWrite(code: ErrorCode): number | undefined {
    const now = this.#tellers.clock.now();
    const window = this.#windows.get(code);
    if (window === undefined || now - window.begin >= WINDOW_MS) {
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
