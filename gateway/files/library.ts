import { GatewayError } from '../errors.js';
import type { Clock } from '../ports/clock.js';
import type { FileRef } from '../ports/file.js';
import type { Log } from '../ports/log.js';
import type { ByteRange, ObjectStore } from '../ports/object-store.js';
import type { StateStore } from '../ports/state-store.js';
import type { CleanUps } from './clean-ups.js';
import type { Expiry } from './expiry.js';
import type { FileRecord, FileValue } from './file.js';
import { handleOf, readHandle } from './handle.js';
import { HandleMemory } from './handle-memory.js';
import type { Stored } from './ingest/ingest.js';
import { type LazyFile, LazyFiles } from './lazy-files.js';
import { type LinkDeps, Links } from './links.js';
import type { Seal } from './seal.js';
import { SharedWork } from './shared-work.js';
import { type ShownResource, ShownResources } from './shown-resources.js';
import type { FileLabel } from './ticket.js';

export interface LibraryDeps extends Omit<LinkDeps, 'settings'> {
  objects: ObjectStore;
  state: StateStore;
  /** Of what the state store keeps and has no use for. */
  seal: Seal;
  clock: Clock;
  log: Log;
  cleanUps: CleanUps;
  /** Told of every new file. */
  expiry: Pick<Expiry, 'watch'>;
  /** Reads what a server has only named. @throws GatewayError */
  readLazy: (lazy: LazyFile, signal: AbortSignal) => Promise<FileRecord>;
  settings: LinkDeps['settings'] & {
    /** How long a file lives after the last use Wharf sees. */
    retentionMs: number;
  };
}

/** What a handle stands for, as far as one principal may know: another's file is as unknown as one that never was. */
export type Resolved =
  | { kind: 'ready'; record: FileRecord }
  /** A server has named it; its bytes are yet to be read there. */
  | { kind: 'lazy'; server: string; read: (signal: AbortSignal) => Promise<FileRecord> }
  /** Its upload has not been completed. */
  | { kind: 'pending' }
  /** The file, or the right to upload it, is over. */
  | { kind: 'expired' }
  | { kind: 'unknown' };

/** Stands where a record was until it has expired there, since nothing removes a key only if it is unchanged. */
const WITHDRAWN = 'null';

/** The same once it has been read where it has to be. */
export type Opened = Exclude<Resolved, { kind: 'lazy' }>;

/** The files Wharf knows: their records, their links, and how long they live. */
export class Library {
  readonly #deps: LibraryDeps;
  readonly #handles: HandleMemory;
  readonly #lazy: LazyFiles;
  readonly #reads = new SharedWork<FileRecord>();
  readonly #shown: ShownResources;
  readonly #links: Links;

  constructor(deps: LibraryDeps) {
    this.#deps = deps;
    this.#links = new Links(deps);
    this.#handles = new HandleMemory(deps.state, deps.log, deps.settings.retentionMs);
    this.#lazy = new LazyFiles(deps.state, deps.seal, deps.settings.retentionMs);
    this.#shown = new ShownResources(deps.state, deps.settings.retentionMs);
  }

  /**
   * Gives stored bytes a record, after which they are a file. The same bytes of the same principal become the file
   * that exists already (a replayed event is stored again), and the new object is removed.
   * @returns the record to use, which may be an older one under another id
   */
  async publish(
    stored: Stored,
    about: Pick<FileRecord, 'principal' | 'server' | 'fromCall' | 'name' | 'mimeType' | 'resource'>,
  ): Promise<FileRecord> {
    const { state, clock, settings } = this.#deps;
    const record: FileRecord = {
      ...about,
      id: stored.id,
      key: stored.key,
      size: stored.size,
      digest: stored.digest,
      createdAt: clock.now(),
    };
    // by server too: what may be handed to whom depends on where a file came from
    const digestKey = `digest:${about.principal}:${about.server ?? ''}:${stored.digest}`;
    const twin = await this.#livingTwin(digestKey, about);
    if (twin) {
      this.discard(stored.key);
      return twin;
    }
    await state.create(`file:${record.id}`, JSON.stringify(record), settings.retentionMs, ownerOf(record));
    this.#deps.expiry.watch(record.id, record.key);
    await Promise.all([this.#index(digestKey, record), this.#handles.remember(record.id, ownerOf(record))]);
    return record;
  }

  /** A handle for a file that a server has only named. */
  async announce(lazy: LazyFile): Promise<string> {
    const id = await this.#lazy.announce(lazy);
    await this.#handles.remember(id, ownerOf(lazy));
    return handleOf(this.#deps.settings.gatewayId, id);
  }

  /** A result has shown a caller this resource, whose content is in that file. */
  noteShown(resource: ShownResource, id: string): Promise<void> {
    return this.#shown.note(resource, id);
  }

  /** The file with the content in which a resource was shown last. */
  async shown(resource: ShownResource): Promise<FileRecord | undefined> {
    const id = await this.#shown.find(resource);
    return id === undefined ? undefined : this.find(id);
  }

  /** A handle for a file that its owner has yet to upload. */
  async expect(id: string, principal: string, until: number): Promise<string> {
    await this.#handles.expect(id, principal, until);
    return handleOf(this.#deps.settings.gatewayId, id);
  }

  /** Whether the file that was expected under this id has been stored, be it over by now. */
  async hasBeenStored(id: string): Promise<boolean> {
    if (await this.find(id)) return true;
    const handle = await this.#handles.find(id);
    return handle !== undefined && handle.awaitedUntil === undefined;
  }

  /**
   * Gives stored bytes the record that was expected for them. Of any number of tries, on any replica, one does: a
   * handle is one sequence of bytes for ever.
   * @returns false when another try was first
   * @throws GatewayError `state_unavailable`; the record may have been made all the same, so the object must stay
   */
  async admit(record: FileRecord, expectedUntil: number): Promise<boolean> {
    const { state, settings, expiry } = this.#deps;
    const key = `file:${record.id}`;
    const text = JSON.stringify(record);
    try {
      if (!(await state.create(key, text, settings.retentionMs, ownerOf(record)))) return false;
    } catch (error) {
      const found = await soon(state.read(key));
      if (found === undefined) throw error;
      if (found !== text) return false;
    }
    expiry.watch(record.id, record.key);
    if (await this.#handles.settle(record.id, record.principal, expectedUntil)) return true;
    await state.remove(key);
    return false;
  }

  /** Whether a URI is a handle of this gateway's, be there such a file or not. */
  names(uri: string): boolean {
    return uri.includes(':') && readHandle(uri, this.#deps.settings.gatewayId) !== undefined;
  }

  /** The same, also where it is misspelt after the name of the gateway: no server has such a resource either. */
  claims(uri: string): boolean {
    const own = handleOf(this.#deps.settings.gatewayId, '');
    return uri.slice(0, own.length).toLowerCase() === own.toLowerCase();
  }

  /** What a handle, or a file's bare id, stands for to `principal`. */
  async resolve(handle: string, principal: string): Promise<Resolved> {
    const id = readHandle(handle, this.#deps.settings.gatewayId);
    if (id === undefined) return { kind: 'unknown' };
    const record = await this.find(id);
    if (record) return record.principal === principal ? { kind: 'ready', record } : { kind: 'unknown' };
    const lazy = await this.#lazy.use(id);
    if (lazy) return lazy.principal === principal ? this.#resolveLazy(id, lazy) : { kind: 'unknown' };
    const known = await this.#handles.find(id);
    if (known?.principal !== principal) return { kind: 'unknown' };
    const isAwaited = known.awaitedUntil !== undefined && known.awaitedUntil > this.#deps.clock.now();
    return { kind: isAwaited ? 'pending' : 'expired' };
  }

  /**
   * The same, read where it has to be, and looked for in the store: what is told of it then is so.
   * @throws GatewayError what reading it fails with
   */
  async open(handle: string, principal: string, signal: AbortSignal): Promise<Opened> {
    const found = await this.resolve(handle, principal);
    if (found.kind === 'lazy') return { kind: 'ready', record: await found.read(signal) };
    return found.kind === 'ready' && !(await this.#isStored(found.record)) ? { kind: 'expired' } : found;
  }

  /** Objects may go before their records: by a rule of the store's, or by hand. */
  async #isStored({ key, size }: FileRecord): Promise<boolean> {
    return (await this.#deps.objects.head(key))?.size === size;
  }

  async #resolveLazy(id: string, lazy: LazyFile): Promise<Resolved> {
    if (lazy.file !== undefined) {
      const record = await this.find(lazy.file);
      return record && isOf(lazy, record) ? { kind: 'ready', record } : { kind: 'expired' };
    }
    const read = (signal: AbortSignal) => this.#reads.run(id, signal, (shared) => this.#readLazy(id, lazy, shared));
    return { kind: 'lazy', server: lazy.server, read };
  }

  async #readLazy(id: string, resolved: LazyFile, signal: AbortSignal): Promise<FileRecord> {
    // it may have been read since the handle was looked at
    const lazy = (await this.#lazy.use(id)) ?? resolved;
    if (lazy.file !== undefined) {
      const record = await this.find(lazy.file);
      if (!record || !isOf(lazy, record)) throw new GatewayError('file_gone');
      return record;
    }
    const fresh = await this.#deps.readLazy(lazy, signal);
    // a server may name any file; a handle of what it linked to must not become a handle of another server's file
    if (!isOf(lazy, fresh))
      throw new GatewayError('upstream_invalid', { reason: 'it gave a file that is not its own' });
    const first = await this.#lazy.settle(id, lazy, fresh.id);
    const record = first === fresh.id ? undefined : await this.find(first);
    if (!record) return fresh;
    await this.#withdraw(fresh);
    return record;
  }

  /**
   * Takes back a file that nobody has been told of. One that the same bytes have been made into stays, for others know
   * it. Never throws: what cannot be taken back expires.
   */
  async #withdraw(record: FileRecord): Promise<void> {
    if (record.shared) return;
    const { state, log } = this.#deps;
    try {
      // from this step on nobody can find it, and nobody has found it before
      if (!(await state.replace(`file:${record.id}`, JSON.stringify(record), WITHDRAWN, 1))) return;
    } catch (error) {
      log.warn({ id: record.id, err: error }, 'could not take back a file');
      return;
    }
    this.discard(record.key);
  }

  /**
   * Lets the same bytes be found again. That only saves space, so it may fail: a caller told of it would remove the
   * bytes, which the index may point to all the same.
   */
  async #index(digestKey: string, record: FileRecord): Promise<void> {
    const { id } = record;
    const { state, settings, log } = this.#deps;
    try {
      if (await state.create(digestKey, id, settings.retentionMs, ownerOf(record))) return;
      const old = await state.read(digestKey);
      if (old !== undefined) await state.replace(digestKey, old, id, settings.retentionMs);
    } catch (error) {
      log.warn({ id, err: error }, 'could not index a file by its digest');
    }
  }

  /** A record of the same bytes under the same name and type, its life extended. */
  async #livingTwin(
    digestKey: string,
    about: Pick<FileRecord, 'name' | 'mimeType' | 'resource'>,
  ): Promise<FileRecord | undefined> {
    const { state, settings } = this.#deps;
    const id = await state.read(digestKey);
    if (id === undefined) return undefined;
    const twin = await this.find(id);
    if (!twin || twin.name !== about.name || twin.mimeType !== about.mimeType) return undefined;
    if (twin.resource !== about.resource) return undefined;
    // the new object is there for certain, so a store that cannot tell of the old one does no harm
    if (!(await this.#isStored(twin).catch(() => false))) return undefined;
    const shared = await this.#share(twin);
    if (shared) await state.extend(digestKey, settings.retentionMs);
    return shared;
  }

  /** Only a record that still exists, and that is not taken back, may be promised again: each step says so itself. */
  async #share(record: FileRecord): Promise<FileRecord | undefined> {
    const { state, settings } = this.#deps;
    const { id } = record;
    const shared: FileRecord = { ...record, shared: true };
    if (
      !record.shared &&
      !(await state.replace(`file:${id}`, JSON.stringify(record), JSON.stringify(shared), settings.retentionMs)) &&
      !(await this.find(id))?.shared
    ) {
      return undefined;
    }
    return (await this.touch(id)) ? shared : undefined;
  }

  async find(id: string): Promise<FileRecord | undefined> {
    const text = await this.#deps.state.read(`file:${id}`);
    return text === undefined || text === WITHDRAWN ? undefined : (JSON.parse(text) as FileRecord);
  }

  /** Somebody uses the file: it lives for another `retention`. False when it is gone. */
  async touch(id: string): Promise<boolean> {
    const [isAlive] = await Promise.all([
      this.#deps.state.extend(`file:${id}`, this.#deps.settings.retentionMs),
      this.#handles.extend(id),
    ]);
    return isAlive;
  }

  /** The file as SEP-2631 writes it. */
  describe(record: FileRecord): FileValue {
    const { id, name, mimeType, size, digest } = record;
    const uri = handleOf(this.#deps.settings.gatewayId, id);
    return { uri, name, mimeType, size, digest: { algorithm: 'sha-256', value: digest } };
  }

  /**
   * The handle of the file that one of Wharf's own links leads to, whoever it belongs to.
   * @returns undefined for any other address
   */
  handleOfLink(url: string): Promise<string | undefined> {
    return this.#links.handleOf(url, (id) => this.find(id));
  }

  /**
   * The pointer to a file that goes into a message, with a fresh link.
   * @param how `direct`: the link answers 200 by itself, whatever `links.style` says
   * @param as what it is called and typed there, where that is not what its record says
   */
  refer(record: FileRecord, how: 'usual' | 'direct' = 'usual', as?: FileLabel): Promise<FileRef> {
    return this.#links.refer(record, how, as);
  }

  /** Links of the kinds that `refer` gives, to no file. */
  sampleLinks(): Promise<string[]> {
    return this.#links.samples();
  }

  /** A URL of the store's own; only for stores that have `presign`. */
  presign(record: FileRecord, ttlSeconds: number): Promise<string> {
    return this.#links.presign(record, ttlSeconds);
  }

  /** Reads stored bytes back, before or after they have a record. */
  read(key: string, signal: AbortSignal, range?: ByteRange) {
    return this.#deps.objects.get(key, range ? { range, signal } : { signal });
  }

  /** Removes an object that no record points to, while nobody waits for it. What stays is the sweeper's. */
  discard(key: string): void {
    this.#deps.cleanUps.run(key, () => this.#deps.objects.remove(key));
  }

  /** The same for one that is still being stored. */
  discardStored(storing: Promise<Stored>): void {
    const remove = async ({ key }: Stored) => this.discard(key);
    // what failed has left nothing, or is being removed already
    storing.then(remove, () => undefined);
  }
}

function isOf(lazy: LazyFile, record: FileRecord): boolean {
  return record.server === lazy.server && record.principal === lazy.principal;
}

/** Whose keys the state store keeps for a file. */
function ownerOf({ principal, server }: Pick<FileRecord, 'principal' | 'server'>) {
  return { principal, server };
}

/** What has failed is looked into for no longer than this: who waits has waited for a time-out already. */
const LAST_LOOK_MS = 500;

/** Undefined when it takes too long. */
async function soon(reading: Promise<string | undefined>): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), LAST_LOOK_MS);
  });
  // its failure may come when nobody waits any more
  reading.catch(() => undefined);
  return Promise.race([reading, late]).finally(() => clearTimeout(timer));
}
