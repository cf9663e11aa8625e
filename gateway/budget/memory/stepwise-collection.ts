import { setFlagsFromString } from 'node:v8';

/** More than the 64 MiB by which memory outside of V8's heap may grow before V8 collects its heap by itself. */
const PRESSURE_BYTES = 80 * 1024 * 1024;

/**
 * Lets V8 collect its whole heap step by step, as it does under load, and take together what is left on pages half empty:
 * 25 MiB after small calls. Only a collection in steps keeps the maps, V8's descriptions of objects, on which compiled code
 * relies, though no object has them while no call runs. A collection that is forced loses them, and 500 compiled functions
 * with them: a call with a file of 0.1 MB then took 4.3 instead of 1.7 ms of processor time, and still 3 after 1000 more.
 * V8 offers no function for it, but begins by itself when memory outside of its heap has grown. What is never written to
 * does not become resident.
 * @returns to be called when V8 has had the time to finish
 */
export function beginCollection(): () => void {
  setFlagsFromString('--compact-on-every-full-gc');
  try {
    void new ArrayBuffer(PRESSURE_BYTES);
  } catch {
    // The system does not give out so much. What calls have left then stays until V8 collects under load.
  }
  return () => setFlagsFromString('--no-compact-on-every-full-gc');
}
