import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Which garbage is collected. Of the major kinds only the last resort shrinks the heap. */
type Collection = { type: 'minor' } | { type: 'major'; flavor: 'last-resort' };

type Collect = (what: Collection) => void;

let collect: Collect | undefined;

/** V8's collector, which it hands to contexts made after the flag. */
export function collector(): Collect {
  if (collect) return collect;
  setFlagsFromString('--expose-gc');
  const made = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  collect = made;
  return made;
}

/** Numbers in an array that is too large for a common page of V8's heap: its own page goes to the pool when it is dropped. */
const LARGE = 100_000;

/**
 * Collects the young generation, and lets one page come to the pool in which V8 keeps emptied pages. V8 gives them to the
 * system when a page comes 12 seconds after it last looked at the pool, or 8 seconds after a look that left something. A look
 * that finds the pool empty is the last one: pages that come in the 12 seconds after it stay until something allocates. In
 * one of five processes that had become quiet, 85 MiB stayed.
 */
export function stirPagePool(collect: Collect): void {
  void new Array(LARGE);
  collect({ type: 'minor' });
}
