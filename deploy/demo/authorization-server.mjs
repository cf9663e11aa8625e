// An authorization server to try Wharf's login with, for one machine: oidc-provider with everything in memory, where every
// name logs in with any password. ISSUER is its address as clients and Wharf spell it; it listens on that port.
// CI_SECRET is the secret of the client `ci`, a program that logs in without a person.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import Provider from 'oidc-provider';

const { ISSUER = 'http://127.0.0.1:9400', CI_SECRET } = process.env;
const SCOPES = 'mcp';

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const key = { ...privateKey.export({ format: 'jwk' }), kid: randomBytes(4).toString('hex'), alg: 'ES256', use: 'sig' };

const ci = {
  client_id: 'ci',
  client_secret: CI_SECRET,
  grant_types: ['client_credentials'],
  response_types: [],
  redirect_uris: [],
  scope: SCOPES,
};

const provider = new Provider(ISSUER, {
  clients: CI_SECRET ? [ci] : [],
  jwks: { keys: [key] },
  cookies: { keys: [randomBytes(16).toString('hex')] },
  scopes: ['openid', 'offline_access', SCOPES],
  clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  pkce: { required: () => true },
  ttl: { AccessToken: 900, ClientCredentials: 900, Grant: 86_400, Interaction: 600, Session: 86_400 },
  findAccount: (_, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
  // people are staff; a program is in no group
  extraTokenClaims: async (_, token) => ({ groups: token.kind === 'ClientCredentials' ? [] : ['staff'] }),
  features: {
    devInteractions: { enabled: true },
    registration: { enabled: true },
    clientCredentials: { enabled: true },
    clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => undefined,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, resource) => ({
        scope: SCOPES,
        audience: resource,
        accessTokenFormat: 'jwt',
        accessTokenTTL: 900,
        jwt: { sign: { alg: 'ES256' } },
      }),
    },
  },
});

const { port } = new URL(ISSUER);
const server = provider.listen(Number(port), () => process.stdout.write(`${ISSUER}\n`));
process.once('SIGTERM', () => server.close(() => process.exit(0)));
