import { isNotWritten } from '../../errors/kept.js';
import type { ErrorCode } from '../../errors.js';
import type { Audit } from '../../ports/audit.js';
import type { Clock } from '../../ports/clock.js';
import type { ObjectStore } from '../../ports/object-store.js';
import type { StateStore } from '../../ports/state-store.js';
import { type FileAccount, type FileRecord, NO_RECORD, recordIn, recordKey } from '../file.js';
import { behindId, idOfKey, OBJECTS } from '../handles/handle.js';
import { lifetimeOf } from '../retention/lifetime.js';
import { TOGETHER as REMOVED_TOGETHER, together } from '../retention/together.js';

/** Most files of which one request reads the records: a page may be shorter than asked for, and names the next. */
const MOST_READ = 1000;

/** Most such pages that a search looks at for a person, who would have to ask for each. */
const MOST_PAGES = 10;

/** Records read at one time. */
const TOGETHER = 32;

/** Files of a principal that are found before they are removed, 100 bytes each. */
const MOST_FOUND = 100_000;

/** What the clocks of two replicas may differ by: the time of another one stands in its records. */
const CLOCKS_DIFFER_MS = 2000;

/** Concurrent changes of one record; each loser of a race reads again. */
const MOST_TRIES = 20;

/** Which files are meant: every given member must match. */
export interface FileFilter {
  principal?: string | undefined;
  /** Config name; an empty text means files that no server has given. */
  server?: string | undefined;
  /** SHA-256, base64url without padding. */
  digest?: string | undefined;
  /** Stored before this time, milliseconds since the Unix epoch. */
  before?: number | undefined;
}

/** A page of a list of files. */
export interface FilePage {
  files: FileRecord[];
  /** Where the next page begins; absent on the last one. */
  next?: string;
}

interface FileControlDeps {
  objects: Pick<ObjectStore, 'keysAfter' | 'list' | 'remove'>;
  state: Pick<StateStore, 'read' | 'replace'>;
  audit: Pick<Audit, 'record' | 'note'>;
  /** Counts what principals have stored. */
  account: Pick<FileAccount, 'released'>;
  clock: Clock;
  retentionMs: number;
}

export type Change = 'revoke' | 'hold' | 'release';

/** What operators do with the stored files of all callers. Each step holds for all replicas at once. */
export class FileControl {
  readonly #deps: FileControlDeps;

  constructor(deps: FileControlDeps) {
    this.#deps = deps;
  }

  /**
   * Files in the order of their ids, which are random. Memory and time are bounded by `MOST_READ`, however many there are.
   * @param after the `next` of the page before
   */
  async list(filter: FileFilter, { after = '', limit }: { after?: string; limit: number }): Promise<FilePage> {
    const keys = await this.#deps.objects.keysAfter(OBJECTS, after === '' ? OBJECTS : behindId(after), MOST_READ);
    // of several tries to upload a file each has an object
    const ids = [...new Set(keys.map(idOfKey))];
    const isEnd = keys.length < MOST_READ;
    const files: FileRecord[] = [];
    for (let at = 0; at < ids.length; at += TOGETHER) {
      const some = ids.slice(at, at + TOGETHER);
      const records = await Promise.all(some.map((id) => this.show(id).catch(ifWritten)));
      for (const [index, record] of records.entries()) {
        if (!record || !fits(record, filter)) continue;
        files.push(record);
        const last = some[index] as string;
        const isLast = at + index === ids.length - 1 && isEnd;
        if (files.length === limit) return isLast ? { files } : { files, next: last };
      }
    }
    const last = ids.at(-1);
    return isEnd || last === undefined ? { files } : { files, next: last };
  }

  /** As `list`, but passes over pages without a file, as far as one request may look. */
  async search(filter: FileFilter, { after, limit }: { after?: string; limit: number }): Promise<FilePage> {
    let found = await this.list(filter, { ...(after !== undefined && { after }), limit });
    for (let page = 1; page < MOST_PAGES && found.files.length === 0 && found.next !== undefined; page++)
      found = await this.list(filter, { after: found.next, limit });
    return found;
  }

  /** The record of a file, also of a revoked file; undefined when there is no such file. */
  async show(id: string): Promise<FileRecord | undefined> {
    return recordIn(await this.#deps.state.read(recordKey(id)));
  }

  /**
   * `revoke`: no link of Wharf's and no handle leads to the file afterwards; its bytes stay until it expires. `hold`: the
   * file is neither swept nor removed, until `release`.
   * @param actor who does it, for the audit log
   * @returns the record afterwards; undefined when there is no such file
   */
  async change(id: string, change: Change, actor: string): Promise<FileRecord | undefined> {
    const found = await this.show(id);
    if (!found) return undefined;
    await this.#record(change, found, actor);
    return this.#replace(id, (record) => this.#changed(record, change));
  }

  /** Removes a file with its bytes, so that presigned links end too. A held file stays. */
  async remove(id: string, actor: string): Promise<'removed' | 'held' | 'unknown'> {
    const found = await this.show(id);
    if (!found) return 'unknown';
    if (found.heldAt !== undefined) return this.#held(found, actor);
    await this.#record('remove', found, actor);
    const { state, objects, account } = this.#deps;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const text = await state.read(recordKey(id));
      const record = recordIn(text);
      if (text === undefined || !record) return 'unknown';
      if (record.heldAt !== undefined) return this.#held(record, actor);
      // the record goes first: what cannot be removed then has none, and is swept
      if (!(await state.replace(recordKey(id), text, NO_RECORD, 1))) continue;
      void account.released(record);
      await objects.remove(record.key);
      return 'removed';
    }
    throw new Error(`the record of ${id} changes all the time`);
  }

  /**
   * Removes all files that a principal has now. Those that it stores meanwhile stay: a caller that goes on storing would keep
   * the removal from its end.
   * @returns how many, and how many are held and stay
   */
  async removeAllOf(principal: string, actor: string): Promise<{ removed: number; held: number }> {
    let removed = 0;
    const until = this.#deps.clock.now() + CLOCKS_DIFFER_MS;
    for (;;) {
      const { held: stay, ids, isAll } = await this.#filesOf(principal, until);
      const held = new Set(stay);
      for (let at = 0; at < ids.length; at += REMOVED_TOGETHER) {
        await together(ids.slice(at, at + REMOVED_TOGETHER), async (id) => {
          const outcome = await this.remove(id, actor);
          if (outcome === 'removed') removed += 1;
          if (outcome === 'held') held.add(id);
        });
      }
      if (!isAll) continue;
      for (const id of stay) {
        const record = await this.show(id).catch(ifWritten);
        if (record) this.#held(record, actor);
      }
      return { removed, held: held.size };
    }
  }

  /**
   * Those of a principal that were there before a time, and may be removed. The store is read once: where it knows its keys in no order, each page of them
   * costs as much. Nothing is removed meanwhile, because a store need not list what is left then.
   */
  async #filesOf(principal: string, until: number): Promise<{ ids: string[]; held: Set<string>; isAll: boolean }> {
    const found = new Set<string>();
    const held = new Set<string>();
    let some = new Set<string>();
    const read = async () => {
      const records = await Promise.all([...some].map((id) => this.show(id).catch(ifWritten)));
      some = new Set();
      for (const record of records)
        if (record?.principal === principal && record.createdAt <= until)
          (record.heldAt === undefined ? found : held).add(record.id);
    };
    let isAll = true;
    for await (const { key } of this.#deps.objects.list(OBJECTS)) {
      // of several tries to upload a file each has an object
      some.add(idOfKey(key));
      if (some.size === TOGETHER) await read();
      isAll = found.size < MOST_FOUND;
      if (!isAll) break;
    }
    await read();
    return { ids: [...found], held, isAll };
  }

  #changed(record: FileRecord, change: Change): FileRecord {
    const now = this.#deps.clock.now();
    if (change === 'revoke') return { ...record, revokedAt: record.revokedAt ?? now };
    if (change === 'hold') return { ...record, heldAt: record.heldAt ?? now };
    const { heldAt: _, ...released } = record;
    return released;
  }

  async #replace(id: string, change: (record: FileRecord) => FileRecord): Promise<FileRecord | undefined> {
    const { state, retentionMs } = this.#deps;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const text = await state.read(recordKey(id));
      const record = recordIn(text);
      if (text === undefined || !record) return undefined;
      const changed = change(record);
      if (await state.replace(recordKey(id), text, JSON.stringify(changed), lifetimeOf(changed, retentionMs)))
        return changed;
    }
    throw new Error(`the record of ${id} changes all the time`);
  }

  /** Notes that a file was to be removed, and stays. */
  #held(file: FileRecord, actor: string): 'held' {
    const { principal, server } = file;
    const refused = { allowed: false, rule: 'hold', code: 'file_held' satisfies ErrorCode };
    this.#deps.audit.note({ what: 'control', ...refused, actor, subject: 'remove', principal, server, files: [file] });
    return 'held';
  }

  /** @throws GatewayError `audit_unavailable`: nothing is done then */
  async #record(subject: string, file: FileRecord, actor: string): Promise<void> {
    const { principal, server } = file;
    await this.#deps.audit.record({ what: 'control', allowed: true, actor, subject, principal, server, files: [file] });
  }
}

function fits(record: FileRecord, { principal, server, digest, before }: FileFilter): boolean {
  return (
    (principal === undefined || record.principal === principal) &&
    (server === undefined || (record.server ?? '') === server) &&
    (digest === undefined || record.digest === digest) &&
    (before === undefined || record.createdAt < before)
  );
}

/** A list has the files whose records can be read: one that another program has written over must not keep all from view. */
function ifWritten(error: unknown): undefined {
  if (!isNotWritten(error)) throw error;
}
