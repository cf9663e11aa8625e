/**
 * Objects that are removed at one time. One after the other, from a store that answers in 20 ms, fifty files a second are
 * removed, and thousands of callers store more.
 */
export const TOGETHER = 8;

/** Waits for the work on each, even if some of it fails. @throws the first failure */
export async function together<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const failed = (await Promise.allSettled(items.map(work))).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}
