import type { TicketState } from './page-data.js';

/** A change of the ticket's state appears on the page within two seconds. */
const USUAL_MS = 1500;
/** After this long without activity the page asks less and less often. */
const IDLE_AFTER_MS = 10 * 60_000;
const IDLE_MS = 15_000;
const MOST_MS = 30_000;
const TIMEOUT_MS = 10_000;

type Status = TicketState['status'];

/** Asks for the ticket's state while the page may be visible. @returns a function that stops it */
export function watchTicket(tell: (status: Status) => void): () => void {
  let timer = 0;
  let wait = USUAL_MS;
  let usedAt = Date.now();
  let isAsking = false;
  let isOver = false;

  const later = () => {
    clearTimeout(timer);
    if (!isOver && !document.hidden) timer = setTimeout(ask, wait);
  };
  const ask = async () => {
    if (isAsking || isOver) return;
    isAsking = true;
    clearTimeout(timer);
    try {
      const answer = await fetch(location.href, {
        headers: { accept: 'application/json' },
        cache: 'no-store',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (answer.status >= 500 || answer.status === 429) throw new Error('not now');
      const { status } = (await answer.json()) as TicketState;
      wait = Date.now() - usedAt < IDLE_AFTER_MS ? USUAL_MS : Math.min(IDLE_MS, wait * 2);
      if (!isOver) tell(status);
    } catch {
      wait = Math.min(MOST_MS, wait * 2);
    } finally {
      isAsking = false;
      later();
    }
  };
  const onUse = () => {
    usedAt = Date.now();
    if (wait === USUAL_MS || document.hidden) return;
    wait = USUAL_MS;
    void ask();
  };
  const onShown = () => {
    if (document.hidden) clearTimeout(timer);
    else {
      usedAt = Date.now();
      wait = USUAL_MS;
      void ask();
    }
  };
  const uses = ['pointerdown', 'pointermove', 'keydown', 'dragenter', 'focus'];
  for (const name of uses) addEventListener(name, onUse, { passive: true });
  addEventListener('online', onShown);
  document.addEventListener('visibilitychange', onShown);
  later();
  return () => {
    isOver = true;
    clearTimeout(timer);
    for (const name of uses) removeEventListener(name, onUse);
    removeEventListener('online', onShown);
    document.removeEventListener('visibilitychange', onShown);
  };
}
