const now = Date.now;
const ticks = performance.now.bind(performance);

/** Moves the time of this process, and so of every gateway in it: a test need not wait, and cannot come too late. */
export function later(ms: number): void {
  const before = Date.now;
  const ticksBefore = performance.now.bind(performance);
  Date.now = () => before() + ms;
  performance.now = () => ticksBefore() + ms;
}

/** Ends what `later` has done. */
export function backToNow(): void {
  Date.now = now;
  performance.now = ticks;
}
