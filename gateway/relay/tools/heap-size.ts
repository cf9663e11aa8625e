/** What V8 takes for a value of parsed JSON, members and items included, however short it is. */
const VALUE = 50;

/** A text that is no Latin-1 takes two bytes for each character. */
const CHARACTER = 2;

/**
 * About how much memory a value of parsed JSON takes.
 * @param most beyond it nothing more is looked at: then the answer is any number above it
 */
export function heapOf(value: unknown, most = Number.POSITIVE_INFINITY): number {
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
    // what is past the most need not even wait
    if (bytes <= most) for (const one of inner) waiting.push(one);
  }
  return bytes;
}
