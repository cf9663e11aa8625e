import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { GatewayError } from '../errors.js';
import type { StateKeys } from '../files/state-keys.js';
import type { Clock } from '../ports/clock.js';
import type { Tokens } from '../ports/oauth.js';
import type { Owner } from '../ports/owner.js';
import type { StateStore } from '../ports/state-store.js';

/** Tokens in this process, besides the state store: some 3 kB each. */
const MOST_KEPT = 10_000;

/** A token is not sent in its last minute: it would end on its way. */
const MARGIN_MS = 60_000;

/** How long a token without an end of its own is kept. */
const UNKNOWN_MS = 10 * 60_000;

/**
 * One replica asks for a new token at a time, and a replica that dies while it does holds up others for so long. It is
 * longer than an authorization server may take for its metadata and its answer: a refresh token must not be used twice.
 */
const LOCK_MS = 30_000;

/** How often a replica that waits for another one looks. */
const LOOK_MS = 50;

/** One set of tokens: who and what they are for. */
export interface TokenPlace {
  /** Unique among all; it is hashed. */
  name: string;
  owner: Owner;
  /** How long they are kept without use: a refresh token's life, for example. */
  keptMs: number;
}

/** How long the login of a person who does not come back is kept. */
const PERSON_MS = 90 * 24 * 60 * 60_000;

/** Where the tokens of one person for one server are kept. */
export function placeOfPerson(server: string, principal: string): TokenPlace {
  return { name: `user\n${server}\n${principal}`, owner: { server, principal }, keptMs: PERSON_MS };
}

/** Asks for tokens. @param old the ones until now, of which a refresh token may be used; undefined: there are none */
export type Renew = (old: Tokens | undefined) => Promise<Tokens | undefined>;

interface Parts {
  state: StateStore;
  keys: StateKeys;
  clock: Clock;
}

/**
 * Tokens for servers, sealed in the state store so that every replica has them, and renewed by one of them at a time: a
 * refresh token that is used twice is revoked by careful authorization servers.
 */
export class KeptTokens {
  readonly #parts: Parts;
  readonly #here = new LRUCache<string, Tokens>({ max: MOST_KEPT });
  readonly #running = new Map<string, Promise<Tokens | undefined>>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** A good token that this process has, without a promise. */
  at({ name }: TokenPlace): Tokens | undefined {
    const tokens = this.#here.get(name);
    return tokens && this.#isGood(tokens) ? tokens : undefined;
  }

  /**
   * A good token; without one it is renewed.
   * @param bad an access token that its server has refused
   */
  async get(place: TokenPlace, renew: Renew, bad?: string): Promise<Tokens | undefined> {
    const here = this.at(place);
    if (here && here.accessToken !== bad) return here;
    const running = this.#running.get(place.name);
    if (running) return running;
    const run = this.#find(place, renew, bad).finally(() => this.#running.delete(place.name));
    this.#running.set(place.name, run);
    return run;
  }

  /** Keeps tokens that were given by a person's login. */
  async put(place: TokenPlace, tokens: Tokens): Promise<void> {
    const { state } = this.#parts;
    const key = this.#key(place.name);
    const text = this.#sealed(key, tokens);
    const old = await state.read(key);
    const isWritten =
      old === undefined
        ? await state.create(key, text, place.keptMs, place.owner)
        : await state.replace(key, old, text, place.keptMs);
    // another replica was faster: what it has put there is as new
    if (isWritten) this.#here.set(place.name, tokens);
    else this.#here.delete(place.name);
  }

  async remove({ name }: TokenPlace): Promise<void> {
    this.#here.delete(name);
    for (const key of this.#keys(name)) await this.#parts.state.remove(key);
  }

  async #find(place: TokenPlace, renew: Renew, bad: string | undefined): Promise<Tokens | undefined> {
    const { state, clock } = this.#parts;
    const lock = `${this.#key(place.name)}:renewal`;
    const mine = randomUUID();
    const until = clock.now() + LOCK_MS;
    for (;;) {
      const kept = await this.#read(place.name);
      if (kept && this.#isGood(kept) && kept.accessToken !== bad) {
        this.#here.set(place.name, kept);
        return kept;
      }
      if (await state.create(lock, mine, LOCK_MS, place.owner)) break;
      if (clock.now() > until) throw new GatewayError('state_unavailable', {}, 'the renewal of a token is held up');
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    try {
      // another replica may have renewed it since
      const kept = await this.#read(place.name);
      if (kept && this.#isGood(kept) && kept.accessToken !== bad) return kept;
      const tokens = await renew(kept);
      if (!tokens) {
        await this.#end(place, kept);
        return undefined;
      }
      await this.put(place, tokens);
      this.#here.set(place.name, tokens);
      return tokens;
    } finally {
      // only one's own: it may have run out, and be another replica's by now
      await state.replace(lock, mine, mine, 1);
    }
  }

  /** Tokens that cannot be renewed: the authorization server is not asked again for each request of their person. */
  async #end(place: TokenPlace, kept: Tokens | undefined): Promise<void> {
    this.#here.delete(place.name);
    if (kept?.refreshToken === undefined) return;
    const key = this.#key(place.name);
    const { refreshToken: _, ...rest } = kept;
    // another login may have come meanwhile
    await this.#parts.state.replace(key, this.#sealed(key, kept), this.#sealed(key, rest), place.keptMs);
  }

  async #read(name: string): Promise<Tokens | undefined> {
    for (const key of this.#keys(name)) {
      const sealed = await this.#parts.state.read(key);
      const text = sealed === undefined ? undefined : this.#parts.keys.seal.open(key, sealed);
      if (text !== undefined) return JSON.parse(text) as Tokens;
    }
    return undefined;
  }

  #isGood({ expiresAt }: Tokens): boolean {
    return expiresAt === undefined || this.#parts.clock.now() < expiresAt - MARGIN_MS;
  }

  #sealed(key: string, tokens: Tokens): string {
    const expiresAt = tokens.expiresAt ?? this.#parts.clock.now() + UNKNOWN_MS;
    return this.#parts.keys.seal.close(key, JSON.stringify({ ...tokens, expiresAt }));
  }

  #key(name: string): string {
    return this.#parts.keys.of('token', name);
  }

  #keys(name: string): string[] {
    return this.#parts.keys.all('token', name);
  }
}
