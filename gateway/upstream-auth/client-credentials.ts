import type { TokenClient } from '../ports/oauth.js';
import type { BearerSource } from './bearer-source.js';
import type { KeptTokens, Renew, TokenPlace } from './kept-tokens.js';

/** How long a token is kept that is not used. */
const KEPT_MS = 24 * 60 * 60_000;

export interface GrantTarget {
  server: string;
  scope?: string | undefined;
  resource?: string | undefined;
  audience?: string | undefined;
}

/** Wharf's own token for a server (RFC 6749 §4.4), the same for all callers. */
export class ClientCredentials implements BearerSource {
  readonly isCallers = false;
  readonly #kept: KeptTokens;
  readonly #place: TokenPlace;
  readonly #renew: Renew;

  constructor(client: TokenClient, kept: KeptTokens, target: GrantTarget) {
    const { server } = target;
    this.#kept = kept;
    this.#place = { name: `client\n${server}`, owner: { server }, keptMs: KEPT_MS };
    this.#renew = () => client.request({ grant_type: 'client_credentials', ...parametersOf(target) });
  }

  bearer(): string | Promise<string | undefined> {
    return this.#kept.at(this.#place)?.accessToken ?? this.#get();
  }

  another(_: unknown, refused: string | undefined): Promise<string | undefined> {
    return this.#get(refused);
  }

  async #get(refused?: string): Promise<string | undefined> {
    return (await this.#kept.get(this.#place, this.#renew, refused))?.accessToken;
  }
}

/** What the token is for, as parameters of a grant. */
export function parametersOf({ scope, resource, audience }: GrantTarget): Record<string, string> {
  return {
    ...(scope !== undefined && { scope }),
    ...(resource !== undefined && { resource }),
    ...(audience !== undefined && { audience }),
  };
}
