import { generateKeyPairSync } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import { type AuthorizationServer, startAuthorizationServer } from '../../helpers/authorization-server.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { Issuer } from '../../helpers/issuer.js';
import { RawClient } from '../../helpers/raw-client.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const RESOURCE = 'https://crm.example/mcp';
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** One key pair for each algorithm that the config takes. */
const PAIRS = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  PS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  EdDSA: generateKeyPairSync('ed25519'),
};
type Algorithm = keyof typeof PAIRS;
const ALGORITHMS = Object.keys(PAIRS) as Algorithm[];
const pem = (algorithm: Algorithm) => PAIRS[algorithm].privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

let idp: AuthorizationServer;
let issuer: Issuer;
let fake: FakeUpstream;
const running: Wharf[] = [];

beforeAll(async () => {
  issuer = await Issuer.start();
  const clients = ALGORITHMS.map((algorithm) => ({
    client_id: `wharf-${algorithm}`,
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_signing_alg: algorithm,
    grant_types: ['client_credentials', EXCHANGE],
    response_types: [],
    redirect_uris: [],
    jwks: { keys: [{ ...PAIRS[algorithm].publicKey.export({ format: 'jwk' }), alg: algorithm, use: 'sig' }] },
  }));
  idp = await startAuthorizationServer({}, clients, [issuer.url]);
  fake = await startFakeUpstream({ transport: 'json', session: true });
});

afterEach(async () => {
  for (const wharf of running.splice(0)) await wharf.stop();
  fake.requests.length = 0;
});

afterAll(async () => {
  await fake?.close();
  await issuer?.close();
  await idp?.stop();
});

async function start(upstreamAuth: object, config: Record<string, unknown> = {}): Promise<Wharf> {
  const wharf = await startWharf({ servers: { crm: { url: fake.url, upstreamAuth } }, config });
  running.push(wharf);
  return wharf;
}

const client = (algorithm: Algorithm) => ({
  issuer: idp.url,
  clientId: `wharf-${algorithm}`,
  privateKey: pem(algorithm),
  algorithm,
  scope: 'mcp',
  resource: RESOURCE,
});
const seen = () => decodeJwt((fake.requests.at(-1)?.headers.authorization ?? '').replace('Bearer ', ''));

describe('Wharf with a key instead of a secret, at a real authorization server', () => {
  it.each(ALGORITHMS)('gets a token of its own by an assertion signed with %s (SEC-25)', async (algorithm) => {
    const wharf = await start({ clientCredentials: client(algorithm) });
    await RawClient.connect(wharf.mcp);
    expect(seen()).toMatchObject({ iss: idp.url, aud: RESOURCE, client_id: `wharf-${algorithm}`, scope: 'mcp' });
    expect(wharf.logged()).not.toMatch(/PRIVATE KEY|client_assertion|eyJ/);
  });

  it("exchanges a caller's token by such an assertion (RFC 8693)", async () => {
    const jwt = { issuers: [{ issuer: issuer.url }] };
    const wharf = await start({ tokenExchange: client('ES256') }, { auth: { use: 'jwt', jwt } });
    const token = await issuer.token({ aud: wharf.mcp, sub: 'ada' });
    await RawClient.connect(wharf.mcp, '2025-06-18', { headers: { authorization: `Bearer ${token}` } });
    expect(seen()).toMatchObject({ iss: idp.url, aud: RESOURCE, sub: 'ada', client_id: 'wharf-ES256' });
    expect(fake.requests.map(({ headers }) => headers.authorization)).not.toContain(`Bearer ${token}`);
  });

  it('is refused with the key of another client, and says so', async () => {
    const wharf = await start({ clientCredentials: { ...client('RS256'), privateKey: pem('PS256') } });
    await expect(RawClient.connect(wharf.mcp)).rejects.toThrow(
      /upstream_login_failed[\s\S]*invalid_client|invalid_client/,
    );
    expect(fake.requests.length).toBe(0);
  });
});
