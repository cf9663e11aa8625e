import { FairLine } from './line.js';

/**
 * All peers share one event loop: input from one peer must not keep it for long, however large the input is. Such work
 * is cut into steps of a few milliseconds. Between two steps it asks whether the turn has lasted long enough.
 */
const TURN_MS = 20;

/** When work began in this turn of the event loop; 0 before. */
let begunAt = 0;

/** Most work that goes on in one turn: of work that is short, one in each turn would leave the rest waiting for long. */
const MOST_TOGETHER = 32;

/**
 * Work that waits for a turn. Callers alternate: one with sixty streams would otherwise go on sixty times before another
 * goes on once, for each 64 KiB of its file. Each goes on as far as it can before the next one does, and only while the
 * turn is not over, so that many together do not make a long one.
 */
const waiting = new FairLine<() => void>();
let waitingCount = 0;

/** Call it before work that may take long. */
export function beginStep(): void {
  if (begunAt !== 0) return;
  begunAt = performance.now();
  setImmediate(endTurn);
}

/** Tells this turn of the event loop from all others. */
export function presentTurn(): number {
  beginStep();
  return begunAt;
}

/** True when this turn of the event loop has done enough work. Call `beginStep` first. */
export function isTurnOver(): boolean {
  return begunAt !== 0 && performance.now() - begunAt >= TURN_MS;
}

/**
 * Resolves in a later turn of the event loop, after what waited before it for the same caller.
 * @param principal the caller whose work it is, where that is known
 */
export function nextTurn(principal?: string): Promise<void> {
  return new Promise((resolve) => {
    waiting.add(resolve, principal);
    waitingCount += 1;
    beginStep();
  });
}

/**
 * For use between two steps of long work: yields to everything else once the turn has lasted long enough.
 * @param principal as in `nextTurn`
 */
export function breathe(principal?: string): Promise<void> | undefined {
  beginStep();
  return isTurnOver() ? nextTurn(principal) : undefined;
}

function endTurn(): void {
  begunAt = 0;
  if (waiting.isEmpty) return;
  beginStep();
  goOnWithOne();
  // Node runs what follows of one before it runs the next
  for (let more = Math.min(waitingCount, MOST_TOGETHER - 1); more > 0; more--) setImmediate(goOn);
}

function goOn(): void {
  if (!isTurnOver()) goOnWithOne();
}

function goOnWithOne(): void {
  const next = waiting.take();
  if (!next) return;
  waitingCount -= 1;
  next();
}
