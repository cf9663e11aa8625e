import type { ErrorFacts } from '../errors.js';
import type { Owner, OwnerSide, Sharing } from '../ports/owner.js';

/** For totals that belong to one owner anyway, and for tests: each owner may take everything. */
export const UNSHARED: Sharing = { ratio: 1, principals: false, servers: false };

/**
 * The part of a server's share that one principal may take when there are several: one principal must not be able to
 * use up a server's share.
 */
const OF_A_SERVERS_SHARE = 0.5;

interface LedgerOptions {
  /** The total's name in the config, for errors: `limits.held`. */
  limit: string;
  /** Most in use at one time, in the whole process. */
  total: number;
  sharing: Sharing;
  /** What a single honest use may need: no share is smaller. Default 1. */
  unit?: number;
}

/** Why an amount cannot be counted. */
export interface Refusal {
  /** What is full: the process's total, or the share of one side of the owner. */
  full: 'process' | OwnerSide;
  /** Config name of the total. */
  limit: string;
  /** The limit: the total, or a share of it. */
  allowed: number;
  /** What the count would have been. */
  actual: number;
  /** `limits.share`, when a share is full. */
  share?: number;
  /** The server whose share is full. A principal is only told about its own share. */
  server?: string;
}

/**
 * Counts one resource (bytes, processes, connections, sessions, keys) against a total for the process, and against a
 * share of it per owner. Every step takes constant time however many owners there are, and an owner without any use
 * takes no memory.
 */
export class Ledger {
  readonly limit: string;
  readonly sharing: Sharing;
  #total: number;
  #unit: number;
  readonly #owners = { principal: new Map<string, number>(), server: new Map<string, number>() };
  /** Use by a principal of one server, when both share. */
  readonly #pairs = new Map<string, number>();
  #used = 0;

  constructor({ limit, total, sharing, unit = 1 }: LedgerOptions) {
    this.limit = limit;
    this.#total = total;
    this.sharing = sharing;
    this.#unit = unit;
  }

  get total(): number {
    return this.#total;
  }

  /** Another total counts from now on. What is in use stays, even if it is more. */
  resize({ total, unit = 1 }: Pick<LedgerOptions, 'total' | 'unit'>): void {
    this.#total = total;
    this.#unit = unit;
  }

  /** In use now, over all owners. */
  get used(): number {
    return this.#used;
  }

  /** The limit for one principal, or for one server. */
  allowed(side: OwnerSide): number {
    const { ratio, principals, servers } = this.sharing;
    const isShared = side === 'principal' ? principals : servers;
    return isShared ? Math.min(this.total, Math.max(this.#unit, Math.floor(this.total * ratio))) : this.total;
  }

  /** In use now by one principal, or by one server. */
  usedBy(side: OwnerSide, name: string): number {
    return this.#owners[side].get(name) ?? 0;
  }

  /** The largest use by one principal, or by one server. Reads all of them: for metrics. */
  largest(side: OwnerSide): number {
    let most = 0;
    for (const used of this.#owners[side].values()) if (used > most) most = used;
    return most;
  }

  /** Why `amount` more cannot be counted; undefined when it can. */
  refusal(amount: number, owner: Owner): Refusal | undefined {
    // report a full share first: its owner can do something about it
    return (
      this.#shareRefusal('principal', amount, owner) ??
      this.#pairRefusal(amount, owner) ??
      this.#shareRefusal('server', amount, owner) ??
      this.#totalRefusal(amount)
    );
  }

  /** Counts `amount` if there is room; otherwise returns why there is not. */
  take(amount: number, owner: Owner): Refusal | undefined {
    const refusal = this.refusal(amount, owner);
    if (!refusal) this.#count(amount, owner);
    return refusal;
  }

  /** Counts `amount`, which is in use already; returns the limit that this passes, if any. */
  add(amount: number, owner: Owner): Refusal | undefined {
    const refusal = this.refusal(amount, owner);
    this.#count(amount, owner);
    return refusal;
  }

  /** `amount` is free again. */
  give(amount: number, owner: Owner): void {
    this.#count(-amount, owner);
  }

  #count(amount: number, owner: Owner): void {
    const { principal, server } = owner;
    const pair = this.#pairOf(owner);
    this.#used += amount;
    if (pair !== undefined) count(this.#pairs, pair, amount);
    if (principal !== undefined) count(this.#owners.principal, principal, amount);
    if (server !== undefined) count(this.#owners.server, server, amount);
  }

  #shareRefusal(side: OwnerSide, amount: number, owner: Owner): Refusal | undefined {
    const name = owner[side];
    if (name === undefined) return undefined;
    const actual = this.usedBy(side, name) + amount;
    const allowed = this.allowed(side);
    // without sharing it is the total that is full
    if (actual <= allowed || allowed === this.total) return undefined;
    const refusal: Refusal = { full: side, limit: this.limit, allowed, actual, share: this.sharing.ratio };
    return side === 'server' ? { ...refusal, server: name } : refusal;
  }

  /** Reported as the principal's share, since it is part of that. */
  #pairRefusal(amount: number, owner: Owner): Refusal | undefined {
    const pair = this.#pairOf(owner);
    if (pair === undefined) return undefined;
    const actual = (this.#pairs.get(pair) ?? 0) + amount;
    const allowed = Math.min(this.total, Math.max(this.#unit, Math.floor(this.allowed('server') * OF_A_SERVERS_SHARE)));
    if (actual <= allowed || allowed === this.total) return undefined;
    return { full: 'principal', limit: this.limit, allowed, actual, share: this.sharing.ratio };
  }

  #pairOf({ principal, server }: Owner): string | undefined {
    const { principals, servers } = this.sharing;
    // neither can contain a NUL: one is a name in the config or a header, the other a name in the config
    return principals && servers && principal !== undefined && server !== undefined
      ? `${principal}\0${server}`
      : undefined;
  }

  #totalRefusal(amount: number): Refusal | undefined {
    const actual = this.#used + amount;
    return actual <= this.total ? undefined : { full: 'process', limit: this.limit, allowed: this.total, actual };
  }
}

/** The facts of a refusal for its error. */
export function refusalFacts({ full, limit, allowed, actual, share, server }: Refusal): ErrorFacts {
  return {
    full,
    limit,
    allowed,
    actual,
    ...(share !== undefined && { share }),
    ...(server !== undefined && { server }),
  };
}

function count(owners: Map<string, number>, name: string, amount: number): void {
  const used = (owners.get(name) ?? 0) + amount;
  if (used === 0) owners.delete(name);
  else owners.set(name, used);
}

/** Most parts of one tally of the state store: each is an upload under way, or a span of time. */
export const MOST_PARTS = 10_000;

/** Length up to which a value of the state store counts as one key; most have a few hundred characters. */
const USUAL_LENGTH = 2048;

/**
 * Number of keys of the state store that one with this value counts as: what peers may write must be bounded in bytes
 * too.
 */
export function keysFor(value: string): number {
  return Math.max(1, Math.ceil(value.length / USUAL_LENGTH));
}
