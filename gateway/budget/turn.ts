import { FairLine } from './line.js';

/**
 * All peers share one event loop: input from one peer must not keep it for long, however large the input is. Such work
 * is cut into steps of a few milliseconds. Between two steps it asks whether the turn has lasted long enough.
 */
const TURN_MS = 20;

/**
 * What each caller may take of a turn while others have work too. Of a turn of 20 ms, a message that comes in pieces would wait
 * that long for each piece: beside 16 results of small JSON, a call of 1 KB took 200 times its time, and an answer of 2 MB 20
 * times.
 */
const SHARE_MS = 1;

/** So long after its last step a caller still counts as one with work: it may be waiting for its server. */
const RECENT_MS = 100;

/** A step may take longer than a share, which its caller makes up for in later turns. This is the most. */
const MOST_BEHIND_MS = 100;

/** Turns after which no caller is behind for what it has taken before them. */
const FORGOTTEN_TURNS = MOST_BEHIND_MS / SHARE_MS;

/** Most work that goes on in one turn: of work that is short, one in each turn would leave the rest waiting for long. */
const MOST_TOGETHER = 32;

/** What a caller has taken. */
interface Account {
  /** Beyond its shares of the turns before. */
  takenMs: number;
  /** The turn up to which its shares are counted. */
  turn: number;
}

/** When work began in this turn of the event loop; 0 before. */
let begunAt = 0;
/** When the last one was over. */
let idleSince = 0;
/** Turns so far. Time in which nothing waited counts as turns too: each caller could have had its share of them. */
let turns = 0;

/** By principal. Work whose caller is not known has one account. */
let accounts = new Map<string | undefined, Account>();
/** Those of the turns before: a map that is dropped as a whole costs less than one whose entries come and go. */
let olderAccounts = new Map<string | undefined, Account>();
let accountsSince = 0;

/** Whose step it is, and since when. */
let current: Account | undefined;
let currentSince = 0;
/** The account that was used last, when that was, and when another one was used. */
let latest: Account | undefined;
let latestAt = Number.NEGATIVE_INFINITY;
let otherAt = Number.NEGATIVE_INFINITY;

interface Waiting {
  readonly principal: string | undefined;
  readonly goOn: () => void;
}

/**
 * Work that waits for a turn. Callers alternate: one with sixty streams would otherwise go on sixty times before another
 * goes on once, for each 64 KiB of its file. Each goes on as far as it can before the next one does, only while the turn is
 * not over, so that many together do not make a long one, and only while its caller has not had its share of it.
 */
const waiting = new FairLine<Waiting>();
let waitingCount = 0;

/** Call it before work that may take long and belongs to the step before it. */
export function beginTurn(): void {
  if (begunAt === 0) begin(performance.now());
}

/**
 * Call it before work that may take long, and before short work of which there may be much. What follows in this turn of the
 * event loop counts as this caller's, until another step begins.
 * @param principal the caller whose work it is, where that is known
 */
export function beginStep(principal?: string): void {
  const now = performance.now();
  if (begunAt === 0) begin(now);
  charge(now);
  const account = accountOf(principal);
  current = account;
  if (account !== latest) {
    otherAt = latestAt;
    latest = account;
  }
  latestAt = now;
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
  return current !== undefined && hasHadShare(current, now);
}

/** False when a caller has had its share of this turn of the event loop. */
export function mayWork(principal: string | undefined): boolean {
  return !hasHadShare(accountOf(principal), performance.now());
}

/**
 * Resolves in a later turn of the event loop, after what waited before it for the same caller.
 * @param principal the caller whose work it is, where that is known
 */
export function nextTurn(principal?: string): Promise<void> {
  return new Promise((goOn) => {
    waiting.add({ principal, goOn }, principal);
    waitingCount += 1;
    beginTurn();
  });
}

/**
 * For use between two steps of long work: yields to everything else once the turn has lasted long enough.
 * @param principal as in `nextTurn`
 */
export function breathe(principal?: string): Promise<void> | undefined {
  beginStep(principal);
  return isTurnOver() ? nextTurn(principal) : undefined;
}

function begin(now: number): void {
  begunAt = now;
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
  if (begunAt === 0 || performance.now() - begunAt < TURN_MS) goOnWithOne();
}

function goOnWithOne(): void {
  charge(performance.now());
  const next = waiting.take(mayWork);
  if (!next) return;
  waitingCount -= 1;
  beginStep(next.principal);
  next.goOn();
}

/** Counts what has been done since the step began as its caller's. */
function charge(now: number): void {
  if (current) current.takenMs = Math.min(MOST_BEHIND_MS, current.takenMs + now - currentSince);
  currentSince = now;
}

function hasHadShare(account: Account, now: number): boolean {
  return account.takenMs >= SHARE_MS && now - (account === latest ? otherAt : latestAt) < RECENT_MS;
}

function accountOf(principal: string | undefined): Account {
  if (turns - accountsSince > FORGOTTEN_TURNS) {
    olderAccounts = accounts;
    accounts = new Map();
    accountsSince = turns;
  }
  let account = accounts.get(principal);
  if (!account) {
    account = olderAccounts.get(principal) ?? { takenMs: 0, turn: turns };
    accounts.set(principal, account);
  }
  if (account.turn !== turns) {
    account.takenMs = Math.max(0, account.takenMs - (turns - account.turn) * SHARE_MS);
    account.turn = turns;
  }
  return account;
}
