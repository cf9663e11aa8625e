// A real authorization server (oidc-provider) whose one user, ada, always agrees. Prints its address.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import Provider from 'oidc-provider';

/** The client ID metadata documents that it may fetch, by address. */
const documents = JSON.parse(process.env.CLIENT_DOCUMENTS ?? '{}');

/** Clients that are known beforehand. */
const clients = JSON.parse(process.env.CLIENTS ?? '[]');

/** Issuers whose tokens it exchanges for its own (RFC 8693). */
const exchanged = JSON.parse(process.env.EXCHANGED ?? '[]');

const SCOPES = 'mcp hr:read hr:files';

const server = createServer();
server.listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const key = { ...privateKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256', use: 'sig' };

const aboutResource = (resource) => ({
  scope: SCOPES,
  audience: resource,
  accessTokenFormat: 'jwt',
  accessTokenTTL: 300,
  jwt: { sign: { alg: 'ES256' } },
});

const provider = new Provider(issuer, {
  clients,
  jwks: { keys: [key] },
  cookies: { keys: [randomBytes(16).toString('hex')] },
  scopes: ['openid', 'offline_access', ...SCOPES.split(' ')],
  clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  pkce: { required: () => true },
  ttl: {
    AccessToken: 300,
    ClientCredentials: 300,
    AuthorizationCode: 60,
    Grant: 3600,
    Interaction: 600,
    Session: 3600,
  },
  findAccount: (_, id) => ({ accountId: id, claims: async () => ({ sub: id, groups: ['staff'] }) }),
  extraTokenClaims: async () => ({ groups: ['staff'] }),
  interactions: { url: (_, interaction) => `/agree/${interaction.uid}` },
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    clientCredentials: { enabled: true },
    clientIdMetadataDocument: { enabled: true, ack: 'draft-02', allowFetch: async (_, id) => id in documents },
    dPoP: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => undefined,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, resource) => aboutResource(resource),
    },
  },
  fetch: async (url, options) => {
    const document = documents[String(url)];
    if (document) return new Response(JSON.stringify(document), { headers: { 'content-type': 'application/json' } });
    return fetch(url, options);
  },
});

/** The person at the browser: logs in as ada and agrees to what is asked. */
async function agree(request, response) {
  const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    await provider.interactionFinished(request, response, { login: { accountId: 'ada' } });
    return;
  }
  const grant = grantId
    ? await provider.Grant.find(grantId)
    : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  const { missingOIDCScope, missingResourceScopes = {} } = prompt.details;
  if (missingOIDCScope) grant.addOIDCScope(missingOIDCScope.join(' '));
  for (const [resource, scopes] of Object.entries(missingResourceScopes))
    grant.addResourceScope(resource, scopes.join(' '));
  await provider.interactionFinished(
    request,
    response,
    { consent: { grantId: await grant.save() } },
    { mergeWithLastSubmission: true },
  );
}

/** A token of another issuer becomes one for a resource, in the name of the same person. */
async function exchange(ctx) {
  const { client, params } = ctx.oidc;
  const keys = exchanged.map((one) => createRemoteJWKSet(new URL(`${one}/jwks`)));
  const { payload } = await jwtVerify(params.subject_token, keys[0], { issuer: exchanged });
  const token = new provider.AccessToken({
    client,
    accountId: payload.sub,
    gty: 'token_exchange',
    scope: params.scope,
  });
  token.resourceServer = new provider.ResourceServer(params.resource, aboutResource(params.resource));
  ctx.body = {
    access_token: await token.save(),
    issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    token_type: 'Bearer',
    expires_in: token.expiration,
  };
}
provider.registerGrantType('urn:ietf:params:oauth:grant-type:token-exchange', exchange, [
  ...['subject_token', 'subject_token_type', 'requested_token_type', 'resource', 'audience', 'scope'],
]);

const handle = provider.callback();
server.on('request', (request, response) => {
  if (request.url.startsWith('/agree/')) {
    agree(request, response).catch((error) => response.writeHead(500).end(String(error.stack)));
    return;
  }
  handle(request, response);
});
process.stdout.write(`${issuer}\n`);
