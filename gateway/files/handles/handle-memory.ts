import { keptIn, type Shape } from '../../errors/kept.js';
import type { Log } from '../../ports/log.js';
import type { Owner } from '../../ports/owner.js';
import type { StateStore } from '../../ports/state-store.js';

/** How long an expired file is remembered, so that its owner gets "expired" and not "unknown". */
const REMEMBERED_MS = 60 * 60 * 1000;

/** The file's owner, and the server that gave it, if one did. */
type FileOwner = Owner & { principal: string };

interface HandleRecord {
  principal: string;
  /** Milliseconds since the Unix epoch; absent once the file has been stored, and `NEVER` when it is no longer wanted. */
  awaitedUntil?: number;
}

const NEVER = 0;

const HANDLE_RECORD: Shape<HandleRecord> = { principal: 'text', awaitedUntil: 'number?' };

/**
 * Remembers a handle before its file's record exists and after it has expired: its owner, and how long its upload is
 * awaited. This also distinguishes a first upload from a second one after the first file has expired.
 */
export class HandleMemory {
  readonly #state: StateStore;
  readonly #log: Log;
  readonly #keptMs: number;

  /** @param retentionMs how long a file lives */
  constructor(state: StateStore, log: Log, retentionMs: number) {
    this.#state = state;
    this.#log = log;
    this.#keptMs = retentionMs + REMEMBERED_MS;
  }

  async find(id: string): Promise<HandleRecord | undefined> {
    const text = await this.#state.read(key(id));
    return text === undefined ? undefined : keptIn(text, HANDLE_RECORD);
  }

  /** Records a handle whose file does not exist yet. */
  async expect(id: string, principal: string, until: number): Promise<void> {
    await this.#state.create(key(id), write(principal, until), this.#keptMs, { principal });
  }

  /** Records the handle of a file that was stored without being awaited. */
  remember(id: string, owner: FileOwner): Promise<void> {
    return this.#tolerate(id, async () => {
      await this.#state.create(key(id), write(owner.principal), this.#keptMs, owner);
    });
  }

  /** Records that the awaited file has a record. Returns false when it had one before, which has expired, and after `giveUp`. */
  async settle(id: string, principal: string, until: number): Promise<boolean> {
    let isFirst = true;
    await this.#tolerate(id, async () => {
      const done = write(principal);
      if (await this.#state.replace(key(id), write(principal, until), done, this.#keptMs)) return;
      isFirst = await this.#state.create(key(id), done, this.#keptMs, { principal });
    });
    return isFirst;
  }

  /**
   * The file is no longer wanted, if it has not been stored: from now on `settle` is false for it.
   * @param until as it was expected, where it was
   */
  giveUp(id: string, principal: string, until: number): Promise<void> {
    return this.#tolerate(id, async () => {
      const over = write(principal, NEVER);
      if (await this.#state.replace(key(id), write(principal, until), over, this.#keptMs)) return;
      await this.#state.create(key(id), over, this.#keptMs, { principal });
    });
  }

  async isGivenUp(id: string): Promise<boolean> {
    return (await this.find(id))?.awaitedUntil === NEVER;
  }

  /** Extends the handle with its file. */
  extend(id: string): Promise<void> {
    return this.#tolerate(id, async () => {
      await this.#state.extend(key(id), this.#keptMs);
    });
  }

  /** A handle forgotten too early only becomes "unknown" a little sooner; that must not make anything fail. */
  async #tolerate(id: string, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#log.warn({ id, err: error }, "could not store the owner of a file's handle");
    }
  }
}

function key(id: string): string {
  return `handle:${id}`;
}

function write(principal: string, awaitedUntil?: number): string {
  return JSON.stringify(awaitedUntil === undefined ? { principal } : { principal, awaitedUntil });
}
