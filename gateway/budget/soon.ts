/** Longest look-up after a failure: the caller has already waited for one time-out. */
const LAST_LOOK_MS = 500;

/** Undefined when it takes too long. */
export async function soon(reading: Promise<string | undefined>): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), LAST_LOOK_MS);
  });
  // it may fail after the caller has stopped waiting
  reading.catch(() => undefined);
  return Promise.race([reading, late]).finally(() => clearTimeout(timer));
}
