import { LateCache } from '../budget/collections/late-cache.js';
import type { Clock } from '../ports/clock.js';
import type { Tokens } from '../ports/oauth.js';
import type { Owner } from '../ports/owner.js';
import type { StateStore } from '../ports/state-store.js';
import type { StateKeys } from '../secrets/state-keys.js';
import type { GrantTarget } from './grant-target.js';

/** Tokens in this process, besides the state store: some 3 kB each. */
const MOST_KEPT = 10_000;

/** A token is not sent in its last minute, because it would end on its way; of a short one, in the second half of its life. */
const MARGIN_MS = 60_000;

/** How long a token without an end of its own is used, where another can be had without a person. */
const UNKNOWN_MS = 10 * 60_000;

/** One set of tokens: who and what they are for. */
export interface TokenPlace {
  /** Unique among all; it is hashed. */
  name: string;
  owner: Owner;
  /** How long they are kept without use: a refresh token's life, for example. */
  keptMs: number;
  /** Only the person can get new ones when no refresh token is among them. */
  isPersons?: boolean;
}

/** How long the login of a person who does not come back is kept. */
const PERSON_MS = 90 * 24 * 60 * 60_000;

/** What the names of all tokens of a target begin with. */
export function startOf({ server, settings }: GrantTarget): string {
  return `${server}\n${settings}\n`;
}

/** Where the tokens of one person for one server are kept. */
export function placeOfPerson(target: GrantTarget, principal: string): TokenPlace {
  const { server } = target;
  return { name: `${startOf(target)}${principal}`, owner: { server, principal }, keptMs: PERSON_MS, isPersons: true };
}

/** Tokens, and how they are written. */
interface Found {
  key: string;
  sealed: string;
  tokens: Tokens;
}

interface Parts {
  state: StateStore;
  keys: StateKeys;
  clock: Clock;
}

/** Tokens for servers, sealed in the state store so that every replica has them. Those in use are in this process too. */
export class KeptTokens {
  readonly #parts: Parts;
  readonly #here = new LateCache<Tokens>({ max: MOST_KEPT });

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** A good token that this process has, without a promise. */
  at({ name }: TokenPlace): Tokens | undefined {
    const tokens = this.#here.get(name);
    return tokens && this.isGood(tokens) ? tokens : undefined;
  }

  /** Drops what this process has of a target's tokens; they stay in the state store until they expire there. */
  forget(target: GrantTarget): void {
    const start = startOf(target);
    for (const name of this.#here.keys()) if (name.startsWith(start)) this.#here.delete(name);
  }

  /** These are the ones to use next. */
  hold({ name }: TokenPlace, tokens: Tokens): void {
    this.#here.set(name, tokens);
  }

  /** Whatever the state store has there, good or not. */
  async read(place: TokenPlace): Promise<Tokens | undefined> {
    return (await this.#find(place))?.tokens;
  }

  async #find({ name }: TokenPlace): Promise<Found | undefined> {
    const { state, keys } = this.#parts;
    for (const key of keys.all('token', name)) {
      const sealed = await state.read(key);
      const text = sealed === undefined ? undefined : keys.seal.open(key, sealed);
      if (sealed !== undefined && text !== undefined) return { key, sealed, tokens: JSON.parse(text) as Tokens };
    }
    return undefined;
  }

  /**
   * Keeps tokens that an authorization server has given.
   * @returns them with the end that they are given here, if they have none
   */
  async put(place: TokenPlace, given: Tokens): Promise<Tokens> {
    const { state, keys } = this.#parts;
    const tokens = this.#ending(given, place);
    const key = keys.of('token', place.name);
    const text = this.#sealed(key, tokens);
    const keptMs = this.#lifeOf(tokens, place);
    const old = await state.read(key);
    const isWritten =
      old === undefined
        ? await state.create(key, text, keptMs, place.owner)
        : await state.replace(key, old, text, keptMs);
    // another replica was faster: what it has put there is as new
    if (isWritten) this.#here.set(place.name, tokens);
    else this.#here.delete(place.name);
    // a replica that prefers another secret would go on with what is there, whose refresh token is used up
    for (const other of keys.all('token', place.name)) if (other !== key) await state.remove(other);
    return tokens;
  }

  /** Tokens that cannot be renewed: the authorization server is not asked again for each request of their person. */
  async end(place: TokenPlace, kept: Tokens | undefined): Promise<void> {
    this.#here.delete(place.name);
    if (kept?.refreshToken === undefined) return;
    // where it is, and as it is written there, which may be by an older secret
    const found = await this.#find(place);
    // another login may have come meanwhile
    if (!found || JSON.stringify(found.tokens) !== JSON.stringify(kept)) return;
    const { key, sealed } = found;
    const { refreshToken: _, ...rest } = kept;
    await this.#parts.state.replace(key, sealed, this.#sealed(key, rest), place.keptMs);
  }

  isGood({ expiresAt, givenAt = Number.NEGATIVE_INFINITY }: Tokens): boolean {
    if (expiresAt === undefined) return true;
    return this.#parts.clock.now() < expiresAt - Math.min(MARGIN_MS, (expiresAt - givenAt) / 2);
  }

  /** Its keys in the state store, one for each secret, in an order that does not depend on that of the secrets. */
  keysOf({ name }: TokenPlace): string[] {
    return this.#parts.keys.all('token', name).sort();
  }

  /** How long tokens are kept: after their end only a refresh token is of use. */
  #lifeOf({ expiresAt, refreshToken }: Tokens, { keptMs }: TokenPlace): number {
    if (refreshToken !== undefined || expiresAt === undefined) return keptMs;
    return Math.max(1, Math.min(keptMs, Math.ceil(expiresAt - this.#parts.clock.now())));
  }

  /** A login that no refresh token can renew lasts until the server refuses it: an end made up here would end the login. */
  #ending(tokens: Tokens, { isPersons = false }: TokenPlace): Tokens {
    const { expiresAt, refreshToken } = tokens;
    if (expiresAt !== undefined || (isPersons && refreshToken === undefined)) return tokens;
    return { ...tokens, expiresAt: this.#parts.clock.now() + UNKNOWN_MS };
  }

  #sealed(key: string, tokens: Tokens): string {
    return this.#parts.keys.seal.close(key, JSON.stringify(tokens));
  }
}
