/**
 * Objects that are removed at one time. One after the other, from a store that answers in 20 ms, fifty files a second are
 * removed, and thousands of callers store more.
 */
export const TOGETHER = 8;

/** Waits for the work on each, even if some of it fails. @throws the first failure */
export async function together<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  for (const failure of (await failuresOf(items, work)).values()) throw failure;
}

/** Waits for the work on each. @returns why it failed, for those where it did */
export async function failuresOf<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<Map<Item, unknown>> {
  const failures = new Map<Item, unknown>();
  const done = await Promise.allSettled(items.map(work));
  for (const [index, result] of done.entries()) {
    if (result.status === 'rejected') failures.set(items[index] as Item, result.reason);
  }
  return failures;
}
