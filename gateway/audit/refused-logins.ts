import type { AuditEntry } from '../ports/audit.js';
import type { Clock } from '../ports/clock.js';

const WINDOW_MS = 60_000;

/** Different callers and reasons of one window; the rest of them is counted together, by the error's code. */
const MOST = 60;

/** A refusal, and how many like it have come since its line. */
interface Counted {
  entry: AuditEntry;
  more: number;
}

/**
 * Makes few lines of many refused logins. Of a window of a minute, the first refusal of each address for each reason is
 * a line at once, and the rest of them one line with their number at the end. So a million of them, from however many
 * addresses, do not fill the disk, and push nothing older out of it.
 */
export class RefusedLogins {
  readonly #clock: Clock;
  readonly #write: (entry: AuditEntry) => void;
  #begin = 0;
  readonly #known = new Map<string, Counted>();
  /** Those of callers that are too many, by the error's code, of which there is a closed list. */
  readonly #others = new Map<string, Counted>();
  #timer: NodeJS.Timeout | undefined;

  constructor(clock: Clock, write: (entry: AuditEntry) => void) {
    this.#clock = clock;
    this.#write = write;
  }

  note(entry: AuditEntry): void {
    const now = this.#clock.now();
    if (now - this.#begin >= WINDOW_MS) {
      this.tell();
      this.#begin = now;
    }
    const { address, principal, server, subject, rule, reason, code = '' } = entry;
    const key = JSON.stringify([address, principal, server, subject, rule, reason, code]);
    const known = this.#known.get(key);
    if (known) known.more += 1;
    else if (this.#known.size < MOST) {
      this.#known.set(key, { entry, more: 0 });
      this.#write(entry);
      return;
    } else {
      const other = this.#others.get(code) ?? { entry: { what: 'login', allowed: false, code }, more: 0 };
      other.more += 1;
      this.#others.set(code, other);
    }
    // a refusal later would tell of them, but it may not come
    this.#timer ??= setTimeout(() => this.tell(), this.#begin + WINDOW_MS - now).unref();
  }

  /** Ends the window, and writes how many there were. */
  tell(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const since = new Date(this.#begin).toISOString();
    for (const { entry, more } of this.#known.values()) {
      // another token may have been refused for the same reason
      if (more > 0) this.#write({ ...entry, token: undefined, count: more, since });
    }
    for (const { entry, more } of this.#others.values())
      this.#write({ ...entry, subject: 'other addresses', count: more, since });
    this.#known.clear();
    this.#others.clear();
    this.#begin = 0;
  }
}
