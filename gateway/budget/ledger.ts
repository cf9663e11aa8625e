import type { ErrorFacts } from '../errors.js';
import type { Owner, OwnerSide, Sharing } from '../ports/owner.js';

export type { Sharing } from '../ports/owner.js';

/** For what belongs to one owner anyway, and for tests: each may take all. */
export const UNSHARED: Sharing = { ratio: 1, principals: false, servers: false };

/**
 * The part of a server's share that one principal may take where there are several: what one takes through one server
 * must not be all that this server may have.
 */
const OF_A_SERVERS_SHARE = 0.5;

export interface LedgerOptions {
  /** What the config calls the total, for errors: `limits.held`. */
  limit: string;
  /** The most of it at one time, whole process. */
  total: number;
  sharing: Sharing;
  /** What a single honest use may need: no share is smaller. Default 1. */
  unit?: number;
}

/** Why something cannot be counted any more. */
export interface Refusal {
  /** What is full: the whole process, or the share of one side of the owner. */
  full: 'process' | OwnerSide;
  /** Config name of the total. */
  limit: string;
  /** The most there may be: the total, or a share of it. */
  allowed: number;
  /** What there would be. */
  actual: number;
  /** `limits.share`, where it is a share that is full. */
  share?: number;
  /** Whose share is full, where it is a server's. A principal is told that it is its own. */
  server?: string;
}

/**
 * Counts one thing (bytes, processes, connections, sessions, keys) against a total for the whole process, and per
 * owner against a share of it. Every step takes the same time however many owners there are, and an owner that has
 * nothing takes no memory.
 */
export class Ledger {
  readonly limit: string;
  readonly total: number;
  readonly sharing: Sharing;
  readonly #unit: number;
  readonly #owners = { principal: new Map<string, number>(), server: new Map<string, number>() };
  /** What a principal has of a server, where both share. */
  readonly #pairs = new Map<string, number>();
  #used = 0;

  constructor({ limit, total, sharing, unit = 1 }: LedgerOptions) {
    this.limit = limit;
    this.total = total;
    this.sharing = sharing;
    this.#unit = unit;
  }

  /** Counted now, over all owners. */
  get used(): number {
    return this.#used;
  }

  /** The most that one principal, or one server, may have. */
  allowed(side: OwnerSide): number {
    const { ratio, principals, servers } = this.sharing;
    const isShared = side === 'principal' ? principals : servers;
    return isShared ? Math.min(this.total, Math.max(this.#unit, Math.floor(this.total * ratio))) : this.total;
  }

  /** What one principal, or one server, has now. */
  usedBy(side: OwnerSide, name: string): number {
    return this.#owners[side].get(name) ?? 0;
  }

  /** The most that any one principal, or any one server, has now. Looks at all of them: for metrics. */
  largest(side: OwnerSide): number {
    let most = 0;
    for (const used of this.#owners[side].values()) if (used > most) most = used;
    return most;
  }

  /** What would keep `amount` more from being counted; undefined when nothing does. */
  refusal(amount: number, owner: Owner): Refusal | undefined {
    // a full share is told first: it is what its owner can do something about
    return (
      this.#shareRefusal('principal', amount, owner) ??
      this.#pairRefusal(amount, owner) ??
      this.#shareRefusal('server', amount, owner) ??
      this.#totalRefusal(amount)
    );
  }

  /** Counts `amount` if there is room for it; otherwise says why there is none. */
  take(amount: number, owner: Owner): Refusal | undefined {
    const refusal = this.refusal(amount, owner);
    if (!refusal) this.#count(amount, owner);
    return refusal;
  }

  /** Counts `amount`, which is there already, and says which limit that passes, if it does. */
  add(amount: number, owner: Owner): Refusal | undefined {
    const refusal = this.refusal(amount, owner);
    this.#count(amount, owner);
    return refusal;
  }

  /** `amount` is no longer there. */
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
    // where there is nothing to share it is the total that is full
    if (actual <= allowed || allowed === this.total) return undefined;
    const refusal: Refusal = { full: side, limit: this.limit, allowed, actual, share: this.sharing.ratio };
    return side === 'server' ? { ...refusal, server: name } : refusal;
  }

  /** Told as the principal's share, which it is. */
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
    // neither can hold a NUL: one is a name in the config or a header, the other a name in the config
    return principals && servers && principal !== undefined && server !== undefined
      ? `${principal}\0${server}`
      : undefined;
  }

  #totalRefusal(amount: number): Refusal | undefined {
    const actual = this.#used + amount;
    return actual <= this.total ? undefined : { full: 'process', limit: this.limit, allowed: this.total, actual };
  }
}

/** What an error says of a refusal. */
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

/** Characters up to which a value of the state store counts for one key; most have a few hundred. */
const USUAL_LENGTH = 2048;

/** For how many keys of the state store one with this value counts: what peers may write must be bounded in bytes too. */
export function keysFor(value: string): number {
  return Math.max(1, Math.ceil(value.length / USUAL_LENGTH));
}
