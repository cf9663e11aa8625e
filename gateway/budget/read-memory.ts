import { getHeapStatistics } from 'node:v8';
import { collector } from './collector.js';

/** Bytes that may be read before those that are done with are freed. Half as many free 10 MiB more and take no longer. */
const SWEEP_BYTES = 8 * 1024 * 1024;
/** Bytes outside V8's heap that may outlive sweeps before all of the heap is collected. V8 of itself waits for 64 MiB. */
const GROWN_BYTES = 24 * 1024 * 1024;

/** Bytes read since the last sweep. */
let read = 0;
let sweep: (() => void) | undefined;

/**
 * Counts bytes that node has read into memory of their own. V8 lets such memory, which is outside its heap, grow by 64 MiB
 * and then looks at its whole heap: 61 times for an upload of 1 GiB, in 3 of its 5 seconds of processor time. Its young
 * generation, in which what was read is, takes 1 ms to collect.
 */
export function countRead(bytes: number): void {
  read += bytes;
  if (read < SWEEP_BYTES) return;
  read = 0;
  sweep?.();
}

/**
 * From now on frees what was read and is done with in time. What waited for a store or a client longer than two sweeps is in
 * the old generation: of 256 files at once that was 60 of 300 MiB. Its collection takes 33 ms, and those files need three.
 */
export function freeWhatWasRead(): void {
  const collect = collector();
  /** After the last collection of the whole heap; or less, when less has been in use since. */
  let least = external();
  sweep = () => {
    collect({ type: 'minor' });
    least = Math.min(least, external());
    if (external() - least < GROWN_BYTES) return;
    collect({ type: 'major', flavor: 'regular' });
    least = external();
  };
}

/** Bytes outside V8's heap that objects in it keep. */
function external(): number {
  return getHeapStatistics().external_memory;
}
