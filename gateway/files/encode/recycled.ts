import { encodedLength } from '../../wire/base64/encode.js';
import { MAX_CHUNK } from './whole-file.js';

/** Of one buffer: the base64 of one chunk, and of a group that began before it. */
const BYTES = encodedLength(MAX_CHUNK) + 4;

/** Shorter texts cost less than looking for a buffer. */
const LEAST = BYTES / 4;

/** Most buffers that wait for use: as many as one file has under way, for two files. */
const KEPT = 4;

/**
 * Memory for encoded text, used again once the text has been sent. Without it, the collector works for every 64 MiB of
 * fresh buffers: 1 GiB to a stdio server took 1.1 to 8 s of processor time, depending on what else was in memory.
 * Text that is not given back is collected as usual.
 */
class Recycled {
  readonly #own = new WeakSet<ArrayBufferLike>();
  readonly #free: Buffer[] = [];

  take(length: number): Buffer {
    if (length > BYTES || length < LEAST) return Buffer.allocUnsafe(length);
    const free = this.#free.pop();
    if (free) return free.subarray(0, length);
    const fresh = Buffer.allocUnsafeSlow(BYTES);
    this.#own.add(fresh.buffer);
    return fresh.subarray(0, length);
  }

  /** Takes a text back, of which the caller holds no other part. */
  giveBack({ buffer }: Buffer): void {
    if (!this.#own.has(buffer) || this.#free.length >= KEPT) return;
    if (this.#free.some((free) => free.buffer === buffer)) return;
    this.#free.push(Buffer.from(buffer as ArrayBuffer));
  }
}

/** The texts of this process. */
export const recycled = new Recycled();
