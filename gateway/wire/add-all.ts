/**
 * Adds what a list holds to another. `push(...list)` puts every element on the stack, where some 120,000 of them are an
 * error, and lists may be as long as a peer likes.
 */
export function addAll<T>(target: T[], items: Iterable<T>): void {
  for (const item of items) target.push(item);
}
