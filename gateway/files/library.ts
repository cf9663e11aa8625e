import { soon } from '../budget/soon.js';
import type { Audit } from '../ports/audit.js';
import type { Clock } from '../ports/clock.js';
import type { FileRef } from '../ports/file.js';
import type { Log } from '../ports/log.js';
import type { ByteRange, ObjectRead, ObjectStore } from '../ports/object-store.js';
import type { StateStore } from '../ports/state-store.js';
import { type FileCause, recordFile } from './control/recorded-file.js';
import { type LinkDeps, type LinkReading, Links } from './downloads/links.js';
import type { CountedFile, DescribedFile, FileAccount, FileRecord, NewFile, OwnedObject } from './file.js';
import { NO_RECORD, ownerOf, recordIn, recordKey } from './file.js';
import type { Origins } from './flow/origins.js';
import { Bundles, type BundlesDeps } from './handles/bundles.js';
import { handleOf, readHandle } from './handles/handle.js';
import { HandleMemory } from './handles/handle-memory.js';
import { type LazyFile, LazyFiles, type LazyFilesDeps, type ResolvedLazy } from './handles/lazy-files.js';
import { type ShownResource, ShownResources } from './handles/shown-resources.js';
import type { Stored } from './ingest/ingest.js';
import type { CleanUps } from './retention/clean-ups.js';
import type { Expiry } from './retention/expiry.js';
import { StoredObjects, type StoredObjectsDeps } from './stored/stored-objects.js';
import { Twins } from './stored/twins.js';
import type { FileLabel } from './tickets/ticket.js';

export interface LibraryDeps
  extends Omit<LinkDeps, 'settings'>,
    Pick<StoredObjectsDeps, 'comparisons'>,
    Pick<LazyFilesDeps, 'seal' | 'readLazy'> {
  objects: ObjectStore;
  state: StateStore;
  clock: Clock;
  log: Log;
  cleanUps: CleanUps;
  /** Absent: no rule asks where bytes come from. */
  origins?: Pick<Origins, 'note'> | undefined;
  /** Gets every new file. */
  expiry: Pick<Expiry, 'watch'>;
  audit: Pick<Audit, 'isOn' | 'record'>;
  /** Counts what each caller has stored, where that is limited. */
  account: FileAccount;
  leftOut?: BundlesDeps['leftOut'];
  settings: LinkDeps['settings'] &
    StoredObjectsDeps['settings'] & {
      /** How long a file lives after the last use that Wharf sees. */
      retentionMs: number;
    };
}

/** What a handle means to one principal: another principal's file looks the same as one that never existed. */
export type Resolved =
  | ResolvedLazy
  /** Its upload is not complete. */
  | { kind: 'pending' }
  /** The file, or the right to upload it, has expired. */
  | { kind: 'expired' }
  | { kind: 'unknown' };

/** What a handle means once a lazy file has been read. */
export type Opened =
  | Exclude<Resolved, { kind: 'lazy' }>
  /** The handle stands for so many files, each of which has a handle of its own. */
  | { kind: 'several'; handles: readonly string[] };

/** The files Wharf knows: their records, their links and their lifetimes. */
export class Library {
  readonly #deps: LibraryDeps;
  readonly #handles: HandleMemory;
  readonly #lazy: LazyFiles;
  readonly #shown: ShownResources;
  readonly #twins: Twins;
  readonly #links: Links;
  /** Files that belong together. */
  readonly bundles: Bundles;
  /** The bytes of files. */
  readonly stored: StoredObjects;

  constructor(deps: LibraryDeps) {
    this.#deps = deps;
    this.stored = new StoredObjects(deps);
    this.#links = new Links(deps);
    const find = (id: string) => this.find(id);
    this.bundles = new Bundles({ ...deps, find });
    this.#handles = new HandleMemory(deps.state, deps.log, deps.settings.retentionMs);
    this.#lazy = new LazyFiles({ ...deps, find, withdraw: (record) => this.withdraw(record) });
    this.#shown = new ShownResources(deps.state, deps.settings.retentionMs);
    this.#twins = new Twins({ ...deps, find, touch: (id) => this.touch(id), stored: this.stored });
  }

  /**
   * Records stored bytes as a file. If the same principal has the same bytes already (a replayed event is stored
   * again), they become the existing file, and the new object is removed.
   * @returns the record to use, which may be an older one with another id
   */
  async publish(stored: Stored, about: NewFile, cause: FileCause = {}): Promise<FileRecord> {
    const { state, clock, settings, origins, account } = this.#deps;
    await recordFile(this.#deps.audit, about, stored, cause);
    if (about.server !== undefined) await origins?.note({ ...about, server: about.server }, stored.digest);
    const record: FileRecord = {
      ...about,
      id: stored.id,
      key: stored.key,
      size: stored.size,
      digest: stored.digest,
      ...(stored.mark !== undefined && { mark: stored.mark }),
      ...(stored.scan && { scan: stored.scan }),
      createdAt: clock.now(),
    };
    const twin = await this.#twins.find(record, cause.isNameless);
    if (twin) {
      this.discard(stored.key);
      void account.collapsed(record);
      return twin;
    }
    await account.holds(record);
    try {
      await state.create(recordKey(record.id), JSON.stringify(record), settings.retentionMs, ownerOf(record));
    } catch (error) {
      account.unsure(record);
      throw error;
    }
    this.#deps.expiry.watch(record.id, record.key);
    const known = [this.#twins.note(record), this.#handles.remember(record.id, ownerOf(record))];
    await Promise.all([...known, account.recorded(record)]);
    return record;
  }

  /** Makes a handle for a file that a server has only named. */
  async announce(lazy: LazyFile): Promise<string> {
    const id = await this.#lazy.announce(lazy);
    await this.#handles.remember(id, ownerOf(lazy));
    return handleOf(this.#deps.settings.gatewayId, id);
  }

  /** Records that a result has shown a caller this resource, and the file with its content. */
  noteShown(resource: ShownResource, id: string): Promise<void> {
    return this.#shown.note(resource, id);
  }

  /** The file with the content that a caller was last shown of a resource. */
  async shown(resource: ShownResource): Promise<FileRecord | undefined> {
    const id = await this.#shown.find(resource);
    return id === undefined ? undefined : this.find(id);
  }

  /** Makes a handle for a file that its owner has yet to upload. @param until when, in milliseconds since the Unix epoch */
  async expect(id: string, principal: string, until: number): Promise<string> {
    await this.#handles.expect(id, principal, until);
    return handleOf(this.#deps.settings.gatewayId, id);
  }

  /** An awaited file is no longer wanted: an upload of it that is under way stores nothing. @param until as of `expect` */
  giveUp(id: string, principal: string, until: number): Promise<void> {
    return this.#handles.giveUp(id, principal, until);
  }

  /** As `giveUp`, for several files, of which some may have been stored. */
  async leaveOut(ids: readonly string[], principal: string, until: number): Promise<void> {
    for (const id of ids) {
      // first, so that an upload which ends meanwhile is seen by one of the two
      await this.giveUp(id, principal, until);
      const record = await this.find(id);
      if (record) await this.withdraw(record);
    }
  }

  /** Whether `admit` has been false because of `giveUp`. */
  isGivenUp(id: string): Promise<boolean> {
    return this.#handles.isGivenUp(id);
  }

  /** True when the file awaited under this id has been stored, even if it has expired since. */
  async hasBeenStored(id: string): Promise<boolean> {
    const [record, handle] = await Promise.all([this.find(id), this.#handles.find(id)]);
    return record !== undefined || (handle !== undefined && handle.awaitedUntil === undefined);
  }

  /**
   * Records an awaited upload. Of several attempts, on any replica, exactly one succeeds: a handle means one sequence
   * of bytes for ever.
   * @param expectedUntil as `until` of `expect`
   * @returns false when another attempt was first, or the file is no longer wanted
   * @throws GatewayError `storage_full`; `state_unavailable`: the record may still have been made, so the object must stay
   */
  async admit(record: FileRecord, expectedUntil: number): Promise<boolean> {
    const { state, settings, expiry, account } = this.#deps;
    const key = recordKey(record.id);
    const text = JSON.stringify(record);
    await account.holds(record);
    try {
      if (!(await state.create(key, text, settings.retentionMs, ownerOf(record)))) return false;
    } catch (error) {
      const found = await soon(state.read(key));
      if (found === undefined) {
        account.unsure(record);
        throw error;
      }
      if (found !== text) return false;
    }
    expiry.watch(record.id, record.key);
    const settled = this.#handles.settle(record.id, record.principal, expectedUntil);
    const [isAwaited] = await Promise.all([settled, account.recorded(record)]);
    if (isAwaited) return true;
    await state.remove(key);
    // an upload in several requests gives back by itself what it has kept
    if (record.upload === undefined) void account.released(record);
    return false;
  }

  /** True for a handle of this gateway, whether or not the file exists. */
  names(uri: string): boolean {
    return uri.includes(':') && readHandle(uri, this.#deps.settings.gatewayId) !== undefined;
  }

  /**
   * True for a handle of this gateway, and for a URI that begins like one but is misspelt: no server has such a
   * resource either.
   */
  claims(uri: string): boolean {
    const own = handleOf(this.#deps.settings.gatewayId, '');
    return uri.slice(0, own.length).toLowerCase() === own.toLowerCase();
  }

  /** What a handle, or a file's bare id, means to `principal`. Another's takes as many reads as one that never was. */
  async resolve(handle: string, principal: string): Promise<Resolved> {
    const id = readHandle(handle, this.#deps.settings.gatewayId);
    if (id === undefined) return { kind: 'unknown' };
    const record = await this.#findOf(principal, id);
    if (record) return { kind: 'ready', record };
    const lazy = await this.#lazy.resolve(id, principal);
    if (lazy) return lazy;
    const known = await this.#handles.find(id);
    if (known?.principal !== principal) return { kind: 'unknown' };
    const isAwaited = known.awaitedUntil !== undefined && known.awaitedUntil > this.#deps.clock.now();
    return { kind: isAwaited ? 'pending' : 'expired' };
  }

  /**
   * Resolves a handle, reads a lazy file, and checks that the object exists: the result is certain.
   * @throws GatewayError the error of reading it
   */
  async open(handle: string, principal: string, signal: AbortSignal): Promise<Opened> {
    if (this.bundles.names(handle)) return this.#openBundle(handle, principal, signal);
    const found = await this.resolve(handle, principal);
    if (found.kind === 'lazy') return { kind: 'ready', record: await found.read(signal) };
    // objects may go before their records: by a lifecycle rule of the store, or by hand
    return found.kind === 'ready' && !(await this.stored.isThere(found.record, signal)) ? { kind: 'expired' } : found;
  }

  /** The handle of one upload link for several files is as good as that of its file, where it has brought one. */
  async #openBundle(handle: string, principal: string, signal: AbortSignal): Promise<Opened> {
    const found = await this.bundles.resolve(handle, principal);
    if (found.kind !== 'ready') return found;
    const [only, ...others] = found.handles;
    if (only === undefined || others.length > 0) return { kind: 'several', handles: found.handles };
    return this.open(only, principal, signal);
  }

  /**
   * Takes back a file that was not announced to any caller, or that its uploader does not want to give. One that the
   * same bytes have become stays, because others know it. Never throws: what cannot be taken back expires.
   */
  async withdraw(record: FileRecord): Promise<void> {
    if (record.shared) return;
    const { state, log } = this.#deps;
    try {
      // after this step the file can no longer be found, and it was not found before
      if (!(await state.replace(recordKey(record.id), JSON.stringify(record), NO_RECORD, 1))) return;
    } catch (error) {
      log.warn({ id: record.id, err: error }, 'could not take back a file');
      return;
    }
    this.discard(record.key, record);
  }

  /** A file's record, of any caller: `resolve` is for requests of one. Undefined for one that is gone or revoked. */
  async find(id: string): Promise<FileRecord | undefined> {
    const record = await this.record(id);
    return record?.revokedAt === undefined ? record : undefined;
  }

  /** As `find`, also for a revoked file, which is for the audit log alone. */
  async record(id: string): Promise<FileRecord | undefined> {
    return recordIn(await this.#deps.state.read(recordKey(id)));
  }

  async #findOf(principal: string, id: string): Promise<FileRecord | undefined> {
    const record = await this.find(id);
    return record?.principal === principal ? record : undefined;
  }

  /** Extends a file in use by another `retention`. False when it is gone. */
  async touch(id: string): Promise<boolean> {
    const [isAlive] = await Promise.all([
      this.#deps.state.extend(recordKey(id), this.#deps.settings.retentionMs),
      this.#handles.extend(id),
    ]);
    if (isAlive) await this.#deps.account.used(id);
    return isAlive;
  }

  /** The public facts about a file. */
  describe(record: FileRecord): DescribedFile {
    const { id, name, mimeType, size, digest } = record;
    const uri = handleOf(this.#deps.settings.gatewayId, id);
    return { uri, name, mimeType, size, digest };
  }

  /** The handle that `readLink` finds. */
  async handleOfLink(url: string, principal: string): Promise<string | undefined> {
    const link = await this.readLink(url, principal);
    return link?.kind === 'ok' ? link.handle : undefined;
  }

  /** True for a handle, or a link, of Wharf's own, whatever has become of it. Asks no store. */
  async owns(uri: string): Promise<boolean> {
    return this.claims(uri.trim()) || this.#links.owns(uri);
  }

  /** What a link of Wharf's own leads to, which `resolve` must judge for `principal`; undefined for any other address. */
  readLink(url: string, principal: string): Promise<LinkReading | undefined> {
    return this.#links.read(url, (id) => this.#findOf(principal, id));
  }

  /**
   * The pointer to a file for a message, with a fresh link.
   * @param how `direct`: the link answers 200 by itself, whatever `links.style` says
   * @param as name and type of the download, if they differ from the record's
   */
  refer(record: FileRecord, how: 'usual' | 'direct' = 'usual', as?: FileLabel): Promise<FileRef> {
    return this.#links.refer(record, how, as);
  }

  /** Links of the kinds that `refer` makes, to no file. */
  sampleLinks(): Promise<string[]> {
    return this.#links.samples();
  }

  /** A URL of the store's own; only for stores with `presign`. */
  presign(record: FileRecord, ttlSeconds: number): Promise<string> {
    return this.#links.presign(record, ttlSeconds);
  }

  /** Reads stored bytes back, as `StoredObjects.read`. */
  read(file: OwnedObject, signal: AbortSignal, range?: ByteRange): Promise<ObjectRead> {
    return this.stored.read(file, signal, range);
  }

  /** Removes an object without a record in the background, else the sweeper does. @param counted as its caller's */
  discard(key: string, counted?: CountedFile): void {
    this.#deps.cleanUps.run(key, () => this.#deps.objects.remove(key));
    if (counted) void this.#deps.account.released(counted);
  }

  /** Removes, in the background, an object of a caller's that has never had a record. */
  discardUnrecorded({ key, principal }: Pick<FileRecord, 'key' | 'principal'>): void {
    this.discard(key);
    void this.#deps.account.unrecorded({ key, principal });
  }

  /** Removes, in the background, an object of a caller's that is still being stored. */
  discardStored(storing: Promise<Stored>, principal = ''): void {
    const remove = async ({ key }: Stored) => this.discardUnrecorded({ key, principal });
    // a failed ingest has left nothing, or is being removed already
    storing.then(remove, () => undefined);
  }
}
