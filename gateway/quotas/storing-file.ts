import { GatewayError } from '../errors.js';
import type { Kept, Tap, TappedFile } from '../files/tap.js';
import type { Allowance, SetLimit } from '../policy/allowance.js';
import { LEASE_MS } from './leases.js';
import type { Counting } from './unrecorded.js';

/** Bytes for which room is reserved at one time while a file arrives whose size is not known. A shorter file needs none. */
const STEP = 1024 * 1024;

/** What of a file is taken into the account. */
export interface ToTake {
  size: number;
  /** 0: it has been counted as a file already. */
  files: 0 | 1;
  /** What stays reserved for the rest of it. */
  room: number;
  allowance: Allowance;
  /** As `TappedFile.countedAt`. */
  countedAt?: number | undefined;
  /**
   * By which it is known until it has its record, or its progress is noted: the key of its object, and of a part of an upload
   * where it ends. Absent: it counts as it is.
   */
  key?: string | undefined;
}

/** Where a file is counted. */
interface Account {
  now(): number;
  allowance(principal: string): Allowance | Promise<Allowance>;
  lease(principal: string, id: string, of: { room: number; limit: SetLimit }): Promise<void>;
  endLease(principal: string, id: string): Promise<void>;
  take(principal: string, id: string, what: ToTake): Promise<() => Promise<void>>;
  noted(part: Counting): Promise<void>;
}

/** One file on its way into the store. */
export class StoringFile implements Tap {
  readonly #quotas: Account;
  readonly #file: TappedFile & { principal: string };
  #size = 0;
  /** Its first bytes for which there is room: those in the account, and those for which room is reserved. */
  #roomy: number;
  /** When room was reserved last; undefined where none is. */
  #leasedAt: number | undefined;
  #isOver = false;
  /** Its first bytes that are in the account. */
  #counted: number;
  #isFileCounted: boolean;
  /** Resolves once it is taken into the account; undefined before its end. */
  #taking: Promise<(() => Promise<void>) | undefined> | undefined;
  /** What its end has counted, until that is noted. */
  #part: Counting | undefined;

  constructor(quotas: Account, file: TappedFile & { principal: string }) {
    this.#quotas = quotas;
    this.#file = file;
    this.#counted = file.continued ?? 0;
    this.#roomy = this.#counted;
    this.#isFileCounted = file.continued !== undefined;
  }

  take(bytes: Buffer): Promise<void> | undefined {
    this.#size += bytes.length;
    const allowance = this.#quotas.allowance(this.#file.principal);
    return allowance instanceof Promise ? allowance.then((found) => this.#reserve(found)) : this.#reserve(allowance);
  }

  #reserve({ file, storedBytes }: Allowance): Promise<void> | undefined {
    if (file && this.#size > file.value) throw this.#tooLarge(file);
    if (!storedBytes || this.#isOver) return undefined;
    // Of files that arrive at once, those that will not fit are refused at their beginning, where their size is known.
    const whole = Math.max(this.#size, this.#file.expected ?? 0);
    const now = this.#quotas.now();
    const isNew = whole - this.#roomy >= STEP;
    const isOld = this.#leasedAt !== undefined && now - this.#leasedAt >= LEASE_MS / 2;
    if (!isNew && !isOld) return undefined;
    if (isNew) this.#roomy = whole;
    this.#leasedAt = now;
    const room = this.#roomy - this.#counted;
    return this.#quotas.lease(this.#file.principal, this.#file.id, { room, limit: storedBytes });
  }

  async keep(size: number): Promise<Kept> {
    const part = this.#partTo(size);
    const undo = await this.#take(size, { room: this.#leasedAt === undefined ? 0 : this.#roomy - size, key: part.key });
    return { noted: () => this.#quotas.noted(part), undo };
  }

  async end(): Promise<void> {
    const { countedAt, expected, key } = this.#file;
    // the last part stays, also where its process is killed: the next request finds the object, and makes its record
    const isLast = countedAt !== undefined && this.#size === expected;
    this.#part = countedAt === undefined || isLast ? undefined : this.#partTo(this.#size);
    const taking = this.#take(this.#size, { room: 0, key: isLast ? undefined : (this.#part?.key ?? key) });
    this.#taking = taking.catch(() => undefined);
    await taking;
  }

  /**
   * Takes its first bytes into the account, as far as they are not in it.
   * @param room what stays reserved for those after them
   * @param key as `ToTake.key`
   * @returns gives them back
   */
  async #take(upTo: number, { room, key }: { room: number; key?: string | undefined }): Promise<() => Promise<void>> {
    const { principal, id, countedAt } = this.#file;
    const allowance = await this.#quotas.allowance(principal);
    if (allowance.file && this.#size > allowance.file.value) throw this.#tooLarge(allowance.file);
    // a file that comes in several requests counts once, and so does each of its bytes
    const files = this.#isFileCounted ? 0 : 1;
    const giveBack = await this.#quotas.take(principal, id, {
      size: upTo - this.#counted,
      files,
      room,
      allowance,
      countedAt,
      key,
    });
    this.#counted = upTo;
    this.#isFileCounted = true;
    this.#roomy = upTo + room;
    if (room === 0) this.#leasedAt = undefined;
    return giveBack;
  }

  async noted(): Promise<void> {
    const part = this.#part;
    this.#part = undefined;
    if (part) await this.#quotas.noted(part);
  }

  /** What of an upload in several requests has come since it was counted last. */
  #partTo(end: number): Counting {
    const { id, key, principal, countedAt: createdAt = this.#quotas.now() } = this.#file;
    return { id, key: `${key}@${end}`, principal, size: end - this.#counted, createdAt };
  }

  undo(): void {
    this.#part = undefined;
    const taking = this.#taking;
    this.#taking = undefined;
    // what cannot be given back counts until the file would have ended
    taking?.then((giveBack) => giveBack?.()).catch(() => undefined);
  }

  abort(): void {
    this.#isOver = true;
    if (this.#leasedAt === undefined) return;
    this.#leasedAt = undefined;
    // a lease that cannot be given back ends by itself
    this.#quotas.endLease(this.#file.principal, this.#file.id).catch(() => undefined);
  }

  #tooLarge(limit: SetLimit): GatewayError {
    if (this.#file.owner.server === undefined) return tooLargeUpload(limit, this.#size);
    const facts = { limit: 'limits.file', allowed: limit.value, actual: this.#size };
    return new GatewayError('file_too_large', { ...facts, path: 'a file of the answer' });
  }
}

/** The error for a file of more bytes than its caller may upload. @param limit the one that it passes */
export function tooLargeUpload({ value: allowed }: SetLimit, actual: number, limit = 'limits.file'): GatewayError {
  return new GatewayError('upload_too_large', { limit, allowed, actual, reason: 'maxSizeExceeded' });
}
