/** V8's memory for a value of parsed JSON, including members and items, however short it is. */
const VALUE = 50;

/** A text outside Latin-1 takes two bytes per character. */
const CHARACTER = 2;

/**
 * Estimates the memory of a value of parsed JSON.
 * @param most stops beyond this: the result is then any larger number
 */
export function heapOf(value: unknown, most: number): number {
  const waiting = [value];
  let bytes = VALUE;
  while (waiting.length > 0 && bytes <= most) {
    const next = waiting.pop();
    if (typeof next === 'string') bytes += next.length * CHARACTER;
    if (typeof next !== 'object' || next === null) continue;
    const keys = Array.isArray(next) ? [] : Object.keys(next);
    const inner: unknown[] = Array.isArray(next) ? next : Object.values(next);
    bytes += inner.length * VALUE;
    for (const key of keys) bytes += key.length * CHARACTER;
    // past the limit nothing needs to wait
    if (bytes <= most) for (const one of inner) waiting.push(one);
  }
  return bytes;
}
