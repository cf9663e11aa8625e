import type { TokenClient } from '../ports/oauth.js';
import type { BearerSource } from './bearer-source.js';
import { type GrantTarget, parametersOf } from './grant-target.js';
import { startOf, type TokenPlace } from './kept-tokens.js';
import type { Renew, RenewedTokens } from './renewed-tokens.js';

/** How long a token is kept that is not used. */
const KEPT_MS = 24 * 60 * 60_000;

/** Wharf's own token for a server (RFC 6749 §4.4), the same for all callers. */
export class ClientCredentials implements BearerSource {
  readonly isCallers = false;
  readonly #tokens: RenewedTokens;
  readonly #place: TokenPlace;
  readonly #renew: Renew;

  constructor(client: TokenClient, tokens: RenewedTokens, target: GrantTarget) {
    this.#tokens = tokens;
    this.#place = { name: startOf(target), owner: { server: target.server }, keptMs: KEPT_MS };
    this.#renew = () => client.request({ grant_type: 'client_credentials', ...parametersOf(target) });
  }

  bearer(): string | Promise<string | undefined> {
    return this.#tokens.at(this.#place)?.accessToken ?? this.#get();
  }

  async another(_: unknown, refused: string | undefined): Promise<string | undefined> {
    return this.#tokens.isHopeless(this.#place, refused) ? undefined : this.#get(refused);
  }

  refusedAgain(_: unknown, bearer: string): boolean {
    return this.#tokens.refusedAgain(this.#place, bearer);
  }

  forget(): void {
    this.#tokens.forget();
  }

  async #get(refused?: string): Promise<string | undefined> {
    return (await this.#tokens.get(this.#place, this.#renew, refused))?.accessToken;
  }
}
