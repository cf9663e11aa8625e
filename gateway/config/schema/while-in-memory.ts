/**
 * Makes something of a list of adapters, which does not change, and gives it again while it is still in memory. The next
 * reload may want it, and a test that starts gateways; an idle process gets its 4 MB back with the next collection of all
 * memory.
 */
export function whileInMemory<List extends object, Made extends object>(
  make: (list: List) => Made,
): (list: List) => Made {
  const known = new WeakMap<List, WeakRef<Made>>();
  return (list) => {
    const made = known.get(list)?.deref() ?? make(list);
    known.set(list, new WeakRef(made));
    return made;
  };
}
