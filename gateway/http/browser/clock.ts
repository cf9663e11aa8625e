import { setText } from './dom.js';
import { spanText, TEXTS } from './texts.js';

/** Below this every second is shown. */
const CLOSE_MS = 10 * 60_000;
/** When to announce that the link expires soon. */
const SAID_AT_MS = [5 * 60_000, 60_000];

interface Shown {
  time: HTMLElement;
  left: HTMLElement;
  say: (text: string) => void;
  /** Called when the time is over. */
  onEnd: () => void;
}

/** Shows when a link expires, in the reader's time zone, and the time left. @returns a function that stops it */
export function countDown(expiresAt: number, now: number, { time, left, say, onEnd }: Shown): () => void {
  // the reader's clock may be wrong; the difference is known when the page arrives
  const ahead = Date.now() - now;
  const end = expiresAt + ahead;
  setText(time, localTime(new Date(end)));
  let toSay = SAID_AT_MS.filter((ms) => end - Date.now() > ms);
  let timer = 0;
  const tick = () => {
    const ms = end - Date.now();
    if (ms <= 0) {
      setText(left, '');
      onEnd();
      return;
    }
    const span = spanText(ms < CLOSE_MS ? ms : Math.ceil(ms / 60_000) * 60_000);
    setText(left, `(${TEXTS.left(span)})`);
    if (toSay.some((at) => ms <= at)) {
      toSay = toSay.filter((at) => ms > at);
      say(TEXTS.said.closesSoon(spanText(ms)));
    }
    timer = setTimeout(tick, ms < CLOSE_MS ? 1000 : 15_000);
  };
  tick();
  return () => clearTimeout(timer);
}

function localTime(date: Date): string {
  const isToday = date.toDateString() === new Date().toDateString();
  return new Intl.DateTimeFormat(undefined, {
    ...(!isToday && { dateStyle: 'medium' }),
    timeStyle: 'short',
  }).format(date);
}
