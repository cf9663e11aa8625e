import type { AuditEntry } from '../ports/audit.js';
import type { Clock } from '../ports/clock.js';

const WINDOW_MS = 60_000;

/** A refusal, and how many like it have come since its line. */
interface Counted {
  entry: AuditEntry;
  more: number;
}

export interface RepeatedRefusalsOptions {
  clock: Clock;
  /** Different callers and reasons of one window; the rest of them is counted together, by kind and the error's code. */
  most: number;
  /** What the line of the rest says that it is about. */
  others: string;
  write: (entry: AuditEntry) => void;
}

/**
 * Makes few lines of many refusals that are alike. Of a window of a minute, the first refusal of each caller for each
 * reason is a line at once, and the rest of them one line with their number at the end. So a million of them, from however
 * many callers, do not fill the disk, and push nothing older out of it.
 */
export class RepeatedRefusals {
  readonly #options: RepeatedRefusalsOptions;
  #begin = 0;
  readonly #known = new Map<string, Counted>();
  /** Those of callers that are too many, by kind and the error's code, of which there are closed lists. */
  readonly #others = new Map<string, Counted>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RepeatedRefusalsOptions) {
    this.#options = options;
  }

  note(entry: AuditEntry): void {
    const { clock, most, write } = this.#options;
    const now = clock.now();
    if (now - this.#begin >= WINDOW_MS) {
      this.tell();
      this.#begin = now;
    }
    const { what, address, principal, server, tool, subject, rule, reason, code = '', files } = entry;
    const ids = files?.map(({ id }) => id);
    const key = JSON.stringify([what, address, principal, server, tool, subject, rule, reason, code, ids]);
    const known = this.#known.get(key);
    if (known) known.more += 1;
    else if (this.#known.size < most) {
      this.#known.set(key, { entry, more: 0 });
      write(entry);
      return;
    } else {
      const kind = `${what} ${code}`;
      const other = this.#others.get(kind) ?? { entry: { what, allowed: false, code }, more: 0 };
      other.more += 1;
      this.#others.set(kind, other);
    }
    // a refusal later would tell of them, but it may not come
    this.#timer ??= setTimeout(() => this.tell(), this.#begin + WINDOW_MS - now).unref();
  }

  /** Ends the window, and writes how many there were. */
  tell(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { others, write } = this.#options;
    const since = new Date(this.#begin).toISOString();
    for (const { entry, more } of this.#known.values()) {
      // another token may have been refused for the same reason
      if (more > 0) write({ ...entry, token: undefined, count: more, since });
    }
    for (const { entry, more } of this.#others.values()) write({ ...entry, subject: others, count: more, since });
    this.#known.clear();
    this.#others.clear();
    this.#begin = 0;
  }
}
