/**
 * The smallest keys after one, in order, where a store knows its keys in no order.
 * Memory is bounded by `most`, however many keys there are.
 */
export async function smallestKeys(
  keys: Iterable<string> | AsyncIterable<string>,
  after: string,
  most: number,
): Promise<string[]> {
  let found: string[] = [];
  const settle = () => {
    found = found.sort().slice(0, most);
  };
  for await (const key of keys) {
    if (key <= after) continue;
    found.push(key);
    if (found.length >= 2 * most) settle();
  }
  settle();
  return found;
}
