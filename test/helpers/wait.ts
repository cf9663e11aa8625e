/** Milliseconds from one look to the next: at first, and at most. A look may be a request that is answered by a page. */
const [FIRST_MS, MOST_MS] = [20, 60];
/** So many times longer is what was waited than the next pause. */
const SHARE = 8;

/** Polls until the condition holds, less often the longer it takes. The test's own time-out is the limit. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const since = performance.now();
  while (!(await condition())) {
    const pause = Math.min(MOST_MS, Math.max(FIRST_MS, (performance.now() - since) / SHARE));
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
