import { LateCache } from '../budget/collections/late-cache.js';
import { Ledger, refusalFacts } from '../budget/ledger.js';
import { GatewayError } from '../errors.js';
import { timeText } from '../policy/amounts.js';
import type { Audit, AuditEntry, AuditPlace, AuditText } from '../ports/audit.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { Owner, Sharing } from '../ports/owner.js';
import { type ChainEnd, nextLine } from './chain.js';
import { entryMembers } from './entry-text.js';
import { RepeatedRefusals } from './repeated-refusals.js';
import { UnknownCallers } from './unknown-callers.js';

/** Where lines go. One batch is written at a time. */
export interface Sink {
  /** The end of the chain that the lines go on with. */
  readonly end: ChainEnd;
  /**
   * Appends lines, each with its end: all of them, or none.
   * @throws UnwritableError or an error of the system
   */
  append(lines: Buffer): Promise<void>;
  /** What keeps the rest of lines from being written that are half written, and tried again. */
  readonly hindrance?: unknown;
  /** As `Audit.newest`. */
  newest?(before?: AuditPlace): AsyncIterable<AuditText>;
  close(): Promise<void>;
}

/** Why nothing can be written, in words for callers: no path and no name of theirs. */
export class UnwritableError extends Error {
  override readonly name = 'UnwritableError';
}

interface JournalOptions {
  name: string;
  sink: Sink;
  settings: {
    /** Refuse what cannot be recorded. */
    required: boolean;
    /** `audit.queue` */
    queue: number;
    /** `audit.wait`, milliseconds */
    wait: number;
  };
  sharing: Sharing;
  clock: Clock;
  log: Log;
}

/** Lines of one batch: sealing 500 takes 3 ms. */
const MOST_AT_ONCE = 500;

/** Longest wait for the last lines: a disk or a reader that does not answer must not keep the process from its end. */
const MOST_END_MS = 5000;

/** Refused logins of one minute that have lines of their own. */
const MOST_LOGINS = 60;
const MOST_LOGINS_OF_ONE = 20;

/** Most refusals because of a limit that get lines of their own in one minute, 1 MB altogether: of all callers, and of one. */
const MOST_LIMITED = 1000;
const MOST_LIMITED_OF_ONE = 100;

/**
 * Refusals that a caller can cause as fast as it sends. The limit of its requests does not end them, because they are what
 * that limit says.
 */
const LIMITED: ReadonlySet<string> = new Set(['rate_limited', 'requests_limited']);

/** What everyone who has a link of a caller can try as fast as they send: they need not be that caller. */
const BY_LINK: ReadonlySet<string> = new Set(['download', 'upload']);

/** Keys of entries that are written once: at most some 700 bytes each. */
const MOST_ONCE = 10_000;

/** Words for callers, by the system's code. */
const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'its disk is full',
  EDQUOT: 'its disk is full',
  EROFS: 'its disk is read-only',
  EPIPE: 'its reader has gone',
};

interface Waiting {
  members: string;
  owner: Owner;
  /** Called once, with the error if the line has not been written. */
  done?: (error?: GatewayError) => void;
}

/**
 * An audit log: entries wait in a bounded queue, and are written in batches, in order, as lines of one chain. While one
 * batch is written the next gathers, so that a hundred calls at a time cost one write, and a single one does not wait
 * for others.
 */
export class Journal implements Audit {
  readonly name: string;
  readonly isOn = true;
  readonly newest: Audit['newest'];
  readonly #options: JournalOptions;
  readonly #places: Ledger;
  readonly #unknown: UnknownCallers;
  readonly #refusedLogins: RepeatedRefusals;
  readonly #limited: RepeatedRefusals;
  /** By key: true, or what is awaited until the entry is written. */
  readonly #once = new LateCache<true | Promise<void>>({ max: MOST_ONCE });
  #queue: Waiting[] = [];
  #end: ChainEnd;
  #writing: Promise<void> | undefined;
  /** Why the last batch could not be written. */
  #broken: GatewayError | undefined;
  /** The present batch takes longer than `wait`. */
  #isStuck = false;
  /** Entries that had to be dropped since the last line. */
  #missed = 0;

  constructor(options: JournalOptions) {
    const { name, sink, settings, sharing, clock } = options;
    this.name = name;
    this.#options = options;
    this.#end = sink.end;
    this.newest = sink.newest?.bind(sink);
    this.#places = new Ledger({ limit: 'audit.queue', total: settings.queue, sharing });
    this.#unknown = new UnknownCallers(clock);
    const write = (entry: AuditEntry) => this.#note(entry);
    this.#refusedLogins = new RepeatedRefusals({
      ...{ clock, write, others: 'other addresses' },
      most: MOST_LOGINS,
      mostOfOne: MOST_LOGINS_OF_ONE,
    });
    this.#limited = new RepeatedRefusals({
      ...{ clock, write, others: 'other callers' },
      most: MOST_LIMITED,
      mostOfOne: MOST_LIMITED_OF_ONE,
    });
  }

  record(entry: AuditEntry): Promise<void> | void {
    if (!this.#options.settings.required) return this.note(entry);
    return new Promise((resolve, reject) => {
      const refusal = this.#add(entry, (error) => (error ? reject(error) : resolve()));
      if (refusal) reject(refusal);
    });
  }

  note(entry: AuditEntry): void {
    const { what, allowed, code = '', principal } = entry;
    if (what === 'login' && !allowed) this.#refusedLogins.note(entry);
    else if (!allowed && principal !== undefined && (LIMITED.has(code) || BY_LINK.has(what))) this.#limited.note(entry);
    else if (entry.principal !== undefined || entry.allowed || this.#unknown.mayNote(entry)) this.#note(entry);
  }

  once(key: string, entry: AuditEntry): Promise<void> | void {
    const before = this.#once.get(key);
    if (before !== undefined) return before === true ? undefined : before;
    const written = this.record(entry)?.then(
      () => {
        this.#once.set(key, true);
      },
      (error: unknown) => {
        this.#once.delete(key);
        throw error;
      },
    );
    this.#once.set(key, written ?? true);
    return written;
  }

  #note(entry: AuditEntry): void {
    if (this.#add(entry)) this.#missed += 1;
  }

  async check(): Promise<void> {
    if (!this.#options.settings.required || (!this.#broken && !this.#isStuck)) return;
    // without calls only this finds out that the disk has room again
    await this.record({ what: 'config', subject: 'the audit log is checked', allowed: true });
  }

  async close(): Promise<void> {
    this.#refusedLogins.tell();
    this.#limited.tell();
    const { log, settings } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), Math.min(settings.wait, MOST_END_MS));
    });
    const how = await Promise.race([this.#finish(), late]).finally(() => clearTimeout(timer));
    const { chain, seq, hash } = this.#end;
    if (how === 'late') {
      const missed = this.#missed + this.#places.used;
      log.error({ chain, seq, hash, missed }, 'The audit log cannot be written to its end.');
    } else log.info({ chain, seq, hash }, 'The audit log is closed.');
  }

  async #finish(): Promise<void> {
    while (this.#writing) await this.#writing;
    // entries that were refused, and that no line has reported yet
    if (this.#missed > 0 || this.#unknown.leftOut > 0) {
      this.note({ what: 'config', subject: 'the audit log is closed', allowed: true });
      await this.#writing;
    }
    await this.#options.sink.close();
  }

  /** @returns the reason, if the queue has no room */
  #add(entry: AuditEntry, done?: Waiting['done']): GatewayError | undefined {
    const { principal, server } = entry;
    const owner = { principal, server };
    if (this.#isStuck) return this.#stuck();
    const full = this.#places.take(1, owner);
    if (full) return new GatewayError('audit_unavailable', { ...refusalFacts(full), reason: 'too much waits for it' });
    this.#queue.push({ members: entryMembers(entry, this.#options.clock.now()), owner, ...(done && { done }) });
    this.#writing ??= this.#write();
    return undefined;
  }

  async #write(): Promise<void> {
    // what comes in this turn of the event loop goes into the first batch too
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, MOST_AT_ONCE);
      const error = await this.#append(batch);
      for (const { owner, done } of batch) {
        this.#places.give(1, owner);
        done?.(error);
      }
      if (error) this.#missed += batch.length;
      this.#tell(error);
    }
    // in the same turn as the look at the queue, so that no entry comes between
    this.#writing = undefined;
  }

  async #append(batch: readonly Waiting[]): Promise<GatewayError | undefined> {
    const { sink, settings, log } = this.#options;
    const told = { missed: this.#missed, leftOut: this.#unknown.leftOut };
    let end = this.#end;
    const lines = batch.map(({ members }, index) => {
      const { line, end: next } = nextLine(end, index === 0 ? members + countsOf(told) : members);
      end = next;
      return `${line}\n`;
    });
    const timer = setTimeout(() => this.#giveUp(batch), settings.wait);
    try {
      await sink.append(Buffer.from(lines.join('')));
      this.#end = end;
      this.#missed -= told.missed;
      this.#unknown.told(told.leftOut);
      return undefined;
    } catch (thrown) {
      if (!this.#broken) log.error({ err: thrown }, 'The audit log cannot be written.');
      return new GatewayError('audit_unavailable', { reason: reasonOf(thrown) }, thrown);
    } finally {
      clearTimeout(timer);
      this.#isStuck = false;
    }
  }

  /** The disk does not answer: callers are told, and new ones are not kept waiting. The write goes on. */
  #giveUp(batch: readonly Waiting[]): void {
    this.#isStuck = true;
    const error = this.#stuck();
    const { settings, sink, log } = this.#options;
    log.error({ waited: settings.wait, err: sink.hindrance }, 'The audit log takes too long to be written.');
    for (const one of batch) {
      one.done?.(error);
      delete one.done;
    }
    // what has been refused must not be recorded as done
    this.#missed += this.#queue.length;
    for (const { owner, done } of this.#queue.splice(0)) {
      this.#places.give(1, owner);
      done?.(error);
    }
  }

  #stuck(): GatewayError {
    const { sink, settings } = this.#options;
    const { hindrance } = sink;
    if (hindrance !== undefined)
      return new GatewayError('audit_unavailable', { reason: reasonOf(hindrance) }, hindrance);
    const { wait } = settings;
    const reason = `it was not written within ${timeText(wait)}`;
    return new GatewayError('audit_unavailable', { reason, limit: 'audit.wait', allowed: wait });
  }

  #tell(error: GatewayError | undefined): void {
    const { log } = this.#options;
    if (this.#broken && !error) log.info({ missed: this.#missed }, 'The audit log is written again.');
    this.#broken = error;
  }
}

/** What the chain itself says about entries that it does not hold. */
function countsOf({ missed, leftOut }: { missed: number; leftOut: number }): string {
  return `${missed > 0 ? `,"missed":${missed}` : ''}${leftOut > 0 ? `,"leftOut":${leftOut}` : ''}`;
}

function reasonOf(thrown: unknown): string {
  if (thrown instanceof UnwritableError) return thrown.message;
  const { code } = Object(thrown) as { code?: unknown };
  return REASONS[String(code)] ?? 'it cannot be written';
}
