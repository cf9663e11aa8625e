import { GatewayError } from '../errors.js';
import type { Identity } from '../ports/identity.js';
import type { Tokens } from '../ports/oauth.js';
import type { BearerSource } from './bearer-source.js';
import { parametersOf } from './grant-target.js';
import { placeOfPerson } from './kept-tokens.js';
import type { Logins, LoginTarget } from './logins.js';
import type { RenewedTokens } from './renewed-tokens.js';

/**
 * Each person's own login at the authorization server of a server. A server is asked without a token first, because
 * many let everyone see their tools; when it refuses, the person is asked to log in.
 */
export class PerUser implements BearerSource {
  readonly isCallers = false;
  readonly #target: LoginTarget;
  readonly #tokens: RenewedTokens;
  readonly #logins: Logins;

  constructor(target: LoginTarget, tokens: RenewedTokens, logins: Logins) {
    this.#target = target;
    this.#tokens = tokens;
    this.#logins = logins;
  }

  bearer(identity: Identity | undefined): string | undefined | Promise<string | undefined> {
    if (!identity) return undefined;
    return this.#tokens.at(placeOfPerson(this.#target, identity.principal))?.accessToken ?? this.#get(identity);
  }

  async another(identity: Identity | undefined, refused: string | undefined): Promise<string | undefined> {
    if (!identity) return undefined;
    const { server } = this.#target;
    // it was renewed just now, and another login would be as new
    if (this.#tokens.isHopeless(placeOfPerson(this.#target, identity.principal), refused)) return undefined;
    const renewed = refused === undefined ? undefined : await this.#get(identity, refused);
    // a person who is not there cannot log in
    if (renewed !== undefined || identity.use === 'absent') return renewed;
    const { url, id } = await this.#logins.begin(identity.principal, server);
    throw new GatewayError('upstream_login_needed', { server, url, id });
  }

  refusedAgain(identity: Identity | undefined, bearer: string): boolean {
    return identity !== undefined && this.#tokens.refusedAgain(placeOfPerson(this.#target, identity.principal), bearer);
  }

  forget(): void {
    this.#tokens.forget();
  }

  async #get({ principal }: Identity, refused?: string): Promise<string | undefined> {
    const renew = (old: Tokens | undefined) => this.#refresh(old);
    return (await this.#tokens.get(placeOfPerson(this.#target, principal), renew, refused))?.accessToken;
  }

  async #refresh(old: Tokens | undefined): Promise<Tokens | undefined> {
    const { refreshToken } = old ?? {};
    if (refreshToken === undefined) return undefined;
    try {
      const grant = { grant_type: 'refresh_token', refresh_token: refreshToken, ...parametersOf(this.#target) };
      const tokens = await this.#target.client.request(grant);
      // RFC 6749 §6: the old one goes on where there is no new one
      return { ...tokens, refreshToken: tokens.refreshToken ?? refreshToken };
    } catch (error) {
      // the login is over: the person may log in again
      if (error instanceof GatewayError && error.facts.isFinal === true) return undefined;
      throw error;
    }
  }
}
