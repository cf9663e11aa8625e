/** Whether something holds; undefined when that cannot be decided here. */
export type Truth = boolean | undefined;

/** The reverse; what cannot be decided stays so. */
export function not(one: Truth): Truth {
  return one === undefined ? undefined : !one;
}

/** All hold. */
export function all(truths: Iterable<Truth>): Truth {
  let result: Truth = true;
  for (const one of truths) {
    if (one === false) return false;
    if (one === undefined) result = undefined;
  }
  return result;
}

/** At least one holds. */
export function any(truths: Iterable<Truth>): Truth {
  let result: Truth = false;
  for (const one of truths) {
    if (one === true) return true;
    if (one === undefined) result = undefined;
  }
  return result;
}

/** How many of them hold: at least, and at most. */
export function count(truths: Iterable<Truth>): { least: number; most: number } {
  let least = 0;
  let most = 0;
  for (const one of truths) {
    if (one === true) least += 1;
    if (one !== false) most += 1;
  }
  return { least, most };
}

/** For a keyword that only some readers of a schema evaluate: failing it is failing for some only. */
export function ifRead(one: Truth): Truth {
  return one === true ? true : undefined;
}
