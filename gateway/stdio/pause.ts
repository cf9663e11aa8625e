import { setTimeout as wait } from 'node:timers/promises';

/** Waits so many milliseconds, or until the signal aborts, which may never happen: nothing is left on it. Never rejects. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await wait(ms, undefined, { ref: false, ...(signal && { signal }) }).catch(() => undefined);
}
