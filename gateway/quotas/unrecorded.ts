import { type FileRecord, recordIn, recordKey } from '../files/file.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { StateStore, Tallied, TallyChange } from '../ports/state-store.js';
import { LEASE_MS, leaseOf, triedAs } from './leases.js';

/** How long leases are renewed. A message that takes longer has to find room for its file anew. */
const LONGEST_MS = 60 * 60 * 1000;

/** Between two tries to tell the state store, which does not answer. */
const RETRY_MS = 1000;

/** Most files whose count is tried again at one time: of a file beyond them the log says that it is not counted. */
const MOST_RETRIES = 1000;

/** A file whose bytes are all stored, or a part of an upload in several requests. */
export type StoredFile = Pick<FileRecord, 'id' | 'key' | 'principal' | 'size'>;

/** What counts for its caller from a time on. */
export type Counting = StoredFile & Pick<FileRecord, 'createdAt'>;

interface UnrecordedDeps {
  state: Pick<StateStore, 'read'>;
  clock: Clock;
  log: Log;
  /** Changes what counts as stored for a caller; undefined where that is not limited. */
  tally: (principal: string, changes: readonly TallyChange[], limit?: number) => Promise<Tallied | undefined>;
  /** How a file with a record counts. */
  counted: (file: Counting) => TallyChange;
}

interface Waiting {
  file: StoredFile;
  since: number;
  leasedAt: number;
}

interface Retry {
  /** When its lease was last certain. */
  leasedAt: number;
  /** The file has its record. */
  isSure: boolean;
  /** The file will have no record. */
  isOver: boolean;
  ended: Promise<void>;
}

/**
 * Files between their last byte and their record. They count by leases, which end by themselves: bytes without a file do not
 * count for long where a process is killed, or the state store is away when it ought to hear of their end.
 */
export class Unrecorded {
  readonly #deps: UnrecordedDeps;
  /** By object key. Each is of a message or an upload under way, or waits for the state store's answer. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #retries = new Map<string, Retry>();
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: UnrecordedDeps) {
    this.#deps = deps;
  }

  /** A file has its lease, which is renewed until it has a record, or will have none. */
  add(file: StoredFile): void {
    const now = this.#deps.clock.now();
    this.#waiting.set(file.key, { file, since: now, leasedAt: now });
    this.#timer ??= setInterval(() => this.#renew(), LEASE_MS / 2).unref();
  }

  #renew(): void {
    const { clock, tally } = this.#deps;
    const now = clock.now();
    for (const [key, waiting] of this.#waiting) {
      if (now - waiting.since >= LONGEST_MS) this.forget(key);
      // its lease has not ended, so this adds nothing. If it has, the room is taken again when the file gets its record
      else
        tally(waiting.file.principal, leaseOf(triedAs(key), waiting.file.size), 0).then(
          (tallied) => {
            if (tallied?.isWithin) waiting.leasedAt = now;
          },
          () => undefined,
        );
    }
  }

  /** A file is given up: its lease is given back elsewhere. */
  forget(key: string): void {
    this.#waiting.delete(key);
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Whether the lease of a file is certainly not over when its record is made. */
  holds({ key }: Pick<StoredFile, 'key'>): boolean {
    const waiting = this.#waiting.get(key);
    return waiting !== undefined && this.#deps.clock.now() - waiting.leasedAt < LEASE_MS / 2;
  }

  /** A file has its record. Does not fail: what the state store does not answer, it is asked again. */
  async recorded(file: Counting): Promise<void> {
    const { leasedAt = this.#deps.clock.now() } = this.#waiting.get(file.key) ?? {};
    this.forget(file.key);
    try {
      if (!(await this.#move(file))) await this.#count(file);
    } catch (err) {
      this.#deps.log.warn({ id: file.id, err }, 'a stored file will be counted when the state store answers');
      this.#later(file, { leasedAt, isSure: true });
    }
  }

  /** A file may have its record, or not: the state store has not answered. */
  unsure(file: Counting): void {
    const { leasedAt = this.#deps.clock.now() } = this.#waiting.get(file.key) ?? {};
    this.#later(file, { leasedAt, isSure: false });
  }

  /** A stored file will have no record. */
  async gone({ key, principal }: Pick<StoredFile, 'key' | 'principal'>): Promise<void> {
    this.forget(key);
    const retry = this.#retries.get(key);
    if (retry) retry.isOver = true;
    await this.#deps.tally(principal, leaseOf(triedAs(key), 0));
  }

  /** Resolves when it is certain that a file with a record has been counted. */
  async settled(key: string | undefined): Promise<void> {
    if (key !== undefined) await this.#retries.get(key)?.ended;
  }

  /**
   * Counts a file as long as it lives, instead of by its lease. As this adds nothing, it is within a limit of 0, and without
   * the lease it is not: so it happens once, however often it is tried.
   * @returns false without the lease
   */
  async #move(file: Counting): Promise<boolean> {
    const changes = [...leaseOf(triedAs(file.key), 0), this.#deps.counted(file)];
    return (await this.#deps.tally(file.principal, changes, 0))?.isWithin ?? true;
  }

  async #count(file: Counting): Promise<void> {
    await this.#deps.tally(file.principal, [this.#deps.counted(file)]);
  }

  #later(file: Counting, { leasedAt, isSure }: Pick<Retry, 'leasedAt' | 'isSure'>): void {
    const running = this.#retries.get(file.key);
    if (running) {
      // a second try beside it would go on when it is over, and count the file again
      running.leasedAt = Math.max(running.leasedAt, leasedAt);
      running.isSure ||= isSure;
      return;
    }
    if (this.#retries.size >= MOST_RETRIES) {
      this.#deps.log.warn({ id: file.id }, 'a stored file could not be counted');
      return;
    }
    const retry: Retry = { leasedAt, isSure, isOver: false, ended: Promise.resolve() };
    this.#retries.set(file.key, retry);
    retry.ended = this.#retry(file, retry).finally(() => this.#retries.delete(file.key));
  }

  async #retry(file: Counting, retry: Retry): Promise<void> {
    const { clock, log, state } = this.#deps;
    for (;;) {
      await new Promise<void>((resolve) => {
        setTimeout(resolve, RETRY_MS).unref();
      });
      if (retry.isOver) return;
      const waited = clock.now() - retry.leasedAt;
      try {
        if (!retry.isSure) {
          const record = recordIn(await state.read(recordKey(file.id)));
          // its record may have been made meanwhile
          if (record?.key !== file.key && !retry.isSure) return await this.gone(file);
          this.forget(file.key);
          retry.isSure = true;
        }
        // without a lease that would not have ended by itself, it has been counted, and the answer was lost
        if (!(await this.#move(file)) && waited >= LEASE_MS) await this.#count(file);
        log.info({ id: file.id }, 'a stored file has been counted');
        return;
      } catch (err) {
        if (waited < LONGEST_MS) continue;
        log.warn({ id: file.id, err }, 'a stored file could not be counted');
        return;
      }
    }
  }
}
