import { randomFillSync } from 'node:crypto';

/** Bytes that are drawn from the system's generator at once. */
const DRAWN = 4096;

const pool = Buffer.allocUnsafeSlow(DRAWN);
let used = DRAWN;

/**
 * So many random bytes, at most 4096, for names and secrets. They are drawn many at a time, because a draw takes 10 µs however
 * few they are, and ten times as long after other work. Each is given out once, and not kept.
 */
export function randomBytes(count: number): Buffer {
  if (count > DRAWN) throw new RangeError('more random bytes than are drawn at once');
  if (used + count > DRAWN) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = Buffer.from(pool.subarray(used, used + count));
  pool.fill(0, used, used + count);
  used += count;
  return bytes;
}
