import type { StateStore } from '../ports/state-store.js';
import { newFileId } from './handle.js';

/** A file that a server has only named (JSON under `lazy:<id>`): its bytes are read when they are used first. */
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

/** Handles of such files. Once one has been read it stands for the same bytes for ever. */
export class LazyFiles {
  readonly #state: StateStore;
  readonly #keptMs: number;

  constructor(state: StateStore, retentionMs: number) {
    this.#state = state;
    this.#keptMs = retentionMs;
  }

  /** @returns the id of a new handle */
  async announce(lazy: LazyFile): Promise<string> {
    const id = newFileId();
    await this.#state.create(key(id), JSON.stringify(lazy), this.#keptMs);
    return id;
  }

  /** Somebody uses the handle: it lives for another `retention`. */
  async use(id: string): Promise<LazyFile | undefined> {
    const text = await this.#state.read(key(id));
    if (text === undefined) return undefined;
    await this.#state.extend(key(id), this.#keptMs);
    return JSON.parse(text) as LazyFile;
  }

  /**
   * The file has been read. Of several readers at a time one says what it is.
   * @returns the id of the file that it is
   */
  async settle(id: string, lazy: LazyFile, file: string): Promise<string> {
    const read = JSON.stringify({ ...lazy, file });
    if (await this.#state.replace(key(id), JSON.stringify(lazy), read, this.#keptMs)) return file;
    const now = await this.#state.read(key(id));
    return (now === undefined ? undefined : (JSON.parse(now) as LazyFile).file) ?? file;
  }
}

function key(id: string): string {
  return `lazy:${id}`;
}
