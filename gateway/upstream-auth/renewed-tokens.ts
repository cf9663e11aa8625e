import { randomUUID } from 'node:crypto';
import { LateCache } from '../budget/collections/late-cache.js';
import { GatewayError } from '../errors.js';
import type { Clock } from '../ports/clock.js';
import type { Tokens } from '../ports/oauth.js';
import type { StateStore } from '../ports/state-store.js';
import type { GrantTarget } from './grant-target.js';
import type { KeptTokens, TokenPlace } from './kept-tokens.js';

/**
 * One replica asks for a new token at a time, and a replica that dies while it does holds up others for so long. It is
 * longer than an authorization server may take for its metadata and its answer: a refresh token must not be used twice.
 */
const LOCK_MS = 30_000;

/** How often a replica that waits for another one looks. */
const LOOK_MS = 50;

/** Asks for tokens. @param old the ones until now, of which a refresh token may be used; undefined: there are none */
export type Renew = (old: Tokens | undefined) => Promise<Tokens | undefined>;

/**
 * A server that refuses a token which was renewed for it refuses the next one too: its authorization server, which may
 * serve many others, is not asked for one for each request.
 */
const HOPELESS_MS = 10_000;

/**
 * An authorization server that has given no token is not asked for the same one again for so long: while it is down, or
 * refuses the credentials, each request would ask it, and many lock a client out that does not stop.
 */
const FAILED_MS = 1000;

/** Places whose new tokens are refused, places whose tokens were renewed just now, and places that were given none. */
const MOST_HOPELESS = 1000;

interface Parts {
  state: StateStore;
  clock: Clock;
  kept: KeptTokens;
}

/**
 * Good tokens of one target, renewed by one replica at a time: a refresh token that is used twice is revoked by careful
 * authorization servers. A server that takes the place of another one by a reload has its own: it shares kept tokens, if
 * it has the same target, and never an answer to the credentials of the other one.
 */
export class RenewedTokens {
  readonly #parts: Parts;
  readonly #target: GrantTarget;
  /** By the names of their places. */
  readonly #hopeless: LateCache<string>;
  /** The access tokens that this replica has had renewed, by the names of their places. */
  readonly #renewed: LateCache<string>;
  /** The last failure of an authorization server, by the name of the place whose token it did not give. */
  readonly #failed: LateCache<GatewayError>;
  readonly #running = new Map<string, Promise<Tokens | undefined>>();

  constructor(parts: Parts, target: GrantTarget) {
    this.#parts = parts;
    this.#target = target;
    this.#hopeless = new LateCache({ max: MOST_HOPELESS, ttl: HOPELESS_MS, clock: parts.clock });
    this.#renewed = new LateCache({ max: MOST_HOPELESS, ttl: HOPELESS_MS, clock: parts.clock });
    this.#failed = new LateCache({ max: MOST_HOPELESS, ttl: FAILED_MS, clock: parts.clock });
  }

  /** A good token that this process has, without a promise. */
  at(place: TokenPlace): Tokens | undefined {
    return this.#parts.kept.at(place);
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

  /**
   * The server has refused an access token that it was given because it had refused the one before.
   * @returns true when the token was only found: another replica has had it renewed, which may be long ago
   */
  refusedAgain({ name }: TokenPlace, accessToken: string): boolean {
    if (this.#renewed.get(name) !== accessToken) return true;
    this.#hopeless.set(name, accessToken);
    return false;
  }

  /** True when another token would be refused like this one. */
  isHopeless({ name }: TokenPlace, accessToken: string | undefined): boolean {
    return accessToken !== undefined && this.#hopeless.get(name) === accessToken;
  }

  /** Nothing asks for them any longer. */
  forget(): void {
    this.#parts.kept.forget(this.#target);
  }

  async #find(place: TokenPlace, renew: Renew, bad: string | undefined): Promise<Tokens | undefined> {
    const { clock, kept } = this.#parts;
    const mine = randomUUID();
    const until = clock.now() + LOCK_MS;
    for (;;) {
      const found = await this.#good(place, bad);
      if (found) return found;
      const failure = this.#failed.get(place.name);
      if (failure) throw failure;
      if (await this.#lock(place, mine)) break;
      if (clock.now() > until) throw new GatewayError('state_unavailable', {}, 'the renewal of a token is held up');
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    try {
      // another replica may have renewed it since
      const old = await kept.read(place);
      if (old && kept.isGood(old) && old.accessToken !== bad) {
        kept.hold(place, old);
        return old;
      }
      const tokens = await this.#ask(place, () => renew(old));
      if (!tokens) {
        await kept.end(place, old);
        return undefined;
      }
      const put = await kept.put(place, tokens);
      kept.hold(place, put);
      this.#renewed.set(place.name, put.accessToken);
      return put;
    } finally {
      await this.#unlock(locksOf(kept.keysOf(place)), mine);
    }
  }

  async #ask({ name }: TokenPlace, renew: () => ReturnType<Renew>): Promise<Tokens | undefined> {
    try {
      return await renew();
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'upstream_login_failed') this.#failed.set(name, error);
      throw error;
    }
  }

  /** A lock for each secret: while one is replaced, replicas agree on some of them, and not on which is the first. */
  async #lock(place: TokenPlace, mine: string): Promise<boolean> {
    const locks = locksOf(this.#parts.kept.keysOf(place));
    for (const [at, lock] of locks.entries()) {
      if (await this.#parts.state.create(lock, mine, LOCK_MS, place.owner)) continue;
      await this.#unlock(locks.slice(0, at), mine);
      return false;
    }
    return true;
  }

  /** Only one's own: it may have run out, and be another replica's by now. One that cannot be given back runs out. */
  async #unlock(locks: readonly string[], mine: string): Promise<void> {
    for (const lock of locks) await this.#parts.state.replace(lock, mine, mine, 1).catch(() => undefined);
  }

  async #good(place: TokenPlace, bad: string | undefined): Promise<Tokens | undefined> {
    const { kept } = this.#parts;
    const tokens = await kept.read(place);
    if (!tokens || !kept.isGood(tokens) || tokens.accessToken === bad) return undefined;
    kept.hold(place, tokens);
    return tokens;
  }
}

function locksOf(keys: readonly string[]): string[] {
  return keys.map((key) => `${key}:renewal`);
}
