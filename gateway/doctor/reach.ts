import type { Config } from '../config/config.js';
import { sizeText, timeText } from '../policy/amounts.js';
import { beginningOf } from './beginning.js';
import type { Check, Finding } from './check.js';
import { HeldUp } from './held-up.js';
import type { Place } from './place.js';
import type { Open } from './stores.js';
import { BODY_BYTES, CHECK_PATH, PAUSE_MS, SILENCE_MS } from './way-check.js';

const ADVICE = 'Check the proxy in front: it must pass publicUrl on to listen, with the path as it is below publicUrl.';

/** Characters of an answer that are looked at. */
const MOST_READ = 10_000;

/** What Wharf says of a path that it does not have, and of a page that may not call. */
const OWN_WORD = '"route_unknown"';
const FOREIGN_WORD = '"origin_forbidden"';

/** Two events that were sent a second apart, and arrive closer together than this, were held back. */
const LEAST_APART_MS = PAUSE_MS / 2;

class Together extends Error {
  readonly heldUpMs: number;
  readonly passing: boolean;

  /**
   * @param heldUpMs how long this process was held up before they came
   * @param passing true where the event after them came apart: a process on the way may have been held up that once
   */
  constructor(heldUpMs: number, passing: boolean) {
    super(`two events that were sent ${timeText(PAUSE_MS)} apart arrive together: something gathers answers`);
    this.heldUpMs = heldUpMs;
    this.passing = passing;
  }
}

/** How often it is tried whether events arrive when they are sent: two answers that are gathered to their end fit into a check. */
const TRIES = 2;

const HELD_UP = 'this process was held up meanwhile, for';
const TRY_LATER = 'Run "wharf doctor --only publicUrl" again when this machine has less to do.';

/** No page has this origin (RFC 6761). */
const FOREIGN = 'https://page.invalid';

const NO_URL: Finding = { state: 'skipped', text: 'Wharf is reached at listen alone' };

const UNPROVEN: Finding = {
  state: 'skipped',
  text: 'a Wharf runs there, and only a shared "secret" shows that it is this one; or try while it is stopped',
};

/** Whether publicUrl leads to Wharf, and what the proxies on the way make of requests and answers. */
export function reachChecks({ publicUrl }: Pick<Config, 'publicUrl'>, open: Open<Place>): Check[] {
  if (publicUrl === undefined)
    return [{ group: 'publicUrl', title: 'leads to Wharf', todo: ADVICE, run: async () => NO_URL }];
  const proven = async (work: (url: string) => Promise<Finding>) => {
    const { token } = await open();
    return token === undefined ? UNPROVEN : work(`${publicUrl}${CHECK_PATH}/${token}`);
  };
  return [
    {
      group: 'publicUrl',
      title: 'leads to Wharf',
      todo: ADVICE,
      run: async (signal) => {
        const { token = 'x', isOwn } = await open();
        const answer = await fetch(`${publicUrl}${CHECK_PATH}/${token}`, { signal, redirect: 'manual' });
        const body = await beginningOf(answer, MOST_READ);
        if (body === token) return { state: 'ok', text: publicUrl };
        // a Wharf with another secret, or with none that outlives it
        if (!isOwn && body.includes(OWN_WORD)) return { state: 'ok', text: `${publicUrl}, to a Wharf` };
        throw new Error(`something else answers at ${publicUrl}, with HTTP ${answer.status}`);
      },
    },
    {
      group: 'publicUrl',
      title: 'event streams',
      todo:
        'Switch off buffering of answers in the proxy (nginx: proxy_buffering off), and let it wait longer than 60 s for ' +
        'an answer (nginx: proxy_read_timeout 1h; HAProxy: timeout server 1h).',
      waitsMs: PAUSE_MS + SILENCE_MS,
      run: (signal) => proven((url) => streamAt(url, signal)),
    },
    {
      group: 'publicUrl',
      title: 'large requests',
      todo: 'Let the proxy take bodies as large as limits.file (nginx: client_max_body_size 0), and pass them on as they come.',
      run: (signal) =>
        proven(async (url) => {
          const body = new Uint8Array(BODY_BYTES);
          const answer = await fetch(url, { method: 'POST', body, signal, redirect: 'manual' });
          const text = await beginningOf(answer, MOST_READ);
          if (answer.status === 404 && text.includes(OWN_WORD)) return UNPROVEN;
          if (text !== String(BODY_BYTES))
            throw new Error(`a body of ${sizeText(BODY_BYTES)} gets HTTP ${answer.status}`);
          return { state: 'ok', text: `a body of ${sizeText(BODY_BYTES)} arrives` };
        }),
    },
    {
      group: 'publicUrl',
      title: 'pages of other sites',
      todo: 'Let the proxy pass on the header Origin as it comes, and add no Access-Control-Allow-Origin of its own.',
      run: async (signal) => ((await open()).isOwn ? STOPPED : foreignPage(publicUrl, signal)),
    },
  ];
}

const STOPPED: Finding = { state: 'skipped', text: 'only a Wharf that runs can be asked' };

/** Listens again where this process, or one on the way, was held up, so that two events seemed to come together. */
async function streamAt(url: string, signal: AbortSignal): Promise<Finding> {
  for (let tries = 1; ; tries += 1) {
    const heldUp = new HeldUp(PAUSE_MS);
    try {
      return await listenTo(url, signal, heldUp);
    } catch (error) {
      if (!(error instanceof Together)) throw error;
      const { heldUpMs, passing } = error;
      const isLast = tries === TRIES;
      if (heldUpMs < LEAST_APART_MS / 2 && (isLast || !passing)) throw error;
      if (isLast) return { state: 'warning', text: `not known: ${HELD_UP} ${timeText(heldUpMs)}`, todo: TRY_LATER };
    } finally {
      heldUp.end();
    }
  }
}

async function listenTo(url: string, signal: AbortSignal, heldUp: HeldUp): Promise<Finding> {
  const answer = await fetch(`${url}/stream`, { signal, redirect: 'manual' });
  if (answer.status === 404) return UNPROVEN;
  if (answer.status !== 200 || !answer.body) throw new Error(`it is answered with HTTP ${answer.status}`);
  const at = new Map<string, number>();
  const decoder = new TextDecoder();
  let text = '';
  let heldUpMs = 0;
  try {
    for await (const piece of answer.body as AsyncIterable<Uint8Array>) {
      text += decoder.decode(piece, { stream: true });
      if (text.length > MOST_READ) throw new Error('it is not the stream that was sent');
      if (!at.has('second')) heldUpMs = heldUp.lately();
      for (const [, name = ''] of text.matchAll(/^event: (\w+)$/gm)) if (!at.has(name)) at.set(name, performance.now());
      if (at.has('last')) break;
    }
  } catch (error) {
    if (!at.has('second')) throw error;
  }
  const [first, second, last] = ['first', 'second', 'last'].map((name) => at.get(name));
  if (first === undefined || second === undefined) throw new Error('the stream ends before its second event');
  if (second - first < LEAST_APART_MS)
    throw new Together(heldUpMs, last !== undefined && last - second >= LEAST_APART_MS);
  if (last === undefined) throw new Error(`a stream that is silent for ${timeText(SILENCE_MS)} is cut off`);
  return {
    state: 'ok',
    text: `events arrive when they are sent, and a silence of ${timeText(SILENCE_MS)} is waited for`,
  };
}

/** A page at another site must neither reach a server nor read an answer: Wharf sees that by Origin. */
async function foreignPage(publicUrl: string, signal: AbortSignal): Promise<Finding> {
  const answer = await fetch(`${publicUrl}${CHECK_PATH}/x`, {
    headers: { origin: FOREIGN },
    signal,
    redirect: 'manual',
  });
  const allowed = answer.headers.get('access-control-allow-origin');
  const text = await beginningOf(answer, MOST_READ);
  if (allowed !== null) throw new Error(`they may read answers: something on the way adds Access-Control-Allow-Origin`);
  if (!text.includes(FOREIGN_WORD))
    throw new Error(`they are not refused (HTTP ${answer.status}): Origin does not arrive`);
  return { state: 'ok', text: 'are refused' };
}
