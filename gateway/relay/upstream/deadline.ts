/** A signal with a time-out. */
interface Deadline {
  signal: AbortSignal;
  /** Ends the time-out. */
  clear(): void;
}

/**
 * A signal that aborts with another one, and by itself after `ms`.
 * @param late makes the reason of that second case
 */
export function deadline(outer: AbortSignal, ms: number, late: () => Error): Deadline {
  const own = new AbortController();
  const abort = (): void => own.abort(outer.reason);
  if (outer.aborted) abort();
  outer.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(() => own.abort(late()), ms);
  timer.unref();
  return {
    signal: own.signal,
    clear: () => {
      clearTimeout(timer);
      outer.removeEventListener('abort', abort);
    },
  };
}
