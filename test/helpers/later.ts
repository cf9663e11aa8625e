const now = Date.now;

/** Moves the wall clock of this process, and so of every gateway in it: a test need not wait, and cannot come too late. */
export function later(ms: number): void {
  const before = Date.now;
  Date.now = () => before() + ms;
}

/** Ends what `later` has done. */
export function backToNow(): void {
  Date.now = now;
}
