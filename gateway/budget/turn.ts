import { Line } from './line.js';

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
 * Work that waits for a turn, in order of arrival. Each goes on as far as it can before the next one does, and only while
 * the turn is not over, so that many together do not make a long one.
 */
const waiting = new Line<() => void>();
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

/** Resolves in a later turn of the event loop, after everything that waited before it. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      waiting.remove(place);
      waitingCount -= 1;
      resolve();
    };
    const place = waiting.add(go);
    waitingCount += 1;
    beginStep();
  });
}

/** For use between two steps of long work: yields to everything else once the turn has lasted long enough. */
export function breathe(): Promise<void> | undefined {
  beginStep();
  return isTurnOver() ? nextTurn() : undefined;
}

function endTurn(): void {
  begunAt = 0;
  const next = waiting.first;
  if (!next) return;
  beginStep();
  next();
  // Node runs what follows of one before it runs the next
  for (let more = Math.min(waitingCount, MOST_TOGETHER - 1); more > 0; more--) setImmediate(goOn);
}

function goOn(): void {
  if (!isTurnOver()) waiting.first?.();
}
