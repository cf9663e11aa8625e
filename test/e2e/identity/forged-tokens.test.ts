import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { Issuer } from '../../helpers/issuer.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

/** Everything below 2^53 seconds; the clocks of the issuer and of Wharf are this machine's. */
const now = () => Math.floor(Date.now() / 1000);

const b64 = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

let issuer: Issuer;
let other: Issuer;
let fake: FakeUpstream;
let wharf: Wharf;

beforeAll(async () => {
  issuer = await Issuer.start();
  other = await Issuer.start();
  fake = await startFakeUpstream({ transport: 'json', session: true });
  // a second key of the issuer, of another kind, and what must never become a key
  const rsa = await generateKeyPair('RS256', { extractable: true });
  issuer.extraKeys.push({ ...(await exportJWK(rsa.publicKey)), kid: 'rsa', alg: 'RS256' });
  issuer.extraKeys.push({ kty: 'oct', kid: 'shared', alg: 'HS256', k: b64('a secret that all the world can read') });
  wharf = await startWharf({
    servers: { hr: { url: fake.url }, hr2: { url: fake.url } },
    config: {
      auth: { use: 'jwt', jwt: { issuers: [{ issuer: issuer.url }], scopes: { '*': ['mcp'] }, maxTokenBytes: '4KiB' } },
    },
  });
});

afterAll(async () => {
  await wharf?.stop();
  await fake?.close();
  await issuer?.close();
  await other?.close();
});

const at = (server = 'hr') => `${wharf.url}/${server}/mcp`;

function ask(headers: Record<string, string>, method = 'POST', url = at()) {
  const accept = 'application/json, text/event-stream';
  if (method !== 'POST') return fetch(url, { method, headers: { accept, ...headers } });
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 'seven', method: 'initialize', params });
  return fetch(url, { method, headers: { accept, 'content-type': 'application/json', ...headers }, body });
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const good = (claims: Record<string, unknown> = {}, header: Record<string, unknown> = {}) =>
  issuer.token({ aud: at(), ...claims }, header);

/** Signed by a key of the attacker's, with whatever header. */
async function foreign(header: Record<string, unknown>, alg = 'ES256'): Promise<string> {
  const { privateKey } = await generateKeyPair(alg);
  return new SignJWT({ iss: issuer.url, sub: 'ada', aud: at(), scope: 'mcp', iat: now(), exp: now() + 300 })
    .setProtectedHeader({ alg, kid: issuer.key.kid, typ: 'at+jwt', ...header })
    .sign(privateKey);
}

/** The good token's parts, put together again by hand. */
async function rebuilt(change: (header: Record<string, unknown>, payload: Record<string, unknown>) => string[]) {
  const [head = '', body = '', signature = ''] = (await good()).split('.');
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
  const parts = change(read(head), read(body));
  return [...parts, ...[head, body, signature].slice(parts.length)].join('.');
}

/** HMAC with a public key as the secret: what RS256 to HS256 confusion is. */
async function confused(secret: string): Promise<string> {
  const head = b64({ alg: 'HS256', kid: issuer.key.kid, typ: 'at+jwt' });
  const body = b64({ iss: issuer.url, sub: 'ada', aud: at(), scope: 'mcp', exp: now() + 300 });
  return `${head}.${body}.${createHmac('sha256', secret).update(`${head}.${body}`).digest('base64url')}`;
}

type Make = () => string | Promise<string>;

const FORGED: Record<string, Make> = {
  'no JWT at all': () => 'opaque-token',
  'an empty signature': () => rebuilt((header, payload) => [b64(header), b64(payload), '']),
  'only two parts': async () => (await good()).split('.').slice(0, 2).join('.'),
  'four parts': async () => `${await good()}.x`,
  'five parts, as if it were encrypted': async () => `${await good()}.x.y`,
  'a header that is not JSON': () => rebuilt(() => [b64('{"alg":')]),
  'a payload that is not JSON': () => rebuilt((header) => [b64(header), b64('nothing')]),
  'a payload that is a list': () => rebuilt((header) => [b64(header), b64([1])]),
  'the algorithm none': () => rebuilt((_, payload) => [b64({ alg: 'none' }), b64(payload), 'AA']),
  'the algorithm None with a capital': () => rebuilt((_, payload) => [b64({ alg: 'None' }), b64(payload), 'AA']),
  'no algorithm': () => rebuilt((_, payload) => [b64({ kid: issuer.key.kid }), b64(payload), 'AA']),
  'HS256 with the public key in PEM': async () => confused(await exportSPKI(issuer.key.pair.publicKey)),
  'HS256 with the public key as JWK': async () => confused(JSON.stringify(await issuer.shown())),
  'HS256 with nothing': () => confused(''),
  'HS256 with a shared key that the issuer shows': () => confused('a secret that all the world can read'),
  'an algorithm that is not allowed': () => foreign({}, 'ES384'),
  'another key under the same kid': () => foreign({}),
  'another key that the header holds (jwk)': async () => {
    const { publicKey } = await generateKeyPair('ES256', { extractable: true });
    return foreign({ jwk: await exportJWK(publicKey) });
  },
  'another key at an address (jku)': () => foreign({ jku: `${other.url}/jwks`, kid: other.key.kid }),
  'a certificate at an address (x5u)': () => foreign({ x5u: `${other.url}/cert` }),
  'a certificate in the header (x5c)': () => foreign({ x5c: ['AAAA'] }),
  'a kid that is a path': () => foreign({ kid: '../../../../dev/null' }),
  'a kid that is a query of a database': () => foreign({ kid: "' UNION SELECT 'x" }),
  'the kid of a key of another kind': () => foreign({ kid: 'rsa' }),
  'no kid, and a key of its own': () => foreign({ kid: undefined }),
  'an extension that must be understood (crit)': () =>
    rebuilt((header, payload) => [b64({ ...header, crit: ['exp'] }), b64(payload)]),
  'a payload without base64 (b64)': () =>
    rebuilt((header, payload) => [b64({ ...header, b64: false, crit: ['b64'] }), b64(payload)]),
  'a changed subject': () => rebuilt((header, payload) => [b64(header), b64({ ...payload, sub: 'root' })]),
  'a changed signature': async () => (await good()).replace(/.{4}$/, 'AAAA'),
  'a changed header': () => rebuilt((header) => [b64({ ...header, x: 1 })]),
  'the type of an ID token': () => good({}, { typ: 'id+jwt' }),
  'the type of a logout token': () => good({}, { typ: 'logout+jwt' }),
  'the type of a proof (DPoP)': () => good({}, { typ: 'dpop+jwt' }),
  'a type that is a number': () => rebuilt((header, payload) => [b64({ ...header, typ: 5 }), b64(payload)]),
  'a list of types': () => rebuilt((header, payload) => [b64({ ...header, typ: ['at+jwt'] }), b64(payload)]),
  'the type null': () => rebuilt((header, payload) => [b64({ ...header, typ: null }), b64(payload)]),
  'an algorithm that is a list': () => rebuilt((header, payload) => [b64({ ...header, alg: ['ES256'] }), b64(payload)]),
  'a kid that is an object': () => good({}, { kid: {} }),
  'another issuer': () => other.token({ aud: at() }),
  'another issuer that claims to be the right one': async () => other.token({ aud: at(), iss: issuer.url }),
  'the issuer with a slash more': () => good({ iss: `${issuer.url}/` }),
  'the issuer in capitals': () => good({ iss: issuer.url.toUpperCase() }),
  'no issuer': () => good({ iss: undefined }),
  'a list of issuers': () => good({ iss: [issuer.url] }),
  'another audience': () => good({ aud: 'https://elsewhere.example/mcp' }),
  'the audience of another server of this gateway': () => good({ aud: at('hr2') }),
  'the gateway as its audience': () => good({ aud: wharf.url }),
  'the audience with a slash more': () => good({ aud: `${at()}/` }),
  'the audience with another port': () => good({ aud: 'http://127.0.0.1/hr/mcp' }),
  'the audience in capitals': () => good({ aud: at().toUpperCase() }),
  'the audience with a query': () => good({ aud: `${at()}?x=1` }),
  'no audience': () => good({ aud: undefined }),
  'an empty list of audiences': () => good({ aud: [] }),
  'an end that has passed': () => good({ exp: now() - 61 }),
  'no end': () => good({ exp: undefined }),
  'an end that is text': () => good({ exp: String(now() + 300) }),
  'a beginning in the future': () => good({ nbf: now() + 120 }),
  'an issue in the future': () => good({ iat: now() + 120 }),
  'no subject': () => good({ sub: undefined }),
  'an empty subject': () => good({ sub: '' }),
  'a subject with a line break': () => good({ sub: 'ada\n{"level":"info"}' }),
  'a subject that is turned around': () => good({ sub: 'ada\u202egro.' }),
  'a subject with a hidden character': () => good({ sub: 'ada\u200b' }),
  'a subject with a hidden letter': () => good({ sub: 'ada\u{e0061}' }),
  'a subject with a filler': () => good({ sub: 'ada\u3164' }),
  'a subject with a variant of a letter that has none': () => good({ sub: 'ada\ufe0f' }),
  'a subject with a joiner of nothing': () => good({ sub: 'ada\u200d' }),
  'a subject with a line separator': () => good({ sub: 'ada\u2028root' }),
  'half of a character as a subject': () => good({ sub: '\ud800' }),
  'a subject of 300 characters': () => good({ sub: 'a'.repeat(300) }),
  'a key to which it is bound (cnf)': () => good({ cnf: { jkt: 'x'.repeat(43) } }),
  'more bytes than auth.jwt.maxTokenBytes': () => good({ x: 'y'.repeat(4096) }),
  'no end of its text': async () => (await good()).slice(0, 150),
};

describe('a forged access token', () => {
  it('is told from a good one, which opens its server', async () => {
    const answer = await ask(bearer(await good()));
    expect(answer.status).toBe(200);
    expect(wharf.logged()).not.toContain(await good());
  });

  it.each(Object.entries(FORGED))('is refused before the server sees a byte: %s (G12, SEC-01)', async (_what, make) => {
    const token = await make();
    const before = fake.requests.length;
    const answer = await ask(bearer(token));
    const challenge = answer.headers.get('www-authenticate') ?? '';
    expect([answer.status, challenge]).toEqual([401, expect.stringContaining('error="invalid_token"')]);
    expect(challenge).toContain(`resource_metadata="${wharf.url}/.well-known/oauth-protected-resource/hr/mcp"`);
    expect(challenge).toContain('scope="mcp"');
    const text = await answer.text();
    expect(JSON.parse(text)).toMatchObject({
      jsonrpc: '2.0',
      id: 'seven',
      error: { data: { code: 'unauthorized' } },
    });
    // nothing of the token is repeated
    for (const part of token.split('.').filter((one) => one.length > 8))
      expect(text + wharf.logged()).not.toContain(part);
    expect(fake.requests.length).toBe(before);
  });

  it.each(['GET', 'DELETE'])('is refused for %s as well', async (method) => {
    const answer = await ask(bearer(await good({ aud: at('hr2') })), method);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"');
  });

  it('is at least one of forty', () => expect(Object.keys(FORGED).length).toBeGreaterThanOrEqual(40));

  it('never makes Wharf ask an address that it names (SEC-06)', async () => {
    const naming = await Promise.all(Object.entries(FORGED).map(async ([what, make]) => [what, await make()] as const));
    const named = naming.filter(([what]) => what.includes('at an address'));
    expect(named).toHaveLength(2);
    for (const [, token] of named) expect((await ask(bearer(token))).status).toBe(401);
    expect(other.asked).toEqual([]);
  });
});

describe('a token in another form', () => {
  it('is refused with DPoP, with the reason', async () => {
    const answer = await ask({ authorization: `DPoP ${await good()}` });
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('DPoP is not supported'),
    ]);
  });

  it('is refused in the address, even beside a good one', async () => {
    const token = await good();
    const answer = await ask(bearer(token), 'POST', `${at()}?access_token=${token}`);
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
      400,
      expect.stringContaining('error="invalid_request"'),
    ]);
  });

  it('is refused twice in one request, because a proxy may have read the other one (SEC-10)', async () => {
    const { request } = await import('node:http');
    const token = await good();
    const status = await new Promise((resolve, reject) => {
      const headers = [
        'Host',
        new URL(wharf.url).host,
        'Authorization',
        `Bearer ${token}`,
        'authorization',
        'Bearer x',
        'Accept',
        'text/event-stream',
      ];
      request(at(), { method: 'GET', headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(status).toBe(400);
  });
});
