import { createCipheriv } from 'node:crypto';
import { png } from '../conformance/server/bytes.js';

/** `size` bytes that look random, do not compress, and are the same in every process. */
export function noise(size: number, seed = 1): Buffer {
  const cipher = createCipheriv('aes-128-ctr', Buffer.alloc(16, seed), Buffer.alloc(16));
  return cipher.update(Buffer.alloc(size));
}

/** A PNG of `side` × `side` pixels of noise, stored without compression: about 3 × side² bytes. */
export function noisePng(side: number): Buffer {
  const bytes = noise(side * side * 3);
  return png(
    side,
    side,
    (x, y) => {
      const at = (y * side + x) * 3;
      return [bytes[at] ?? 0, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0];
    },
    0,
  );
}
