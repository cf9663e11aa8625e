import { asGatewayError } from '../../errors.js';
import type { Clock, Stopwatch } from '../../ports/clock.js';
import type { PersonsAnswer, Said } from './questions.js';

/** Between two looks at the store: an upload to another replica must be noticed within a second. */
const LOOK_MS = 400;

/** What may have ended a wait for a file. */
export type Waited =
  | 'stored'
  | Exclude<PersonsAnswer, 'accepted'>
  /** There was time enough. */
  | 'late'
  /** The user has not opened the page. */
  | 'unopened'
  /** The call was cancelled, or its session ended, at this replica or at another one. */
  | 'withdrawn'
  /** The state store has lost what it knew of the question. */
  | 'lost'
  /** Wharf shuts down. */
  | 'ending'
  /** The caller no longer waits. */
  | 'left';

/** For what a call waits, and how long. */
export interface Wait {
  /** Whether the file is there. */
  isStored: () => Promise<boolean>;
  /** What the person has said so far. */
  said: () => Promise<Said | undefined>;
  /** What has become of the link, on whichever replica; undefined once the state store has lost it: no file comes by it. */
  link?: () => Promise<{ isOpened: boolean; isRevoked: boolean } | undefined>;
  /** For a page: until when it must be open, and how long after the answer that accepts to open it. */
  notice?: { until: number; ms: number } | undefined;
  /** Milliseconds since the Unix epoch. */
  until: number;
  /** Whether Wharf shuts down: the caller is then told what to do instead. */
  isDraining: () => boolean;
  signal: AbortSignal;
  clock: Clock & Stopwatch;
  /** Called each time it has looked. */
  looked: () => void;
}

const NO_LINK = { isOpened: false, isRevoked: false };

/**
 * Waits for a file that a person was asked for. Accepting is not uploading: only a file that is stored ends it well. A
 * state store that does not answer for a while is asked again.
 * @throws GatewayError what the state store failed with last, where it did until the end
 */
export async function waitForFile(wait: Wait): Promise<Waited> {
  const { isStored, said, link, notice, until, isDraining, signal, clock, looked } = wait;
  // a clock that is set meanwhile neither ends the wait nor prolongs it
  const ahead = clock.ticks() - clock.now();
  let openUntil = (notice?.until ?? Number.POSITIVE_INFINITY) + ahead;
  let hasAccepted = false;
  for (;;) {
    let failure: unknown;
    try {
      // read before the answer: a user who declines is noted before the link is revoked
      const found = link ? await link() : NO_LINK;
      // a file counts whatever the user has said: it is there
      if (await isStored()) return 'stored';
      if (!found) return 'lost';
      const { isOpened, isRevoked } = found;
      const { answer } = (await said()) ?? {};
      if (answer !== undefined && answer !== 'accepted') return answer;
      if (isRevoked) return 'withdrawn';
      if (isOpened) openUntil = Number.POSITIVE_INFINITY;
      // the page opens after the answer, so that a late answer needs its own time
      else if (answer === 'accepted' && !hasAccepted && notice) openUntil = clock.ticks() + notice.ms;
      hasAccepted ||= answer === 'accepted';
      if (clock.ticks() >= openUntil) return 'unopened';
    } catch (error) {
      if (asGatewayError(error).code !== 'state_unavailable') throw error;
      failure = error;
    }
    if (signal.aborted) return 'left';
    const left = until + ahead - clock.ticks();
    if (left <= 0 || isDraining()) {
      if (failure !== undefined) throw failure;
      return left <= 0 ? 'late' : 'ending';
    }
    looked();
    await pause(Math.min(LOOK_MS, left), signal);
  }
}

/** Never rejects: after an abort the waiter looks once more. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}
