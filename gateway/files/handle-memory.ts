import type { Log } from '../ports/log.js';
import type { Owner } from '../ports/owner.js';
import type { StateStore } from '../ports/state-store.js';

/** A file that is over is remembered this long, so that its owner hears "expired" and not "unknown". */
const REMEMBERED_MS = 60 * 60 * 1000;

/** Whose file it is, and the server that gave it, if one did. */
type FileOwner = Owner & { principal: string };

interface HandleRecord {
  principal: string;
  /** Milliseconds since the Unix epoch; absent once the file has been stored. */
  awaitedUntil?: number;
}

/**
 * What is known of a handle besides its file's record, before there is one and after it is over: whose it is, and
 * until when its upload is awaited. It is also what tells a first upload from a second one after the first file's life.
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
    return text === undefined ? undefined : (JSON.parse(text) as HandleRecord);
  }

  /** The handle exists, its file does not yet. */
  async expect(id: string, principal: string, until: number): Promise<void> {
    await this.#state.create(key(id), write(principal, until), this.#keptMs, { principal });
  }

  /** A file has been stored that nobody awaited. */
  remember(id: string, owner: FileOwner): Promise<void> {
    return this.#tolerate(id, async () => {
      await this.#state.create(key(id), write(owner.principal), this.#keptMs, owner);
    });
  }

  /** The file that was expected has a record now. False when it had one before, which is over. */
  async settle(id: string, principal: string, until: number): Promise<boolean> {
    let isFirst = true;
    await this.#tolerate(id, async () => {
      const done = write(principal);
      if (await this.#state.replace(key(id), write(principal, until), done, this.#keptMs)) return;
      isFirst = await this.#state.create(key(id), done, this.#keptMs, { principal });
    });
    return isFirst;
  }

  /** The file lives longer. */
  extend(id: string): Promise<void> {
    return this.#tolerate(id, async () => {
      await this.#state.extend(key(id), this.#keptMs);
    });
  }

  /** A handle that is forgotten early is "unknown" a little sooner, which is no reason to fail. */
  async #tolerate(id: string, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#log.warn({ id, err: error }, 'could not remember whose a file is');
    }
  }
}

function key(id: string): string {
  return `handle:${id}`;
}

function write(principal: string, awaitedUntil?: number): string {
  return JSON.stringify(awaitedUntil === undefined ? { principal } : { principal, awaitedUntil });
}
