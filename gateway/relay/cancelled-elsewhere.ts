import type { StateStore } from '../ports/state-store.js';
import type { StateKeys } from '../secrets/state-keys.js';

/** How long a cancellation is known: its server stops the call meanwhile, and ends the stream on which it was made. */
const KNOWN_MS = 60_000;

/** Most of one POST that are noted: a client gives up a few calls at a time, and each takes a key. */
const MOST_NOTED = 16;

/** Whose a call is. */
interface CallerOfSession {
  session: string;
  principal: string;
  server: string;
}

/**
 * Calls of a session that its client has cancelled where another replica serves them, or that are over: that replica asks
 * before it sends the call to its server, and before it tells the client that the server gave no answer.
 */
export class CancelledElsewhere {
  readonly #state: StateStore;
  readonly #keys: StateKeys;

  constructor(state: StateStore, keys: StateKeys) {
    this.#state = state;
    this.#keys = keys;
  }

  /** Never rejects: without the note the client gets an error that it does not wait for. @param ids as JSON text */
  async note(of: CallerOfSession, ids: readonly string[]): Promise<void> {
    const { principal, server } = of;
    const noted = ids
      .slice(0, MOST_NOTED)
      .map((id) => this.#state.create(this.#keys.of('cancelled', nameOf(of, id)), '', KNOWN_MS, { principal, server }));
    await Promise.allSettled(noted);
  }

  /** Never rejects: what cannot be asked counts as not cancelled. @param id as JSON text */
  async has(of: CallerOfSession, id: string): Promise<boolean> {
    const keys = this.#keys.all('cancelled', nameOf(of, id));
    const found = await Promise.allSettled(keys.map((key) => this.#state.read(key)));
    return found.some((one) => one.status === 'fulfilled' && one.value !== undefined);
  }
}

/** Another token of the session cancels nothing, as where the call is served. */
function nameOf({ session, principal, server }: CallerOfSession, id: string): string {
  return JSON.stringify([session, principal, server, id]);
}
