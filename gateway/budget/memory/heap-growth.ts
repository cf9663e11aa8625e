import { setFlagsFromString } from 'node:v8';

/** By how much the heap may grow after a collection of all of it, before the next. 60 and 200 cost the same. */
const PERCENT = 100;

/**
 * Lets V8's heap double between two collections of all of it. Once it has collected in a quiet time, V8 lets it grow slowly,
 * and goes on so under load: 16 to 29 collections in 1600 calls with files, instead of 5 to 10.
 * Each makes old what is young at that moment. 256 files of 10 MB at once took 295 to 305 MiB and 3.1 s of processor time per
 * GB, and take 268 to 275 MiB and 2.5 s.
 */
export function growFreely(): void {
  setFlagsFromString(`--heap-growing-percent=${PERCENT}`);
}
