import type { Owner } from '../ports/owner.js';
import { FairLine } from './collections/line.js';

/**
 * All peers share one event loop: input from one peer must not keep it for long, however large the input is. Such work
 * is cut into steps of a few milliseconds. Between two steps it asks whether the turn has lasted long enough.
 */
const TURN_MS = 20;

/**
 * What each caller may take of a turn while others have work too, and each of its servers while others of them have. If a caller
 * had a turn of 20 ms, a message that comes in pieces would wait that long for each piece: beside 16 results of small JSON, a
 * call of 1 KB took 200 times its time, and an answer of 2 MB 20 times.
 */
const SHARE_MS = 1;

/** So long after its last step a caller still counts as one with work: it may be waiting for its server. */
const RECENT_MS = 100;

/** A step may take longer than a share, which its caller makes up for in later turns. This is the most. */
const MOST_BEHIND_MS = 100;

/** Turns after which no caller is behind for what it has taken before them. */
const FORGOTTEN_TURNS = MOST_BEHIND_MS / SHARE_MS;

/** Most callers whose shares are counted at one time: with made-up tokens each request may be of a new one. */
const MOST_ACCOUNTS = 5000;

/** Most work that goes on in one turn: of work that is short, one in each turn would leave the rest waiting for long. */
const MOST_TOGETHER = 32;

/** Those among which the time is shared: callers, or the servers of one caller. */
class Sharers<Key> {
  #accounts = new Map<Key, Account>();
  /** Those of the turns before: a map that is dropped as a whole costs less than one whose entries come and go. */
  #older = new Map<Key, Account>();
  #since = turns;
  /** The one that was used last, when that was, and when another one was used. */
  #latest: Account | undefined;
  #latestAt = Number.NEGATIVE_INFINITY;
  #otherAt = Number.NEGATIVE_INFINITY;

  of(key: Key, parent?: Account): Account {
    if (turns - this.#since > FORGOTTEN_TURNS || this.#accounts.size >= MOST_ACCOUNTS) {
      this.#older = this.#accounts;
      this.#accounts = new Map();
      this.#since = turns;
    }
    const known = this.#accounts.get(key);
    if (known) return known;
    const account = this.#older.get(key) ?? new Account(this as Sharers<unknown>, parent);
    this.#accounts.set(key, account);
    return account;
  }

  use(account: Account, now: number): void {
    if (account !== this.#latest) {
      this.#otherAt = this.#latestAt;
      this.#latest = account;
    }
    this.#latestAt = now;
  }

  /** True while others than this one have work too. */
  areSeveral(account: Account, now: number): boolean {
    return now - (account === this.#latest ? this.#otherAt : this.#latestAt) < RECENT_MS;
  }
}

/** What one of them has taken. */
class Account {
  readonly sharers: Sharers<unknown>;
  readonly parent: Account | undefined;
  /** Of a caller: its servers. */
  #servers: Sharers<string | undefined> | undefined;
  /** Beyond its shares of the turns before. */
  #takenMs = 0;
  /** The turn up to which its shares are counted. */
  #turn = turns;

  constructor(sharers: Sharers<unknown>, parent: Account | undefined) {
    this.sharers = sharers;
    this.parent = parent;
  }

  serverOf(name: string | undefined): Account {
    this.#servers ??= new Sharers();
    return this.#servers.of(name, this);
  }

  begin(now: number): void {
    this.sharers.use(this, now);
    this.parent?.begin(now);
  }

  take(ms: number): void {
    this.#count();
    this.#takenMs = Math.min(MOST_BEHIND_MS, this.#takenMs + ms);
    this.parent?.take(ms);
  }

  hasHadShare(now: number): boolean {
    this.#count();
    const isEnough = this.#takenMs >= SHARE_MS && this.sharers.areSeveral(this, now);
    return isEnough || this.parent?.hasHadShare(now) === true;
  }

  #count(): void {
    if (this.#turn === turns) return;
    this.#takenMs = Math.max(0, this.#takenMs - (turns - this.#turn) * SHARE_MS);
    this.#turn = turns;
  }
}

/** When work began in this turn of the event loop; 0 before. */
let begunAt = 0;
/** When the last one was over. */
let idleSince = 0;
/** Turns so far. Time in which nothing waited counts as turns too: each caller could have had its share of them. */
let turns = 0;

/** By principal. Work whose caller is not known is one caller's. */
const callers = new Sharers<string | undefined>();

/** Whose step it is, and since when. */
let current: Account | undefined;
let currentSince = 0;

interface Waiting {
  readonly account: Account;
  readonly goOn: () => void;
}

/**
 * Work that waits for a turn. Callers alternate: one with sixty streams would otherwise go on sixty times before another
 * goes on once, for each 64 KiB of its file. Each goes on as far as it can before the next one does, only while the turn is
 * not over, so that many together do not make a long one, and only while its caller has not had its share of it.
 */
const waiting = new FairLine<Waiting, Account>();
let waitingCount = 0;
/** All that wait have had their shares of this turn: to ask each of thousands again would take long. */
let haveAllHadShares = false;

/** Call it before work that may take long and belongs to the step before it. */
export function beginTurn(): void {
  if (begunAt === 0) begin(performance.now());
}

/**
 * Call it before work that may take long, and before short work of which there may be much. What follows in this turn of the
 * event loop counts as this caller's, until another step begins.
 * @param owner whose work it is, as far as that is known
 */
export function beginStep(owner?: Owner): void {
  beginStepOf(accountOf(owner));
}

/** Tells this turn of the event loop from all others. */
export function presentTurn(): number {
  beginTurn();
  return begunAt;
}

/** True when this turn of the event loop has done enough work, or the caller whose step it is has had its share of it. */
export function isTurnOver(): boolean {
  if (begunAt === 0) return false;
  const now = performance.now();
  if (now - begunAt >= TURN_MS) return true;
  charge(now);
  return current?.hasHadShare(now) === true;
}

/**
 * Resolves in a later turn of the event loop, after what waited before it for the same owner.
 * @param owner as in `beginStep`
 */
export function nextTurn(owner?: Owner): Promise<void> {
  return new Promise((goOn) => {
    const account = accountOf(owner);
    waiting.add({ account, goOn }, owner?.principal === undefined ? undefined : account);
    waitingCount += 1;
    beginTurn();
  });
}

/**
 * For use between two steps of long work: yields to everything else once the turn has lasted long enough.
 * @param owner as in `beginStep`
 */
export function breathe(owner?: Owner): Promise<void> | undefined {
  beginStep(owner);
  return isTurnOver() ? nextTurn(owner) : undefined;
}

function begin(now: number): void {
  begunAt = now;
  haveAllHadShares = false;
  turns += 1 + Math.floor((now - idleSince) / SHARE_MS);
  setImmediate(endTurn);
}

function endTurn(): void {
  const now = performance.now();
  charge(now);
  current = undefined;
  begunAt = 0;
  idleSince = now;
  if (waiting.isEmpty) return;
  begin(now);
  goOnWithOne();
  // Node runs what follows of one before it runs the next
  for (let more = Math.min(waitingCount, MOST_TOGETHER - 1); more > 0; more--) setImmediate(goOn);
}

function goOn(): void {
  if (haveAllHadShares) return;
  if (begunAt === 0 || performance.now() - begunAt < TURN_MS) goOnWithOne();
}

function goOnWithOne(): void {
  charge(performance.now());
  const next = waiting.take(mayGoOn);
  haveAllHadShares = next === undefined;
  if (!next) return;
  waitingCount -= 1;
  beginStepOf(next.account);
  next.goOn();
}

function mayGoOn(account: Account | undefined): boolean {
  return !(account ?? accountOf(undefined)).hasHadShare(currentSince);
}

function beginStepOf(account: Account): void {
  const now = performance.now();
  if (begunAt === 0) begin(now);
  charge(now);
  current = account;
  account.begin(now);
}

/** Counts what has been done since the step began as its caller's. */
function charge(now: number): void {
  current?.take(now - currentSince);
  currentSince = now;
}

function accountOf(owner: Owner | undefined): Account {
  return callers.of(owner?.principal).serverOf(owner?.server);
}
