import { createHash } from 'node:crypto';
import { shortText } from '../budget/memory/short-text.js';
import type { AuditEntry } from '../ports/audit.js';
import type { Clock } from '../ports/clock.js';

const WINDOW_MS = 60_000;

/** The subject of the line that counts what one caller is refused beyond its part. */
const FURTHER = 'further refusals';

/** Characters of a key, beyond which its digest is kept; and of a text in an entry: its line has less. */
const LONGEST_KEY = 1000;
const LONGEST_TEXT = 1000;

/** A refusal, and how many like it have come since its line. */
interface Counted {
  entry: AuditEntry;
  more: number;
}

interface RepeatedRefusalsOptions {
  clock: Clock;
  /** Different callers and reasons of one window; the rest of them is counted together, by kind and the error's code. */
  most: number;
  /** The part of them for one caller, so that none takes all and hides who else is refused. */
  mostOfOne: number;
  /** The subject of the line that counts the rest. */
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
  /** How many of them each caller has: a principal, or an address that has not logged in. */
  readonly #ofCaller = new Map<string, number>();
  /** The rest, by kind and the error's code, of which there are closed lists, and by callers with a full part. */
  readonly #others = new Map<string, Counted>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RepeatedRefusalsOptions) {
    this.#options = options;
  }

  note(entry: AuditEntry): void {
    const { clock, most, mostOfOne, others, write } = this.#options;
    const now = clock.now();
    // a clock that is set back must not stop it
    if (Math.abs(now - this.#begin) >= WINDOW_MS) {
      this.tell();
      this.#begin = now;
    }
    const { what, address, principal, server, tool, subject, rule, reason, code = '', files } = entry;
    const ids = files?.map(({ id }) => id);
    const key = keyOf([what, address, principal, server, tool, subject, rule, reason, code, ids]);
    const known = this.#known.get(key);
    const caller = principal ?? address ?? '';
    const ofCaller = this.#ofCaller.get(caller) ?? 0;
    const isFull = ofCaller >= mostOfOne;
    if (known) known.more += 1;
    else if (this.#known.size < most && !isFull) {
      this.#known.set(key, { entry: shortened(entry), more: 0 });
      this.#ofCaller.set(caller, ofCaller + 1);
      write(entry);
      return;
    } else {
      const whose = isFull ? { principal, address, subject: FURTHER } : { subject: others };
      const kind = JSON.stringify([what, code, isFull ? caller : null]);
      const other = this.#others.get(kind) ?? { entry: { what, allowed: false, code, ...whose }, more: 0 };
      other.more += 1;
      this.#others.set(kind, other);
    }
    // the next refusal would write them too, but there may be none
    this.#timer ??= setTimeout(() => this.tell(), this.#begin + WINDOW_MS - now).unref();
  }

  /** Ends the window, and writes how many there were. */
  tell(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { write } = this.#options;
    const since = new Date(this.#begin).toISOString();
    for (const { entry, more } of this.#known.values()) {
      // another token may have been refused for the same reason
      if (more > 0) write({ ...entry, token: undefined, count: more, since });
    }
    for (const { entry, more } of this.#others.values()) write({ ...entry, count: more, since });
    this.#known.clear();
    this.#ofCaller.clear();
    this.#others.clear();
    this.#begin = 0;
  }
}

/** A caller may name a tool as long as a message in each of its calls. */
function keyOf(facts: readonly unknown[]): string {
  const text = JSON.stringify(facts);
  return text.length <= LONGEST_KEY ? text : createHash('sha256').update(text).digest('base64');
}

function shortened(entry: AuditEntry): AuditEntry {
  const { tool, subject } = entry;
  return {
    ...entry,
    ...(tool !== undefined && { tool: shortText(tool, LONGEST_TEXT) }),
    ...(subject !== undefined && { subject: shortText(subject, LONGEST_TEXT) }),
  };
}
