import { randomBytes } from 'node:crypto';
import type { StateStore } from '../../ports/state-store.js';

/** How long a mark lives without a look at it: a state store may be away for days, and have all that it had. */
const KEPT_MS = 7 * 24 * 3_600_000;

/**
 * A key by which a process sees that the state store has lost what was in it. There each record is missing, as if it had
 * expired, and a backup may yet bring it back.
 */
export class StateMark {
  readonly #state: Pick<StateStore, 'create' | 'extend' | 'remove'>;
  readonly #key = `mark:${randomBytes(16).toString('base64url')}`;
  #isMade = false;

  constructor(state: Pick<StateStore, 'create' | 'extend' | 'remove'>) {
    this.#state = state;
  }

  /**
   * Whether the store still has what was there at the look before this one. It reports a loss once, and then makes the mark anew.
   * @throws GatewayError `state_unavailable`
   */
  async isKept(): Promise<boolean> {
    if (this.#isMade && (await this.#state.extend(this.#key, KEPT_MS))) return true;
    const wasMade = this.#isMade;
    // where there is no room for it, a loss is not noticed, and everything else goes on
    this.#isMade = await this.#state.create(this.#key, '', KEPT_MS).catch(() => false);
    return !wasMade;
  }

  /** Nothing is to be watched any longer. Never throws: the mark expires by itself. */
  async drop(): Promise<void> {
    if (!this.#isMade) return;
    this.#isMade = false;
    await this.#state.remove(this.#key).catch(() => undefined);
  }
}
