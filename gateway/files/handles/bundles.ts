import { keptIn, type Shape } from '../../errors/kept.js';
import { GatewayError, SOON_S } from '../../errors.js';
import type { Clock } from '../../ports/clock.js';
import type { Owner } from '../../ports/owner.js';
import type { StateStore } from '../../ports/state-store.js';
import type { FileRecord } from '../file.js';
import { handleOf, readBundle } from './handle.js';

/** Several files that belong to one argument, as the state store keeps them (JSON under `bundle:<id>`). */
interface Bundle {
  principal: string;
  /** Only an open one takes files; only a complete one stands for its files. */
  status: 'open' | 'complete' | 'cancelled';
  /** Ids of its files: as their places were made, and in the chosen order once it is complete. */
  files: readonly string[];
  /** Places that were ever made, where some were given up. */
  made?: number;
  /** When the right to upload them ends, milliseconds since the Unix epoch. */
  until: number;
}

const BUNDLE: Shape<Bundle> = {
  principal: 'text',
  status: 'text',
  files: 'list',
  made: 'number?',
  until: 'number',
};

/** What the handle of a bundle means to one principal. */
type ResolvedBundle =
  | { kind: 'ready'; handles: string[] }
  | { kind: 'pending' }
  | { kind: 'expired' }
  | { kind: 'unknown' };

export interface BundlesDeps {
  state: StateStore;
  clock: Clock;
  settings: { gatewayId: string; retentionMs: number };
  find: (id: string) => Promise<FileRecord | undefined>;
  /** Called for each place that a complete bundle does without: what is under way there will not be used. */
  leftOut?: ((place: Pick<FileRecord, 'id' | 'principal'>) => void) | undefined;
}

/** After its end a bundle is remembered like a ticket, so that its holder gets "expired" and not "unknown". */
const REMEMBERED_MS = 60 * 60 * 1000;

/** Places that may be made for each file that there may be: each is remembered, also when it is given up. */
const MOST_PLACES = 20;

/** Steps of one change, where several requests change a bundle at once. */
const MOST_TRIES = 50;

/**
 * Bundles of files, on every replica. Each change is one comparison and write of one key: of several that would complete
 * or cancel a bundle, exactly one does.
 */
export class Bundles {
  readonly #deps: BundlesDeps;

  constructor(deps: BundlesDeps) {
    this.#deps = deps;
  }

  /** @returns the handle of a new bundle */
  async begin(id: string, owner: Owner & { principal: string }, until: number): Promise<string> {
    const { state, clock, settings } = this.#deps;
    const bundle: Bundle = { principal: owner.principal, status: 'open', files: [], until };
    await state.create(keyOf(id), JSON.stringify(bundle), until - clock.now() + REMEMBERED_MS, owner);
    return handleOf(settings.gatewayId, id);
  }

  async find(id: string): Promise<Bundle | undefined> {
    const text = await this.#deps.state.read(keyOf(id));
    return text === undefined ? undefined : keptIn(text, BUNDLE);
  }

  /**
   * Makes a place for one more file.
   * @param isFree whether a place may be given to another file, once there are as many as there may be
   * @returns false when it is full, or closed, or places were made and given up too often
   */
  async add(id: string, file: string, most: number, isFree: (file: string) => Promise<boolean>): Promise<boolean> {
    const changed = await this.#change(id, async (bundle) => {
      const { files } = bundle;
      const made = (bundle.made ?? files.length) + 1;
      if (made > MOST_PLACES * most) return undefined;
      if (files.length < most) return { ...bundle, made, files: [...files, file] };
      for (const one of files)
        if (await isFree(one)) return { ...bundle, made, files: [...files.filter((other) => other !== one), file] };
      return undefined;
    });
    return changed !== undefined;
  }

  /** @returns false when it is closed */
  async remove(id: string, file: string): Promise<boolean> {
    const changed = await this.#change(id, async (bundle) => ({
      ...bundle,
      files: bundle.files.filter((other) => other !== file),
    }));
    return changed !== undefined;
  }

  /**
   * Completes it with these files. @param choose sees it as it is
   * @returns what it was before; undefined when another request has closed it
   */
  async complete(id: string, choose: (bundle: Bundle) => Promise<readonly string[]>): Promise<Bundle | undefined> {
    let chosen: readonly string[] = [];
    const before = await this.#change(id, async (bundle) => {
      chosen = await choose(bundle);
      return { ...bundle, status: 'complete', files: chosen };
    });
    const { files = [], principal = '' } = before ?? {};
    for (const file of files) if (!chosen.includes(file)) this.#deps.leftOut?.({ id: file, principal });
    return before;
  }

  /** @returns what it was before; undefined when it is closed already */
  cancel(id: string): Promise<Bundle | undefined> {
    return this.#change(id, async (bundle) => ({ ...bundle, status: 'cancelled', files: [] }));
  }

  /** The files of a complete bundle, in order; undefined before, and once one of them has expired. */
  async filesOf(id: string): Promise<FileRecord[] | undefined> {
    const bundle = await this.find(id);
    if (bundle?.status !== 'complete') return undefined;
    const records: FileRecord[] = [];
    for (const file of bundle.files) {
      const record = await this.#deps.find(file);
      if (!record) return undefined;
      records.push(record);
    }
    return records;
  }

  /** True for the handle of a bundle of this gateway, whether or not it exists. */
  names(handle: string): boolean {
    return readBundle(handle, this.#deps.settings.gatewayId) !== undefined;
  }

  async resolve(handle: string, principal: string): Promise<ResolvedBundle> {
    const { state, clock, settings } = this.#deps;
    const id = readBundle(handle, settings.gatewayId);
    const bundle = id === undefined ? undefined : await this.find(id);
    if (id === undefined || bundle?.principal !== principal) return { kind: 'unknown' };
    if (bundle.status === 'open') return { kind: bundle.until > clock.now() ? 'pending' : 'expired' };
    if (bundle.status === 'cancelled') return { kind: 'expired' };
    await state.extend(keyOf(id), settings.retentionMs);
    return { kind: 'ready', handles: bundle.files.map((file) => handleOf(settings.gatewayId, file)) };
  }

  /** Changes an open bundle. @returns what it was before; undefined when it was not changed */
  async #change(id: string, change: (bundle: Bundle) => Promise<Bundle | undefined>): Promise<Bundle | undefined> {
    const { state, clock, settings } = this.#deps;
    const key = keyOf(id);
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const text = await state.read(key);
      const bundle = text === undefined ? undefined : keptIn(text, BUNDLE);
      if (text === undefined || bundle?.status !== 'open') return undefined;
      const next = await change(bundle);
      if (!next) return undefined;
      const open = Math.max(0, next.until - clock.now());
      const ttlMs = (next.status === 'complete' ? Math.max(open, settings.retentionMs) : open) + REMEMBERED_MS;
      if (await this.#replace(key, text, JSON.stringify(next), ttlMs)) return bundle;
    }
    throw new GatewayError('upload_busy', { reason: 'tooManyTries', allowed: MOST_TRIES, retryAfter: SOON_S });
  }

  async #replace(key: string, before: string, text: string, ttlMs: number): Promise<boolean> {
    const { state } = this.#deps;
    try {
      return await state.replace(key, before, text, ttlMs);
    } catch (error) {
      // the step may have happened
      if ((await state.read(key).catch(() => undefined)) === text) return true;
      throw error;
    }
  }
}

function keyOf(id: string): string {
  return `bundle:${id}`;
}
