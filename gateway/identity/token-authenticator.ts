import { asGatewayError, GatewayError } from '../errors.js';
import { holdsAll, scopesOfTool } from '../policy/scopes.js';
import type { CredentialRequest, Identity } from '../ports/identity.js';
import type { CallerTokens, KnownToken } from './caller-tokens.js';
import { withChallenge } from './challenge.js';
import { RefusedCaller } from './refused-caller.js';
import type { Resource, Resources } from './resource.js';

interface Place {
  resource: Resource | undefined;
  server: string | undefined;
}

/** What callers with tokens are let in by. */
export class TokenAuthenticator {
  readonly #tokens: CallerTokens;
  readonly #resources: Resources;
  readonly #challenge: 'all' | 'minimal';

  constructor(tokens: CallerTokens, resources: Resources, challenge: 'all' | 'minimal') {
    this.#tokens = tokens;
    this.#resources = resources;
    this.#challenge = challenge;
  }

  /**
   * Who presents a token. The answer is a promise only for a token that has not been seen.
   * @throws GatewayError `unauthorized`, `insufficient_scope`, `keys_unavailable`
   */
  admit(token: string, { url }: CredentialRequest, server: string | undefined): Identity | Promise<Identity> {
    const resource = server === undefined ? undefined : this.#resources.of(server, url);
    try {
      const known = this.#tokens.read(token);
      if (!(known instanceof Promise)) return this.#judge(known, token, { resource, server });
      return known
        .then((found) => this.#judge(found, token, { resource, server }))
        .catch((error: unknown) => {
          throw this.#challenged(error, resource);
        });
    } catch (error) {
      throw this.#challenged(error, resource);
    }
  }

  /** Refuses a call of a tool for which the caller lacks a scope. @throws GatewayError `insufficient_scope` */
  checkTool({ use, scopes, metadataUrl }: Identity, server: string, tool: string): void {
    if (use !== 'jwt') return;
    const resource = this.#resources.of(server);
    const needed = scopesOfTool(resource.scopes, tool);
    // clients refuse the description of another address than the one that they call
    if (!holdsAll(scopes, needed)) throw withChallenge(lacking(tool), needed, metadataUrl ?? resource.metadataUrl);
  }

  /** The error for a request without a token. @param takes what it could have had */
  missing({ url }: CredentialRequest, server: string | undefined, takes: 'tokens' | 'tokens and keys'): GatewayError {
    return this.#challenged(
      new GatewayError('unauthorized', { takes }),
      server === undefined ? undefined : this.#resources.of(server, url),
    );
  }

  /** An error about the form of a request's credentials. */
  malformed(thrown: unknown, { url }: CredentialRequest, server: string | undefined): GatewayError {
    return this.#challenged(thrown, server === undefined ? undefined : this.#resources.of(server, url));
  }

  /** An error with what the caller should ask for, if it is about credentials. */
  #challenged(thrown: unknown, resource: Resource | undefined): GatewayError {
    const error = asGatewayError(thrown);
    // an error that knows its scopes has been through here
    if (!resource || error.facts.resourceMetadata !== undefined) return error;
    const { scopes, metadataUrl } = resource;
    return withChallenge(error, this.#challenge === 'all' ? scopes.all : scopes.own, metadataUrl);
  }

  #judge(known: KnownToken, token: string, at: Place): Identity {
    const { resource, server } = at;
    const { identity } = known;
    try {
      this.#tokens.checkAudience(known, server === undefined ? this.#resources.ids : this.#resources.idsOf(server));
      if (resource && !holdsAll(identity.scopes, resource.scopes.own))
        throw withChallenge(lacking(), resource.scopes.own, resource.metadataUrl);
    } catch (thrown) {
      const { code, facts } = asGatewayError(thrown);
      throw new GatewayError(code, facts, new RefusedCaller(identity));
    }
    return { ...identity, base: identity, token, metadataUrl: resource?.metadataUrl };
  }
}

function lacking(tool?: string): GatewayError {
  return new GatewayError('insufficient_scope', {
    reason: tool === undefined ? 'the token lacks a scope of this server' : 'the token lacks a scope of this tool',
  });
}
