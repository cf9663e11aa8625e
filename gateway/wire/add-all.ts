/**
 * Appends every item of `items` to `target`. `push(...items)` puts each element on the stack, which overflows at some
 * 120,000 of them, and a peer decides how long these lists are.
 */
export function addAll<T>(target: T[], items: Iterable<T>): void {
  for (const item of items) target.push(item);
}
