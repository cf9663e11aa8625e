import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Which garbage is collected. Of the major kinds only the last resort shrinks the heap. */
type Collection = { type: 'minor' } | { type: 'major'; flavor: 'last-resort' };

let collect: ((what: Collection) => void) | undefined;

/** V8's collector, which it hands to contexts made after the flag. */
export function collector(): (what: Collection) => void {
  if (collect) return collect;
  setFlagsFromString('--expose-gc');
  const made = runInNewContext('gc') as NonNullable<typeof collect>;
  setFlagsFromString('--no-expose-gc');
  collect = made;
  return made;
}
