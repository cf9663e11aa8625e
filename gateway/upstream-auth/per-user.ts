import { GatewayError } from '../errors.js';
import type { Identity } from '../ports/identity.js';
import type { TokenClient, Tokens } from '../ports/oauth.js';
import type { BearerSource } from './bearer-source.js';
import { type GrantTarget, parametersOf } from './client-credentials.js';
import { type KeptTokens, placeOfPerson } from './kept-tokens.js';
import type { Logins } from './logins.js';

/**
 * Each person's own login at the authorization server of a server. A server is asked without a token first, because
 * many let everyone see their tools; when it refuses, the person is asked to log in.
 */
export class PerUser implements BearerSource {
  readonly isCallers = false;
  readonly #client: TokenClient;
  readonly #kept: KeptTokens;
  readonly #target: GrantTarget;
  readonly #logins: Logins;

  constructor(client: TokenClient, kept: KeptTokens, target: GrantTarget, logins: Logins) {
    this.#client = client;
    this.#kept = kept;
    this.#target = target;
    this.#logins = logins;
  }

  bearer(identity: Identity | undefined): string | undefined | Promise<string | undefined> {
    if (!identity) return undefined;
    return this.#kept.at(placeOfPerson(this.#target.server, identity.principal))?.accessToken ?? this.#get(identity);
  }

  async another(identity: Identity | undefined, refused: string | undefined): Promise<string | undefined> {
    // a person who is not there cannot log in
    if (!identity || identity.use === 'absent') return undefined;
    const { server } = this.#target;
    const renewed = refused === undefined ? undefined : await this.#get(identity, refused);
    if (renewed !== undefined) return renewed;
    const { url, id } = await this.#logins.begin(identity.principal, server);
    throw new GatewayError('upstream_login_needed', { server, url, id });
  }

  async #get({ principal }: Identity, refused?: string): Promise<string | undefined> {
    const renew = (old: Tokens | undefined) => this.#refresh(old);
    return (await this.#kept.get(placeOfPerson(this.#target.server, principal), renew, refused))?.accessToken;
  }

  async #refresh(old: Tokens | undefined): Promise<Tokens | undefined> {
    const { refreshToken } = old ?? {};
    if (refreshToken === undefined) return undefined;
    try {
      const grant = { grant_type: 'refresh_token', refresh_token: refreshToken, ...parametersOf(this.#target) };
      const tokens = await this.#client.request(grant);
      // RFC 6749 §6: the old one goes on where there is no new one
      return { ...tokens, refreshToken: tokens.refreshToken ?? refreshToken };
    } catch (error) {
      // the login is over: the person may log in again
      if (error instanceof GatewayError && error.facts.isFinal === true) return undefined;
      throw error;
    }
  }
}
