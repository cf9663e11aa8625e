import type { Clock } from '../ports/clock.js';
import type { Registered, Registrations } from '../ports/oauth.js';
import type { StateStore } from '../ports/state-store.js';
import type { StateKeys } from '../secrets/state-keys.js';

/** As long as the logins that were made with it, and a little longer. */
const KEPT_MS = 100 * 24 * 60 * 60_000;

/** Takes the place of one that is forgotten, until the store has removed it. */
const NOTHING = '';

/** Replicas that register at one time; each loser of a race reads again. */
const MOST_TRIES = 20;

interface Parts {
  state: StateStore;
  keys: StateKeys;
  clock: Clock;
}

/** A registration of Wharf's at one authorization server, sealed in the state store, so that all replicas are one client. */
export class KeptRegistration implements Registrations {
  readonly #parts: Parts;
  readonly #name: string;
  readonly #server: string;
  #here: Registered | undefined;

  /** @param place what it is for: the authorization server, and where it sends browsers back. It is kept for no other one. */
  constructor(parts: Parts, server: string, place: string) {
    this.#parts = parts;
    this.#server = server;
    this.#name = `registration\n${place}`;
  }

  async get(make: () => Promise<Registered>): Promise<Registered> {
    if (this.#holds(this.#here)) return this.#here;
    const kept = await this.#read();
    this.#here = this.#holds(kept) ? kept : await this.#keep(await make());
    return this.#here;
  }

  async forget({ clientId }: Registered): Promise<void> {
    if (this.#here?.clientId === clientId) this.#here = undefined;
    const { state, keys } = this.#parts;
    for (const key of keys.all('token', this.#name)) {
      const sealed = await state.read(key);
      // another replica may have registered anew since, or do so now
      if (sealed !== undefined && this.#open(key, sealed)?.clientId === clientId)
        await state.replace(key, sealed, NOTHING, 1);
    }
  }

  #holds(registered: Registered | undefined): registered is Registered {
    return registered !== undefined && this.#parts.clock.now() < (registered.expiresAt ?? Number.POSITIVE_INFINITY);
  }

  /** Of replicas that register at one time, all use what the first of them has kept. */
  async #keep(registered: Registered): Promise<Registered> {
    const { state, keys } = this.#parts;
    const key = keys.of('token', this.#name);
    const text = keys.seal.close(key, JSON.stringify(registered));
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      if (await state.create(key, text, KEPT_MS, { server: this.#server })) return registered;
      const other = await this.#read();
      if (this.#holds(other)) return other;
      const old = await state.read(key);
      if (old !== undefined && (await state.replace(key, old, text, KEPT_MS))) return registered;
    }
    return registered;
  }

  async #read(): Promise<Registered | undefined> {
    const { state, keys } = this.#parts;
    for (const key of keys.all('token', this.#name)) {
      const sealed = await state.read(key);
      const registered = sealed === undefined ? undefined : this.#open(key, sealed);
      if (!registered) continue;
      await state.extend(key, KEPT_MS);
      return registered;
    }
    return undefined;
  }

  #open(key: string, sealed: string): Registered | undefined {
    const text = this.#parts.keys.seal.open(key, sealed);
    return text === undefined ? undefined : (JSON.parse(text) as Registered);
  }
}
