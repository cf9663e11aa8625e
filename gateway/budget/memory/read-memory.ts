import { collector } from './collector.js';

/** Bytes that may be read before those that are done with are freed. Half as many free 10 MiB more and take no longer. */
const SWEEP_BYTES = 8 * 1024 * 1024;

/** Bytes read since then. */
let read = 0;
let sweep: (() => void) | undefined;

/**
 * Counts bytes that node has read into memory of their own. V8 lets such memory, which is outside its heap, grow by 64 MiB
 * and then looks at its whole heap: 61 times for an upload of 1 GiB, in 3 of its 5 seconds of processor time. Its young
 * generation, in which what was read is, takes 1 ms to collect. The rest of the heap is left to V8: forced once in a burst of
 * files, its collection took 30 of 300 MiB, and compiled code with it, and each file then cost half as much again.
 */
export function countRead(bytes: number): void {
  read += bytes;
  if (read < SWEEP_BYTES) return;
  read = 0;
  sweep?.();
}

/** From now on frees what was read and is done with in time. */
export function freeWhatWasRead(): void {
  const collect = collector();
  sweep = () => collect({ type: 'minor' });
}
