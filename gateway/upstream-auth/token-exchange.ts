import { createHash } from 'node:crypto';
import { asGatewayError, GatewayError } from '../errors.js';
import { expired } from '../identity/caller-tokens.js';
import { withChallenge } from '../identity/challenge.js';
import type { Clock } from '../ports/clock.js';
import type { Identity } from '../ports/identity.js';
import type { TokenClient, Tokens } from '../ports/oauth.js';
import type { BearerSource } from './bearer-source.js';
import { type GrantTarget, parametersOf } from './grant-target.js';
import { startOf } from './kept-tokens.js';
import type { RenewedTokens } from './renewed-tokens.js';

/** A caller's token seldom lives longer. */
const KEPT_MS = 60 * 60_000;

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

/** A caller's token becomes one for the server (RFC 8693): the server knows the person, and never sees that token. */
export class TokenExchange implements BearerSource {
  readonly isCallers = false;
  readonly #client: TokenClient;
  readonly #tokens: RenewedTokens;
  readonly #target: GrantTarget;
  readonly #clock: Clock;

  constructor(client: TokenClient, tokens: RenewedTokens, target: GrantTarget, clock: Clock) {
    this.#client = client;
    this.#tokens = tokens;
    this.#target = target;
    this.#clock = clock;
  }

  bearer(identity: Identity | undefined): string | Promise<string | undefined> {
    const place = this.#place(this.#callerOf(identity));
    return this.#tokens.at(place)?.accessToken ?? this.#get(identity);
  }

  async another(identity: Identity | undefined, refused: string | undefined): Promise<string | undefined> {
    const place = this.#place(this.#callerOf(identity));
    return this.#tokens.isHopeless(place, refused) ? undefined : this.#get(identity, refused);
  }

  refusedAgain(identity: Identity | undefined, bearer: string): boolean {
    return this.#tokens.refusedAgain(this.#place(this.#callerOf(identity)), bearer);
  }

  forget(): void {
    this.#tokens.forget();
  }

  async #get(identity: Identity | undefined, refused?: string): Promise<string | undefined> {
    const caller = this.#callerOf(identity);
    const renew = async (): Promise<Tokens> => {
      const tokens = await this.#client.request({
        grant_type: GRANT,
        subject_token: caller.token,
        subject_token_type: ACCESS_TOKEN,
        requested_token_type: ACCESS_TOKEN,
        ...parametersOf(this.#target),
      });
      // never longer than the caller's own login
      return {
        ...tokens,
        expiresAt: Math.min(tokens.expiresAt ?? caller.until, caller.until),
        refreshToken: undefined,
      };
    };
    try {
      return (await this.#tokens.get(this.#place(caller), renew, refused))?.accessToken;
    } catch (error) {
      throw this.#isOver(error, caller.until) ? overOf(identity) : error;
    }
  }

  /**
   * Wharf takes a caller's token for `clockTolerance` after its end, and an authorization server that tells the time exactly
   * does not. Many clients renew a token only when it is refused, so the caller must hear that it has ended.
   */
  #isOver(error: unknown, until: number): boolean {
    return asGatewayError(error).code === 'upstream_login_failed' && until <= this.#clock.now();
  }

  #place({ token, principal }: { token: string; principal: string }) {
    const { server } = this.#target;
    const hash = createHash('sha256').update(token).digest('base64url');
    return { name: `${startOf(this.#target)}${hash}`, owner: { server, principal }, keptMs: KEPT_MS };
  }

  #callerOf(identity: Identity | undefined): { token: string; principal: string; until: number } {
    const { token, principal, use, claims } = identity ?? {};
    if (token === undefined || principal === undefined || use !== 'jwt') {
      const reason = 'the caller has no token to exchange; it must log in with one';
      throw new GatewayError('upstream_login_failed', { server: this.#target.server, reason, isFinal: true });
    }
    const { exp } = claims ?? {};
    return { token, principal, until: typeof exp === 'number' ? exp * 1000 : Number.POSITIVE_INFINITY };
  }
}

function overOf(identity: Identity | undefined): GatewayError {
  const metadataUrl = identity?.metadataUrl;
  return metadataUrl === undefined ? expired() : withChallenge(expired(), [], metadataUrl);
}
