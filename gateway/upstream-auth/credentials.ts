import type { Identity } from '../ports/identity.js';
import type { UpstreamCredentials } from '../ports/upstream-auth.js';
import type { BearerSource } from './bearer-source.js';
import { type IdentityHeaders, identityHeaders } from './identity-headers.js';

/** What one server is told: a bearer from its source, and who calls. */
export class Credentials implements UpstreamCredentials {
  readonly #source: BearerSource | undefined;
  readonly #told: IdentityHeaders;

  constructor(source: BearerSource | undefined, told: IdentityHeaders) {
    this.#source = source;
    this.#told = told;
  }

  get isCallers(): boolean {
    return this.#source?.isCallers ?? false;
  }

  headersFor(identity: Identity | undefined): Record<string, string> | Promise<Record<string, string>> {
    const bearer = this.#source?.bearer(identity);
    if (bearer instanceof Promise) return bearer.then((found) => this.#headers(identity, found));
    return this.#headers(identity, bearer);
  }

  async refused(identity: Identity | undefined, sent: Record<string, string>) {
    const old = bearerOf(sent);
    const bearer = await this.#source?.another(identity, old);
    return bearer === undefined || bearer === old ? undefined : this.#headers(identity, bearer);
  }

  refusedAgain(identity: Identity | undefined, sent: Record<string, string>): boolean {
    const bearer = bearerOf(sent);
    return bearer !== undefined && (this.#source?.refusedAgain?.(identity, bearer) ?? false);
  }

  forget(): void {
    this.#source?.forget?.();
  }

  #headers(identity: Identity | undefined, bearer: string | undefined): Record<string, string> {
    const told = identityHeaders(this.#told, identity);
    if (bearer === undefined) return told;
    return { ...told, authorization: this.#source?.isWhole ? bearer : `Bearer ${bearer}` };
  }
}

function bearerOf({ authorization }: Record<string, string>): string | undefined {
  return authorization?.replace(/^Bearer /, '');
}
