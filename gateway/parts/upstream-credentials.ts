import type { PerUserConfig, ServerConfig, UpstreamAuthConfig } from '../config/config.js';
import type { Audit } from '../ports/audit.js';
import type { Clock } from '../ports/clock.js';
import type { Introduction, OAuth } from '../ports/oauth.js';
import type { StateStore } from '../ports/state-store.js';
import type { ExchangeUpstream, Upstream } from '../ports/upstream.js';
import type { StateKeys } from '../secrets/state-keys.js';
import { AuthorizedUpstream } from '../upstream-auth/authorized.js';
import type { BearerSource } from '../upstream-auth/bearer-source.js';
import { ClientCredentials } from '../upstream-auth/client-credentials.js';
import { Credentials } from '../upstream-auth/credentials.js';
import { Delegate } from '../upstream-auth/delegate.js';
import { grantTarget } from '../upstream-auth/grant-target.js';
import { KeptRegistration } from '../upstream-auth/kept-registration.js';
import { KeptTokens } from '../upstream-auth/kept-tokens.js';
import { clientDocument, Logins, type LoginTarget } from '../upstream-auth/logins.js';
import type { PassedLogin } from '../upstream-auth/passed-login.js';
import { PassingUpstream } from '../upstream-auth/passing-upstream.js';
import { PerUser } from '../upstream-auth/per-user.js';
import { RenewedTokens } from '../upstream-auth/renewed-tokens.js';
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
  /** Where people log in for a server of now. */
  targetOf: (server: string) => LoginTarget | undefined;
}

/** The upstreams of a server, and where people log in for it if they do. */
export interface Authorized {
  upstreams: readonly Upstream[];
  login: LoginTarget | undefined;
}

/** Makes what servers are told about their callers, as each `upstreamAuth` says. */
export class UpstreamAuth {
  readonly #parts: Parts;
  readonly #kept: KeptTokens;
  /** People's own logins. */
  readonly logins: Logins;
  #oauth: Promise<OAuth> | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#kept = new KeptTokens(parts);
    this.logins = new Logins({ ...parts, baseUrl: parts.publicBase, kept: this.#kept });
  }

  /** One for the whole process, loaded when it is first needed. */
  oauth(): Promise<OAuth> {
    this.#oauth ??= this.#parts.openOAuth().catch((error: unknown) => {
      // the next reload tries again
      this.#oauth = undefined;
      throw error;
    });
    return this.#oauth;
  }

  /**
   * The upstreams of a server, with its credentials. Where it has some, only those over Streamable HTTP remain. Nothing is
   * changed by that: what it gives counts from when the server takes exchanges.
   */
  async authorize(
    { name, upstreamAuth }: ServerConfig,
    upstreams: readonly Upstream[],
    passed: PassedLogin | undefined,
  ): Promise<Authorized> {
    const exchanging = upstreams.filter((upstream) => upstream.channel === 'exchange');
    if (passed) return { upstreams: exchanging.map((upstream) => passing(upstream, name, passed)), login: undefined };
    if (!upstreamAuth) return { upstreams, login: undefined };
    const { source, login } = await this.#source(name, upstreamAuth);
    const credentials = new Credentials(source, upstreamAuth.identityHeaders ?? {});
    const setting = `servers.${name}.upstreamAuth`;
    return { upstreams: exchanging.map((upstream) => new AuthorizedUpstream(upstream, credentials, setting)), login };
  }

  /** How Wharf becomes known to an authorization server where it is not registered. The config has made sure of `publicUrl`. */
  #introduction(server: string, { issuer, tokenUrl = '' }: PerUserConfig): Introduction {
    const base = this.#parts.publicUrl ?? '';
    const registrations = new KeptRegistration(this.#parts, server, `${issuer}\n${tokenUrl}\n${base}`);
    return { document: clientDocument(base), registrations };
  }

  async #source(server: string, written: UpstreamAuthConfig): Promise<Sourced> {
    const { clientCredentials, tokenExchange, perUser, delegate } = written;
    if (delegate) return { source: new Delegate() };
    const settings = clientCredentials ?? tokenExchange ?? perUser;
    if (!settings) return {};
    const kind = clientCredentials ? 'clientCredentials' : tokenExchange ? 'tokenExchange' : 'perUser';
    const introduction = perUser && perUser.clientId === undefined ? this.#introduction(server, perUser) : undefined;
    const client = (await this.oauth()).client(settings, server, introduction);
    const target = grantTarget(kind, server, settings, introduction?.document.client_id);
    const tokens = new RenewedTokens({ ...this.#parts, kept: this.#kept }, target);
    if (perUser) {
      const login = { ...target, client, issuer: perUser.issuer };
      return { source: new PerUser(login, tokens, this.logins), login };
    }
    const source = clientCredentials
      ? new ClientCredentials(client, tokens, target)
      : new TokenExchange(client, tokens, target, this.#parts.clock);
    return { source };
  }
}

/** Where a server's bearer comes from, and the login that it needs. */
interface Sourced {
  source?: BearerSource;
  login?: LoginTarget;
}

/** The server gets its callers' own tokens, and its documents are asked for at the same place. */
function passing(upstream: ExchangeUpstream, server: string, passed: PassedLogin): Upstream {
  passed.serve(upstream);
  return new PassingUpstream(upstream, server, passed);
}
