import type { Config } from '../config/config.js';
import { createAuthenticator } from '../identity/authenticator.js';
import { Resources } from '../identity/resource.js';
import { TokenAuthenticator } from '../identity/token-authenticator.js';
import { Tokens } from '../identity/tokens.js';
import type { Clock } from '../ports/clock.js';
import type { Authenticate, Identity } from '../ports/identity.js';
import type { OAuth } from '../ports/oauth.js';

/** How callers get in, as `auth` says. */
export interface OpenWaysIn {
  authenticate: Authenticate;
  /** What clients learn about logging in, where they log in at an authorization server. */
  resources: Resources | undefined;
  /** Refuses a call of a tool for which the caller lacks a scope; absent where no scopes are asked for. */
  checkTool: ((identity: Identity, server: string, tool: string) => void) | undefined;
}

interface Parts {
  /** Loads what OAuth needs; called only where tokens are taken. */
  openOAuth: () => Promise<OAuth>;
  baseUrl: () => string;
  clock: Clock;
}

export async function openWaysIn({ auth, servers }: Config, parts: Parts): Promise<OpenWaysIn> {
  const keys = auth.use === 'apiKeys' || auth.use === 'both' ? auth.keys : undefined;
  if (auth.use !== 'jwt' && auth.use !== 'both') {
    return { authenticate: createAuthenticator({ keys }), resources: undefined, checkTool: undefined };
  }
  const { jwt } = auth;
  const { openOAuth, baseUrl, clock } = parts;
  const oauth = await openOAuth();
  const verifier = oauth.verifier(jwt);
  // keys that are there before the first caller save it a wait; an issuer that is down is asked again later
  void verifier.prepare();
  const audiences = new Map(jwt.issuers.map(({ issuer, audiences }) => [issuer, audiences]));
  const tokens = new Tokens(verifier, { ...jwt, audiences }, clock);
  const resources = new Resources({
    ...jwt,
    issuers: jwt.issuers.map(({ issuer }) => issuer),
    servers: servers.map(({ name }) => name),
    baseUrl,
  });
  const authenticator = new TokenAuthenticator(tokens, resources, jwt.challenge);
  const asksScopes = Object.keys(jwt.scopes).some((place) => place.includes('.'));
  return {
    authenticate: createAuthenticator({ keys, tokens: authenticator }),
    resources,
    checkTool: asksScopes ? (identity, server, tool) => authenticator.checkTool(identity, server, tool) : undefined,
  };
}
