import type { StateStore } from '../../ports/state-store.js';
import { removeAll, type StateKeys } from '../../secrets/state-keys.js';

/** A refusal is asked about again after a while: it may have been a slip. */
const REFUSED_MS = 10 * 60 * 1000;

/** Which bytes a user lets a server have. */
interface ConsentTo {
  principal: string;
  digest: string;
  /** Config name of the server. */
  to: string;
}

/** What users have answered when they were asked whether a file may go to a server, for that file and that server. */
export class Consents {
  readonly #state: StateStore;
  readonly #keys: StateKeys;
  readonly #ttlMs: number;

  constructor(state: StateStore, keys: StateKeys, retentionMs: number) {
    this.#state = state;
    this.#keys = keys;
    this.#ttlMs = retentionMs;
  }

  /** Undefined when the user has not been asked. */
  async said(about: ConsentTo): Promise<'yes' | 'no' | undefined> {
    for (const key of this.#keys.all('consent', nameOf(about))) {
      const said = await this.#state.read(key);
      if (said === 'yes' || said === 'no') return said;
    }
    return undefined;
  }

  async note(about: ConsentTo, said: 'yes' | 'no'): Promise<void> {
    // an answer of before may stand under an older secret, and would count again once this one has ended
    await removeAll(this.#state, this.#keys.all('consent', nameOf(about)));
    const key = this.#keys.of('consent', nameOf(about));
    const owner = { principal: about.principal, server: about.to };
    await this.#state.create(key, said, said === 'yes' ? this.#ttlMs : REFUSED_MS, owner);
  }
}

function nameOf({ principal, digest, to }: ConsentTo): string {
  return JSON.stringify([principal, digest, to]);
}
