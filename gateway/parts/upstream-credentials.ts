import type { ServerConfig, UpstreamAuthConfig } from '../config/config.js';
import type { StateKeys } from '../files/state-keys.js';
import type { Audit } from '../ports/audit.js';
import type { Clock } from '../ports/clock.js';
import type { Introduction, OAuth } from '../ports/oauth.js';
import type { StateStore } from '../ports/state-store.js';
import type { ExchangeUpstream, Upstream } from '../ports/upstream.js';
import { AuthorizedUpstream } from '../upstream-auth/authorized.js';
import type { BearerSource } from '../upstream-auth/bearer-source.js';
import { ClientCredentials } from '../upstream-auth/client-credentials.js';
import { Credentials } from '../upstream-auth/credentials.js';
import { Delegate } from '../upstream-auth/delegate.js';
import { KeptRegistration } from '../upstream-auth/kept-registration.js';
import { KeptTokens } from '../upstream-auth/kept-tokens.js';
import { clientDocument, Logins } from '../upstream-auth/logins.js';
import type { PassedLogin } from '../upstream-auth/passed-login.js';
import { PassingUpstream } from '../upstream-auth/passing-upstream.js';
import { PerUser } from '../upstream-auth/per-user.js';
import { TokenExchange } from '../upstream-auth/token-exchange.js';

interface Parts {
  state: StateStore;
  keys: StateKeys;
  clock: Clock;
  /** What every address of Wharf begins with. */
  publicBase: () => string;
  /** As the config says it. */
  publicUrl: string | undefined;
  /** Loads what OAuth needs; called only where it is needed. */
  openOAuth: () => Promise<OAuth>;
  audit: Audit;
}

/** Makes what servers are told about their callers, as each `upstreamAuth` says. */
export class UpstreamAuth {
  readonly #parts: Parts;
  readonly #kept: KeptTokens;
  readonly #logins: Logins;
  #oauth: Promise<OAuth> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#kept = new KeptTokens(parts);
    this.#logins = new Logins({ ...parts, baseUrl: parts.publicBase, kept: this.#kept });
  }

  /** One for the whole process, loaded when it is first needed. */
  oauth(): Promise<OAuth> {
    this.#oauth ??= this.#parts.openOAuth();
    return this.#oauth;
  }

  /** People's own logins; undefined where no server asks for them. Known once every server is authorized. */
  get logins(): Logins | undefined {
    return this.#logins.isUsed ? this.#logins : undefined;
  }

  /** The upstreams of a server, with its credentials. Where it has some, only those over Streamable HTTP remain. */
  async authorized(
    { name, upstreamAuth }: ServerConfig,
    upstreams: readonly Upstream[],
    passed: PassedLogin | undefined,
  ): Promise<readonly Upstream[]> {
    if (passed)
      return upstreams.flatMap((upstream) =>
        upstream.channel === 'exchange' ? [passing(upstream, name, passed)] : [],
      );
    if (!upstreamAuth) return upstreams;
    const source = await this.#source(name, upstreamAuth);
    const credentials = new Credentials(source, upstreamAuth.identityHeaders ?? {});
    const setting = `servers.${name}.upstreamAuth`;
    return upstreams.flatMap((upstream) =>
      upstream.channel === 'exchange' ? [new AuthorizedUpstream(upstream, credentials, setting)] : [],
    );
  }

  /** How Wharf becomes known to an authorization server where it is not registered. The config has made sure of `publicUrl`. */
  #introduction(server: string, issuer: string): Introduction {
    const base = this.#parts.publicUrl ?? '';
    const registrations = new KeptRegistration(this.#parts, server, `${issuer}\n${base}`);
    return { document: clientDocument(base), registrations };
  }

  async #source(server: string, written: UpstreamAuthConfig): Promise<BearerSource | undefined> {
    const { clientCredentials, tokenExchange, perUser, delegate } = written;
    if (delegate) return new Delegate();
    const settings = clientCredentials ?? tokenExchange ?? perUser;
    if (!settings) return undefined;
    const { scope, resource, audience } = settings;
    const introduction =
      perUser && perUser.clientId === undefined ? this.#introduction(server, perUser.issuer) : undefined;
    const client = (await this.oauth()).client(settings, server, introduction);
    const target = { server, scope, resource, audience };
    if (perUser) {
      this.#logins.add({ ...target, client, issuer: perUser.issuer });
      return new PerUser(client, this.#kept, target, this.#logins);
    }
    return clientCredentials
      ? new ClientCredentials(client, this.#kept, target)
      : new TokenExchange(client, this.#kept, target);
  }
}

/** The server gets its callers' own tokens, and its documents are asked for at the same place. */
function passing(upstream: ExchangeUpstream, server: string, passed: PassedLogin): Upstream {
  passed.serve(upstream);
  return new PassingUpstream(upstream, server, passed);
}
