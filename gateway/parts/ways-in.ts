import type { Config, ServerConfig } from '../config/config.js';
import type { GatewayError } from '../errors.js';
import { createAuthenticator } from '../identity/authenticator.js';
import { CallerTokens } from '../identity/caller-tokens.js';
import { createPassing } from '../identity/passed-callers.js';
import { type LoginDocuments, Resources } from '../identity/resource.js';
import { TokenAuthenticator } from '../identity/token-authenticator.js';
import type { Clock } from '../ports/clock.js';
import type { Authenticate, Identity } from '../ports/identity.js';
import type { IssuerState, OAuth } from '../ports/oauth.js';
import type { StateKeys } from '../secrets/state-keys.js';
import { PassedLogin } from '../upstream-auth/passed-login.js';

/** How callers get in, as `auth` says. */
export interface OpenWaysIn {
  authenticate: Authenticate;
  /** What clients learn about logging in, where they log in at an authorization server. */
  resources: LoginDocuments | undefined;
  checks: CallerChecks;
  /** The authorization servers whose tokens are taken. */
  issuers: readonly IssuerState[];
  /** The login of the only server, where callers log in there. */
  passed: PassedLogin | undefined;
  /** Takes over which servers there are. */
  know: (servers: readonly ServerConfig[]) => void;
  /** Makes that server's refusal what its client can log in by. @param url of the request */
  shown: ((error: GatewayError, url: string | undefined) => GatewayError) | undefined;
}

/** What is checked besides, before Wharf does something for a caller. */
export interface CallerChecks {
  /** Refuses a call of a tool for which the caller lacks a scope; absent where no scopes are asked for. */
  checkTool: ((identity: Identity, server: string, tool: string) => void) | undefined;
  /** Whether the server has let a caller in; absent where Wharf itself does. */
  isAccepted: ((identity: Identity) => boolean) | undefined;
}

interface Parts {
  /** Loads what OAuth needs; called only where tokens are taken. */
  openOAuth: () => Promise<OAuth>;
  baseUrl: () => string;
  clock: Clock;
  keys: StateKeys;
}

/** A length at which no two tokens share a name. */
const NAME_LENGTH = 22;

/** Opens what `auth` names. With tokens it loads OAuth, but waits for no authorization server. */
export async function openWaysIn({ auth, servers }: Config, parts: Parts): Promise<OpenWaysIn> {
  const none = {
    resources: undefined,
    checks: { checkTool: undefined, isAccepted: undefined },
    issuers: [],
    passed: undefined,
    know: () => undefined,
    shown: undefined,
  };
  if (auth.use === 'passthrough') {
    // the config has made sure that there is one
    const [server] = servers as [ServerConfig];
    const { resource, serverUrl = String(server.settings.url) } = auth.passthrough;
    const { baseUrl, clock, keys } = parts;
    const passed = new PassedLogin({ resource, server: server.name, url: serverUrl, baseUrl, clock });
    const nameOf = (token: string) => keys.of('caller', token).slice('caller:'.length).slice(0, NAME_LENGTH);
    const checks = { ...none.checks, isAccepted: (identity: Identity) => passed.knows(identity) };
    return {
      ...none,
      authenticate: createPassing(nameOf),
      resources: passed,
      checks,
      passed,
      shown: (error, url) => passed.shown(error, url),
    };
  }
  const keys = auth.use === 'apiKeys' || auth.use === 'both' ? auth.keys : undefined;
  if (auth.use !== 'jwt' && auth.use !== 'both') return { ...none, authenticate: createAuthenticator({ keys }) };
  const { jwt } = auth;
  const { openOAuth, baseUrl, clock } = parts;
  const oauth = await openOAuth();
  const verifier = oauth.verifier(jwt);
  // keys that are there before the first caller save it a wait; an issuer that is down is asked again later
  void verifier.prepare();
  const audiences = new Map(jwt.issuers.map(({ issuer, audiences }) => [issuer, audiences]));
  const tokens = new CallerTokens(verifier, { ...jwt, audiences }, clock);
  const issuers = jwt.issuers.map(({ issuer }) => issuer);
  const resources = new Resources({ ...jwt, issuers, baseUrl }, namesOf(servers));
  const authenticator = new TokenAuthenticator(tokens, resources, jwt.challenge);
  const asksScopes = Object.keys(jwt.scopes).some((place) => place.includes('.'));
  return {
    ...none,
    authenticate: createAuthenticator({ keys, tokens: authenticator }),
    resources,
    issuers: verifier.issuers,
    know: (others) => resources.put(namesOf(others)),
    checks: {
      ...none.checks,
      checkTool: asksScopes ? (identity, server, tool) => authenticator.checkTool(identity, server, tool) : undefined,
    },
  };
}

function namesOf(servers: readonly ServerConfig[]): string[] {
  return servers.map(({ name }) => name);
}
