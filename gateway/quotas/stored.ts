import { GatewayError } from '../errors.js';
import { type CountedFile, type FileAccount, type FileRecord, recordIn, recordKey } from '../files/file.js';
import type { Tap, TappedFile } from '../files/tap.js';
import { isAccepted } from '../policy/accept.js';
import type { Allowance, SetLimit } from '../policy/allowance.js';
import type { Clock } from '../ports/clock.js';
import type { Log } from '../ports/log.js';
import type { StateStore, Tallied, TallyChange } from '../ports/state-store.js';
import { type Allowances, nameFor } from './allowances.js';
import { LEASE_MS, leaseName, leaseOf, triedAs } from './leases.js';
import { secondsOf } from './requests.js';
import { StoringFile, type ToTake, tooLargeUpload } from './storing-file.js';
import { type Counting, type StoredFile, Unrecorded } from './unrecorded.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const HOUR_MS = 60 * 60 * 1000;

/** Spans in which the life of files is counted. A file counts up to one of them longer than it lives. */
const SPANS = 24;

interface StoredQuotasDeps {
  allowances: Allowances;
  state: Pick<StateStore, 'read' | 'tally'>;
  clock: Clock;
  log: Log;
  /** How long a file lives after its last use, milliseconds. */
  retentionMs: number;
}

type Quota = 'filesPerDay' | 'bytesPerDay' | 'storedBytes';

/**
 * What each caller may store. Room for a file is reserved while its bytes arrive and taken before the file is known, in
 * steps that are atomic over all replicas: so the files of one caller never pass its quota together.
 */
export class StoredQuotas implements FileAccount {
  readonly #deps: StoredQuotasDeps;
  readonly #spanMs: number;
  readonly #unrecorded: Unrecorded;

  constructor(deps: StoredQuotasDeps) {
    this.#deps = deps;
    this.#spanMs = Math.max(1000, Math.ceil(deps.retentionMs / SPANS));
    this.#unrecorded = new Unrecorded({
      ...deps,
      tally: async (principal, changes, limit) =>
        (await this.allowance(principal)).storedBytes &&
        this.#tally('storedBytes', principal, changes, limit === undefined ? {} : { limit }),
      counted: ({ createdAt, size }) => this.#lasting(createdAt, size),
    });
  }

  /** Counts a file on its way into the store. */
  open(file: TappedFile): Tap | undefined {
    const { principal } = file.owner;
    if (!this.#deps.allowances.isOn) return undefined;
    return principal === undefined ? undefined : new StoringFile(this, { ...file, principal });
  }

  allowance(principal: string): Allowance | Promise<Allowance> {
    return this.#deps.allowances.ofPrincipal(principal);
  }

  async fits(principal: string, size: number): Promise<void> {
    const { file } = await this.allowance(principal);
    if (file && size > file.value) throw tooLargeUpload(file, size);
  }

  async canFit(principal: string, size: number): Promise<void> {
    await this.fits(principal, size);
    const allowance = await this.allowance(principal);
    for (const name of ['storedBytes', 'bytesPerDay'] as const) {
      const limit = allowance[name];
      if (limit && size > limit.value) throw tooLargeUpload(limit, size, `limits.${name}`);
    }
  }

  async admits(principal: string, mimeType: string): Promise<void> {
    const { accept = [] } = await this.allowance(principal);
    const refusing = accept.find(({ types }) => !isAccepted(types, mimeType));
    if (!refusing) return;
    const facts = { reason: 'mimeTypeNotAccepted', actual: mimeType, accept: refusing.types };
    throw new GatewayError('upload_type_refused', { ...facts, limit: 'limits.accept', source: refusing.source });
  }

  now(): number {
    return this.#deps.clock.now();
  }

  /**
   * Reserves room for a file, instead of what was reserved for it before: another try of the same upload, or a process
   * that has crashed, holds none beside it.
   * @throws GatewayError `storage_full`; nothing is then reserved for it
   */
  async lease(principal: string, id: string, { room, limit }: { room: number; limit: SetLimit }): Promise<void> {
    const within = { limit: limit.value, leaving: [leaseName(id)] };
    refuseFull('storedBytes', limit, await this.#tally('storedBytes', principal, leaseOf(id, room), within));
  }

  async endLease(principal: string, id: string): Promise<void> {
    await this.#tally('storedBytes', principal, leaseOf(id, 0));
  }

  /**
   * Takes a whole file into the account, or what one request has added to it.
   * @returns gives it back, as a whole; does not fail
   * @throws GatewayError `storage_full`, `day_quota_used`, or the state store's error
   */
  async take(
    principal: string,
    id: string,
    { size, files, room, allowance, countedAt, key }: ToTake,
  ): Promise<() => Promise<void>> {
    const now = this.#deps.clock.now();
    const hour = hourOf(now);
    const stored =
      key === undefined
        ? this.#lasting(countedAt ?? now, size)
        : { part: leaseName(triedAs(key)), by: size, ttlMs: LEASE_MS };
    const steps = [
      { name: 'bytesPerDay', change: { part: hour, by: size, ttlMs: DAY_MS } },
      { name: 'filesPerDay', change: { part: hour, by: files, ttlMs: DAY_MS } },
      { name: 'storedBytes', change: stored, room },
    ] as const;
    const done: (typeof steps)[number][] = [];
    const giveBack = async () => {
      await Promise.all(done.map(({ name, change }) => this.#giveBack(name, principal, change)));
    };
    for (const step of steps) {
      const limit = allowance[step.name];
      if (!limit) continue;
      const changes = 'room' in step ? [...leaseOf(id, step.room), step.change] : [step.change];
      const leaving = 'room' in step ? [leaseName(id)] : [];
      let tallied: Tallied;
      try {
        tallied = await this.#tally(step.name, principal, changes, { limit: limit.value, leaving });
      } catch (error) {
        // this step may have happened, so only those before it are given back, and leases; the caller need not wait for that
        if (key !== undefined && 'room' in step) done.push(step);
        void giveBack();
        throw error;
      }
      if (tallied.isWithin) done.push(step);
      else {
        // what was counted for a file that is refused was not used
        await giveBack();
        refuseFull(step.name, limit, tallied);
      }
    }
    if (key === undefined || !allowance.storedBytes) return giveBack;
    const file = { id, key, principal, size };
    this.#unrecorded.add(file);
    return async () => {
      this.#unrecorded.forget(key);
      await giveBack();
    };
  }

  /** What cannot be given back counts until the file would have ended. */
  async #giveBack(name: Quota, principal: string, { part, by }: TallyChange): Promise<void> {
    try {
      await this.#tally(name, principal, [{ part, by: -by, ttlMs: 1 }]);
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'what a caller has not stored could not be given back');
    }
  }

  async holds(file: FileRecord): Promise<void> {
    if (!this.#isToCount(file) || this.#unrecorded.holds(file)) return;
    const { principal, key, size: room } = file;
    const { storedBytes: limit } = await this.allowance(principal);
    if (!limit) return;
    await this.lease(principal, triedAs(key), { room, limit });
    this.#unrecorded.add(file);
  }

  /** A part of an upload in several requests is noted. Does not fail. */
  async noted(part: Counting): Promise<void> {
    await this.#unrecorded.recorded(part);
  }

  async recorded(file: FileRecord): Promise<void> {
    if (this.#isToCount(file)) await this.#unrecorded.recorded(file);
  }

  unsure(file: FileRecord): void {
    if (this.#isToCount(file)) this.#unrecorded.unsure(file);
  }

  async unrecorded(file: Pick<StoredFile, 'key' | 'principal'>): Promise<void> {
    try {
      if (this.#deps.allowances.isOn) await this.#unrecorded.gone(file);
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'the bytes of a file that is not there count until their lease ends');
    }
  }

  /** Each part of an upload in several requests counts as it is kept, so its record adds nothing. */
  #isToCount({ size, upload }: FileRecord): boolean {
    return this.#deps.allowances.isOn && size > 0 && upload === undefined;
  }

  /** What cannot be given back counts until the file would have ended. */
  async released({ principal, size, createdAt, countedAt = createdAt, key }: CountedFile): Promise<void> {
    await this.#unrecorded.settled(key);
    await this.#whereCounted('storedBytes', principal, [{ part: this.#spanOf(countedAt), by: -size, ttlMs: 1 }]);
  }

  async collapsed(file: FileRecord): Promise<void> {
    const { principal, size, createdAt } = file;
    const back = (by: number) => [{ part: hourOf(createdAt), by, ttlMs: 1 }];
    await this.unrecorded(file);
    await this.#whereCounted('bytesPerDay', principal, back(-size));
    await this.#whereCounted('filesPerDay', principal, back(-1));
  }

  async used(id: string): Promise<void> {
    if (!this.#deps.allowances.isOn) return;
    try {
      const record = recordIn(await this.#deps.state.read(recordKey(id)));
      if (!record) return;
      const { createdAt, countedAt = createdAt } = record;
      const longer = [{ part: this.#spanOf(countedAt), by: 0, ttlMs: this.#lifeMs }];
      await this.#whereCounted('storedBytes', record.principal, longer);
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'the stored bytes of a caller could not be counted for longer');
    }
  }

  async #whereCounted(name: Quota, principal: string, changes: readonly TallyChange[]): Promise<void> {
    try {
      const limits = await this.allowance(principal);
      if (limits[name]) await this.#tally(name, principal, changes);
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'the stored bytes of a caller could not be corrected');
    }
  }

  /** A span's files end at most one span apart. */
  get #lifeMs(): number {
    return this.#deps.retentionMs + this.#spanMs;
  }

  #lasting(at: number, by: number): TallyChange {
    return { part: this.#spanOf(at), by, ttlMs: this.#lifeMs };
  }

  #spanOf(at: number): string {
    return `span:${Math.floor(at / this.#spanMs)}`;
  }

  #tally(
    name: Quota,
    principal: string,
    changes: readonly TallyChange[],
    { limit, leaving }: { limit?: number; leaving?: readonly string[] } = {},
  ): Promise<Tallied> {
    return this.#deps.state.tally(`quota:${name}:${nameFor(principal)}`, changes, limit, leaving);
  }
}

function hourOf(at: number): string {
  return String(Math.floor(at / HOUR_MS));
}

/** @throws GatewayError */
function refuseFull(name: Quota, { value: allowed }: SetLimit, { isWithin, total: actual, fitsInMs }: Tallied): void {
  if (isWithin) return;
  const again = fitsInMs === undefined ? {} : { retryAfter: secondsOf(fitsInMs) };
  const facts = { limit: `limits.${name}`, allowed, actual, ...again };
  throw name === 'storedBytes'
    ? new GatewayError('storage_full', facts)
    : new GatewayError('day_quota_used', { ...facts, what: name === 'filesPerDay' ? 'files' : 'bytes' });
}
