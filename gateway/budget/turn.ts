import { Line } from './line.js';

/**
 * The event loop is one for everybody: what a peer sent must not keep it for long, however much it is. Work on it is
 * cut into steps of a few milliseconds, and asks between two of them whether the turn has lasted long enough.
 */
const TURN_MS = 20;

/** When work began in this turn of the event loop; 0: none has. */
let begunAt = 0;

/** Work that waits for a turn, in order of arrival: each has one of its own, so that many together are no long one. */
const waiting = new Line<() => void>();

/** Work begins that may take long. */
export function beginStep(): void {
  if (begunAt !== 0) return;
  begunAt = performance.now();
  setImmediate(endTurn);
}

/** Whether the work that has been done in this turn of the event loop is enough. Asked after `beginStep`. */
export function isTurnOver(): boolean {
  return begunAt !== 0 && performance.now() - begunAt >= TURN_MS;
}

/** Resolves in another turn of the event loop, when everything that waited before has had one. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      waiting.remove(place);
      resolve();
    };
    const place = waiting.add(go);
    beginStep();
  });
}

/** Between two steps of long work: gives way to everything else once the turn has lasted long enough. */
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
}
