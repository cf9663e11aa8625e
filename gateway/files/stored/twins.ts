import type { Log } from '../../ports/log.js';
import type { StateStore } from '../../ports/state-store.js';
import { type FileRecord, ownerOf, recordKey } from '../file.js';
import { lifetimeOf } from '../retention/lifetime.js';
import type { StoredObjects } from './stored-objects.js';

interface TwinsDeps {
  state: StateStore;
  log: Log;
  stored: Pick<StoredObjects, 'isUntouched'>;
  /** The file with an id; undefined when it is gone. */
  find: (id: string) => Promise<FileRecord | undefined>;
  /** Extends a file in use. False when it is gone. */
  touch: (id: string) => Promise<boolean>;
  settings: {
    /** How long a file lives after the last use that Wharf sees. */
    retentionMs: number;
  };
}

/** Finds the file that has certain bytes already (its id, under `digest:<principal>:<server>:<digest>`). */
export class Twins {
  readonly #deps: TwinsDeps;

  constructor(deps: TwinsDeps) {
    this.#deps = deps;
  }

  /**
   * A living file of the same owner with the same bytes, name and type, extended.
   * @param isNameless its name does not matter
   */
  async find(about: FileRecord, isNameless = false): Promise<FileRecord | undefined> {
    const { state, settings, stored, find } = this.#deps;
    const key = keyOf(about);
    const id = await state.read(key);
    if (id === undefined) return undefined;
    const twin = await find(id);
    if (!twin || !(isNameless || twin.name === about.name) || twin.mimeType !== about.mimeType) return undefined;
    if (twin.resource !== about.resource || twin.scan !== about.scan) return undefined;
    // the new object certainly exists, so a store that cannot check the old one does no harm, nor one that was copied
    if (!(await stored.isUntouched(twin).catch(() => false))) return undefined;
    const shared = await this.#share(twin);
    if (shared) await state.extend(key, settings.retentionMs);
    return shared;
  }

  /**
   * Lets the same bytes be found again. This only saves space, so a failure is ignored: a caller that saw it would
   * remove the bytes, although the index may point to them.
   */
  async note(record: FileRecord): Promise<void> {
    const { id } = record;
    const key = keyOf(record);
    const { state, settings, log } = this.#deps;
    try {
      if (await state.create(key, id, settings.retentionMs, ownerOf(record))) return;
      const old = await state.read(key);
      if (old !== undefined) await state.replace(key, old, id, settings.retentionMs);
    } catch (error) {
      log.warn({ id, err: error }, 'could not index a file by its digest');
    }
  }

  /** Marks a record as shared and extends it, unless it has gone or been taken back; each step checks that itself. */
  async #share(record: FileRecord): Promise<FileRecord | undefined> {
    const { state, settings } = this.#deps;
    const { id } = record;
    const shared: FileRecord = { ...record, shared: true };
    if (
      !record.shared &&
      !(await state.replace(
        recordKey(id),
        JSON.stringify(record),
        JSON.stringify(shared),
        lifetimeOf(record, settings.retentionMs),
      )) &&
      !(await this.#deps.find(id))?.shared
    ) {
      return undefined;
    }
    return (await this.#deps.touch(id)) ? shared : undefined;
  }
}

/** By server too: handoff rules depend on where a file came from. */
function keyOf(file: FileRecord): string {
  return `digest:${file.principal}:${file.server ?? ''}:${file.digest}`;
}
