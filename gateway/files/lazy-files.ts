import { keptIn, type Shape } from '../errors/kept.js';
import type { StateStore } from '../ports/state-store.js';
import type { FileRecord } from './file.js';
import { newFileId } from './handle.js';
import type { Seal } from './seal.js';

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

/** True for a file of the server that has named this one, and of the same caller: it can become only such a one. */
export function isOf({ server, principal }: LazyFile, file: Pick<FileRecord, 'server' | 'principal'>): boolean {
  return file.server === server && file.principal === principal;
}

/** Handles of lazy files. Once one has been read, it means the same bytes for ever. */
export class LazyFiles {
  readonly #state: StateStore;
  readonly #seal: Seal;
  readonly #keptMs: number;

  constructor(state: StateStore, seal: Seal, retentionMs: number) {
    this.#state = state;
    this.#seal = seal;
    this.#keptMs = retentionMs;
  }

  /** @returns the id of a new handle */
  async announce(lazy: LazyFile): Promise<string> {
    const id = newFileId();
    const { principal, server } = lazy;
    await this.#state.create(key(id), this.#text(id, lazy), this.#keptMs, { principal, server });
    return id;
  }

  /** Looks up a caller's handle in use, and extends it by another `retention`. For every other caller it does not exist. */
  async use(id: string, principal: string): Promise<LazyFile | undefined> {
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
  async settle(id: string, lazy: LazyFile, file: string): Promise<string> {
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
    return JSON.stringify({ ...lazy, uri: this.#seal.close(key(id), lazy.uri) });
  }

  /** @returns undefined when it was sealed with a secret that has been removed */
  #lazy(id: string, text: string): LazyFile | undefined {
    const lazy = keptIn(text, LAZY_FILE);
    const uri = this.#seal.open(key(id), lazy.uri);
    return uri === undefined ? undefined : { ...lazy, uri };
  }
}

function key(id: string): string {
  return `lazy:${id}`;
}
