import { RecentMap } from '../../budget/collections/recent-map.js';
import type { Ledger } from '../../budget/ledger.js';
import type { Stopwatch } from '../../ports/clock.js';

/** Cost of an entry besides its bytes: its key, and what holds it. */
const ENTRY_BYTES = 600;

/** After so long without use an entry is dropped: its tool, or its kind of client, may be gone. */
const UNUSED_MS = 5 * 60 * 1000;

/** A tool as the clients of one kind see it. */
export interface WrittenTool {
  /** Its text; undefined: as the server has written it. */
  readonly text: Buffer | undefined;
  /** Other clients see it otherwise. */
  readonly isPersonal: boolean;
}

/** Whose a tool is, and for whom it was written first. */
interface WrittenFor {
  readonly principal: string;
  readonly server: string;
}

interface Kept extends WrittenTool {
  readonly owner: WrittenFor;
  readonly bytes: number;
  usedAt: number;
}

interface Oldest {
  readonly key: string;
  readonly value: Kept;
}

/**
 * Tools as clients see them, which need not be written again for the next client of the same kind: where a third of the
 * tools take files, showing and writing them was four fifths of what a list cost.
 *
 * They are counted together with what is known of the tools, for which they make room. The one that was not used for the
 * longest time goes first.
 */
export class WrittenTools {
  readonly #ledger: Ledger;
  readonly #clock: Stopwatch;
  readonly #byServer = new Map<string, RecentMap<string, Kept>>();

  constructor(ledger: Ledger, clock: Stopwatch) {
    this.#ledger = ledger;
    this.#clock = clock;
  }

  /** @param key of the tool's text, and of all that decides how it is written */
  find(server: string, key: string): WrittenTool | undefined {
    const kept = this.#byServer.get(server)?.use(key);
    if (kept) kept.usedAt = this.#clock.ticks();
    return kept;
  }

  /** Keeps a tool if its caller's share has room for it. Never takes the room of what is known about tools. */
  keep(owner: WrittenFor, key: string, { text, isPersonal }: WrittenTool): void {
    const { server } = owner;
    this.#dropUnused(server);
    this.#drop(server, key);
    const bytes = ENTRY_BYTES + (text?.length ?? 0);
    for (let refusal = this.#ledger.refusal(bytes, owner); refusal; refusal = this.#ledger.refusal(bytes, owner)) {
      if (refusal.full === 'principal' || !this.makeRoom(refusal.full === 'server' ? server : undefined)) return;
    }
    this.#ledger.add(bytes, owner);
    const all = this.#byServer.get(server) ?? new RecentMap();
    this.#byServer.set(server, all);
    // a short buffer is a part of a longer one, which it would keep
    const own = text && Buffer.allocUnsafeSlow(text.length);
    text?.copy(own as Buffer);
    all.set(key, { text: own, isPersonal, owner, bytes, usedAt: this.#clock.ticks() });
  }

  /** Drops the entry that was not used for the longest time. @param server only its entries @returns false without any */
  makeRoom(server?: string): boolean {
    let first: Oldest | undefined;
    for (const one of server === undefined ? this.#byServer.keys() : [server]) {
      const oldest = this.#oldest(one);
      if (oldest && (!first || oldest.value.usedAt < first.value.usedAt)) first = oldest;
    }
    if (first) this.#drop(first.value.owner.server, first.key);
    return first !== undefined;
  }

  /** Drops all of a server. */
  forgetServer(server: string): void {
    for (let one = this.#oldest(server); one; one = this.#oldest(server)) this.#drop(server, one.key);
  }

  #dropUnused(server: string): void {
    const until = this.#clock.ticks() - UNUSED_MS;
    for (let one = this.#oldest(server); one && one.value.usedAt <= until; one = this.#oldest(server))
      this.#drop(server, one.key);
  }

  #oldest(server: string): Oldest | undefined {
    return this.#byServer.get(server)?.oldest;
  }

  #drop(server: string, key: string): void {
    const all = this.#byServer.get(server);
    const kept = all?.peek(key);
    if (!all || !kept) return;
    all.delete(key);
    if (all.size === 0) this.#byServer.delete(server);
    this.#ledger.give(kept.bytes, kept.owner);
  }
}
