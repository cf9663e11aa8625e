import { keptIn, type Shape } from '../../errors/kept.js';
import { GatewayError } from '../../errors.js';
import type { StateStore } from '../../ports/state-store.js';
import type { Seal } from '../../secrets/seal.js';
import type { FileRecord } from '../file.js';
import { SharedWork } from '../shared-work.js';
import { newFileId } from './handle.js';

/** A file that a server has only named (JSON under `lazy:<id>`); its bytes are read on first use. */
export interface LazyFile {
  principal: string;
  server: string;
  /** The server's own URI for it. */
  uri: string;
  name?: string;
  mimeType?: string;
  /** Id of the file that it has become. */
  file?: string;
}

const LAZY_FILE: Shape<LazyFile> = {
  principal: 'text',
  server: 'text',
  uri: 'text',
  name: 'text?',
  mimeType: 'text?',
  file: 'text?',
};

export interface LazyFilesDeps {
  state: StateStore;
  /** Seals texts that the state store keeps but has no use for. */
  seal: Seal;
  /** Reads a file that a server has only named. @throws GatewayError */
  readLazy: (lazy: LazyFile, signal: AbortSignal) => Promise<FileRecord>;
  /** The file with an id; undefined when it is gone. */
  find: (id: string) => Promise<FileRecord | undefined>;
  /** Takes back a file that was read in vain. */
  withdraw: (record: FileRecord) => Promise<void>;
  settings: {
    /** How long a handle lives after its last use. */
    retentionMs: number;
  };
}

/** What the handle of a lazy file means. */
export type ResolvedLazy =
  | { kind: 'ready'; record: FileRecord }
  /** A server has named it; its bytes must still be read there. */
  | { kind: 'lazy'; server: string; read: (signal: AbortSignal) => Promise<FileRecord> }
  /** The file that it has become is gone. */
  | { kind: 'expired' };

/** Handles of lazy files. Once one has been read, it means the same bytes for ever. */
export class LazyFiles {
  readonly #deps: LazyFilesDeps;
  readonly #state: StateStore;
  readonly #keptMs: number;
  readonly #reads = new SharedWork<FileRecord>();

  constructor(deps: LazyFilesDeps) {
    this.#deps = deps;
    this.#state = deps.state;
    this.#keptMs = deps.settings.retentionMs;
  }

  /** @returns the id of a new handle */
  async announce(lazy: LazyFile): Promise<string> {
    const id = newFileId();
    const { principal, server } = lazy;
    await this.#state.create(key(id), this.#text(id, lazy), this.#keptMs, { principal, server });
    return id;
  }

  /** What a caller's handle means; undefined for one that is not of a lazy file, or that another caller has. */
  async resolve(id: string, principal: string): Promise<ResolvedLazy | undefined> {
    const lazy = await this.#use(id, principal);
    if (!lazy) return undefined;
    if (lazy.file !== undefined) {
      const record = await this.#deps.find(lazy.file);
      return record && isOf(lazy, record) ? { kind: 'ready', record } : { kind: 'expired' };
    }
    const read = (signal: AbortSignal) => this.#reads.run(id, signal, (shared) => this.#read(id, lazy, shared));
    return { kind: 'lazy', server: lazy.server, read };
  }

  /** @throws GatewayError `file_gone`, `upstream_invalid`, or the error of reading it */
  async #read(id: string, resolved: LazyFile, signal: AbortSignal): Promise<FileRecord> {
    const { find, readLazy, withdraw } = this.#deps;
    // another reader may have been faster
    const lazy = (await this.#use(id, resolved.principal)) ?? resolved;
    if (lazy.file !== undefined) {
      const record = await find(lazy.file);
      if (!record || !isOf(lazy, record)) throw new GatewayError('file_gone');
      return record;
    }
    const fresh = await readLazy(lazy, signal);
    // a server may name any file; a handle for one server's link must not become a handle of another server's file
    if (!isOf(lazy, fresh))
      throw new GatewayError('upstream_invalid', { reason: 'it gave a file that is not its own' });
    const first = await this.#settle(id, lazy, fresh.id);
    const record = first === fresh.id ? undefined : await find(first);
    if (!record) return fresh;
    await withdraw(fresh);
    return record;
  }

  /** Looks up a caller's handle in use, and extends it by another `retention`. For every other caller it does not exist. */
  async #use(id: string, principal: string): Promise<LazyFile | undefined> {
    const text = await this.#state.read(key(id));
    const lazy = text === undefined ? undefined : this.#lazy(id, text);
    if (lazy?.principal !== principal) return undefined;
    await this.#state.extend(key(id), this.#keptMs);
    return lazy;
  }

  /**
   * Records the file that was read. Of several concurrent readers the first decides.
   * @returns the id of the file that the handle now means
   */
  async #settle(id: string, lazy: LazyFile, file: string): Promise<string> {
    const read = this.#text(id, { ...lazy, file });
    let expected = this.#text(id, lazy);
    while (!(await this.#state.replace(key(id), expected, read, this.#keptMs))) {
      const now = await this.#state.read(key(id));
      const known = now === undefined ? undefined : this.#lazy(id, now);
      if (now === undefined || now === expected || !known || known.file !== undefined) return known?.file ?? file;
      // sealed with an older secret, the same is another text
      expected = now;
    }
    return file;
  }

  /** A server's URI may be a credential for what it names. */
  #text(id: string, lazy: LazyFile): string {
    return JSON.stringify({ ...lazy, uri: this.#deps.seal.close(key(id), lazy.uri) });
  }

  /** @returns undefined when it was sealed with a secret that has been removed */
  #lazy(id: string, text: string): LazyFile | undefined {
    const lazy = keptIn(text, LAZY_FILE);
    const uri = this.#deps.seal.open(key(id), lazy.uri);
    return uri === undefined ? undefined : { ...lazy, uri };
  }
}

/** True for a file of the server that has named this one, and of the same caller: it can become only such a one. */
function isOf({ server, principal }: LazyFile, file: Pick<FileRecord, 'server' | 'principal'>): boolean {
  return file.server === server && file.principal === principal;
}

function key(id: string): string {
  return `lazy:${id}`;
}
