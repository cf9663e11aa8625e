import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { keyHash } from '../../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { Issuer } from '../../helpers/issuer.js';
import { close, listen } from '../../helpers/loopback.js';
import { RawClient } from '../../helpers/raw-client.js';
import { freshName } from '../../helpers/services.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf, type WharfOptions } from '../../helpers/wharf.js';

const KEY = 'a-key-of-a-caller';

/** An authorization server's token endpoint, which numbers its tokens. */
interface TokenServer {
  url: string;
  asked: { form: URLSearchParams; headers: IncomingHttpHeaders }[];
  /** Tokens that the server behind takes. */
  good: Set<string>;
  answer: { status: number; body: object } | undefined;
  stop: () => Promise<void>;
}

async function startTokenServer(): Promise<TokenServer> {
  const asked: TokenServer['asked'] = [];
  const good = new Set<string>();
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      asked.push({ form: new URLSearchParams(body), headers: request.headers });
      const token = `for-the-server-${asked.length}`;
      const { status, body: told } = made.answer ?? {
        status: 200,
        body: { access_token: token, token_type: 'Bearer', expires_in: 300 },
      };
      if (status === 200) good.add(token);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(told));
    });
  });
  const url = `http://127.0.0.1:${await listen(server)}/token`;
  const made: TokenServer = { url, asked, good, answer: undefined, stop: () => close(server) };
  return made;
}

let tokens: TokenServer;
let fake: FakeUpstream;
const running: Wharf[] = [];

beforeEach(async () => {
  tokens = await startTokenServer();
  fake = await startFakeUpstream({ transport: 'json', session: true });
  fake.respond = ({ headers: { authorization = '' } }) =>
    tokens.good.has(authorization.replace('Bearer ', ''))
      ? undefined
      : { status: 401, headers: { 'www-authenticate': 'Bearer resource_metadata="https://evil.example/"' } };
});

afterEach(async () => {
  for (const wharf of running.splice(0)) await wharf.stop();
  await fake.close();
  await tokens.stop();
});

async function start(upstreamAuth: object, options: Partial<WharfOptions> = {}): Promise<Wharf> {
  const wharf = await startWharf({ servers: { crm: { url: fake.url, upstreamAuth } }, ...options });
  running.push(wharf);
  return wharf;
}

const keys = { auth: { use: 'apiKeys', keys: [{ name: 'ada', hash: keyHash(KEY) }] } };
const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'echo', arguments: { text: 'x' } } };
const clientCredentials = () => ({
  clientCredentials: {
    tokenUrl: tokens.url,
    clientId: 'wharf',
    clientSecret: 'shh: +',
    scope: 'crm',
    resource: 'https://crm.example/mcp',
  },
});

const BEARER = { access_token: 'x', token_type: 'Bearer' };

describe("Wharf's own token for a server (client credentials)", () => {
  it('is asked for once, for all callers, and is in no log', async () => {
    const wharf = await start(clientCredentials(), { config: keys });
    const about = { headers: { authorization: `Bearer ${KEY}` } };
    for (let count = 0; count < 3; count++) await RawClient.connect(wharf.mcp, '2025-06-18', about);
    expect(tokens.asked.map(({ form }) => Object.fromEntries(form))).toEqual([
      { grant_type: 'client_credentials', scope: 'crm', resource: 'https://crm.example/mcp' },
    ]);
    expect(tokens.asked[0]?.headers.authorization).toBe(`Basic ${Buffer.from('wharf:shh%3A+%2B').toString('base64')}`);
    expect(new Set(fake.requests.map(({ headers }) => headers.authorization))).toEqual(
      new Set(['Bearer for-the-server-1']),
    );
    expect(wharf.logged()).not.toMatch(/for-the-server|shh/);
  });

  it('is asked for again when the server refuses it, and the call succeeds', async () => {
    const wharf = await start(clientCredentials());
    const client = await RawClient.connect(wharf.mcp);
    tokens.good.clear();
    const answer = await client.post(call);
    expect([answer.status, answer.messages[0]?.error]).toEqual([200, undefined]);
    expect(tokens.asked.length).toBe(2);
  });

  it("is tried twice at most; then it is an error of Wharf's, never a login of the client's (SEC-18)", async () => {
    const wharf = await start(clientCredentials());
    const client = await RawClient.connect(wharf.mcp);
    fake.respond = () => ({
      status: 401,
      headers: { 'www-authenticate': 'Bearer resource_metadata="https://evil.example/"' },
    });
    const before = fake.requests.length;
    const answer = await client.post({ jsonrpc: '2.0', id: 3, method: 'ping' });
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([502, null]);
    expect(answer.messages[0]?.error?.data).toMatchObject({
      code: 'upstream_unauthorized',
      setting: 'servers.crm.upstreamAuth',
    });
    expect(fake.requests.length - before).toBe(2);
  });

  it('is not asked for by each request to a server that refuses every one', async () => {
    const wharf = await start(clientCredentials());
    const client = await RawClient.connect(wharf.mcp);
    fake.respond = () => ({ status: 401 });
    const before = tokens.asked.length;
    for (let count = 0; count < 5; count++) expect((await client.post(call)).status).toBe(502);
    const statuses = await Promise.all(Array.from({ length: 10 }, async () => (await client.post(call)).status));
    expect(new Set(statuses)).toEqual(new Set([502]));
    expect(tokens.asked.length - before).toBe(1);
    // it takes the token after all
    fake.respond = undefined;
    expect((await client.post(call)).status).toBe(200);
  });

  it.each([
    ['invalid_client', 400, { error: 'invalid_client' }],
    ['HTTP 500', 500, {}],
    ['another type', 200, { access_token: 'x', token_type: 'DPoP' }],
    ['no header can hold', 200, { access_token: 'a b\r\nX-Evil: 1', token_type: 'Bearer' }],
    ['a refresh token that cannot be kept', 200, { ...BEARER, refresh_token: 'r'.repeat(20_000) }],
    ['a refresh token that cannot be kept', 200, { ...BEARER, refresh_token: 'r\u0000' }],
  ])('is an error that names the reason, without a secret, where it is not given: %s', async (reason, status, body) => {
    tokens.answer = { status, body };
    const wharf = await start(clientCredentials());
    const refused = await RawClient.connect(wharf.mcp).catch((error: unknown) => String(error));
    expect(refused).toContain('upstream_login_failed');
    expect(refused).toContain(reason);
    expect(fake.requests.length).toBe(0);
    expect(wharf.logged()).not.toContain('shh');
  });

  it('is not asked for with each request where it is not given', async () => {
    tokens.answer = { status: 503, body: {} };
    const wharf = await start(clientCredentials());
    const begun = performance.now();
    const again = async () => {
      for (let n = 0; n < 10; n++) await expect(RawClient.connect(wharf.mcp)).rejects.toThrow('HTTP 503');
    };
    await Promise.all([again(), again(), again()]);
    const seconds = Math.ceil((performance.now() - begun) / 1000);
    expect(tokens.asked.length).toBeLessThanOrEqual(1 + seconds);
    tokens.answer = undefined;
    await until(async () => {
      const client = await RawClient.connect(wharf.mcp).catch(() => undefined);
      return client !== undefined;
    });
  });

  it('is renewed by one of several replicas, for all of them', async () => {
    const shared = { stores: 's3+redis', bucket: freshName('e2e'), keyPrefix: `${freshName('auth')}:` } as const;
    const wharves = await Promise.all([start(clientCredentials(), shared), start(clientCredentials(), shared)]);
    await Promise.all([...wharves, ...wharves].map(({ mcp }) => RawClient.connect(mcp)));
    expect(tokens.asked.length).toBe(1);
  });
});

describe("a caller's token, exchanged for one of the server's (RFC 8693)", () => {
  let issuer: Issuer;
  beforeEach(async () => {
    issuer = await Issuer.start();
  });
  afterEach(() => issuer.close());

  const exchange = () => ({
    tokenExchange: { tokenUrl: tokens.url, clientId: 'wharf', clientSecret: 'shh', audience: 'crm' },
  });
  const jwt = () => ({ auth: { use: 'jwt', jwt: { issuers: [{ issuer: issuer.url }] } } });

  it('is asked for once for each login, and the server never sees the other one (SEC-02)', async () => {
    const wharf = await start(exchange(), { config: jwt() });
    const own = new Map<string, string>();
    for (const sub of ['ada', 'bob']) own.set(sub, await issuer.token({ sub, aud: wharf.mcp }));
    for (const token of [...own.values(), ...own.values()])
      await RawClient.connect(wharf.mcp, '2025-06-18', { headers: { authorization: `Bearer ${token}` } });
    expect(tokens.asked.map(({ form }) => form.get('subject_token'))).toEqual([...own.values()]);
    expect(Object.fromEntries(tokens.asked[0]?.form ?? [])).toMatchObject({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      audience: 'crm',
    });
    for (const token of own.values()) expect(fake.heard() + wharf.logged()).not.toContain(token);
  });

  it('of which the time is over has the client renew it, though the clocks may differ', async () => {
    const wharf = await start(exchange(), { config: jwt() });
    const authorization = `Bearer ${await issuer.token({ aud: wharf.mcp })}`;
    const client = await RawClient.connect(wharf.mcp, '2025-06-18', { headers: { authorization } });
    const exp = Math.floor(Date.now() / 1000) - 5;
    const over = { authorization: `Bearer ${await issuer.token({ aud: wharf.mcp, exp })}` };
    // an authorization server whose clock is late takes it
    expect((await client.post(call, over)).status).toBe(200);
    tokens.answer = { status: 400, body: { error: 'invalid_request' } };
    const late = { authorization: `Bearer ${await issuer.token({ aud: wharf.mcp, exp: exp - 1 })}` };
    const answer = await client.post(call, late);
    expect([answer.status, answer.messages[0]?.error?.data]).toEqual([
      401,
      expect.objectContaining({ code: 'unauthorized', reason: 'the token has expired' }),
    ]);
    const challenge = String(answer.headers.get('www-authenticate'));
    expect(challenge).toMatch(/^Bearer error="invalid_token", .*resource_metadata="http/);
    // the same refusal of one that has not ended is not the client's matter
    const fresh = { authorization: `Bearer ${await issuer.token({ aud: wharf.mcp, jti: 'another' })}` };
    expect((await client.post(call, fresh)).status).toBe(502);
  });
});

describe("a caller's own credential for a server (delegate)", () => {
  const send = (wharf: Wharf, headers: Record<string, string>) =>
    RawClient.connect(wharf.mcp, '2025-06-18', { headers });

  it('reaches the server beside a key of Wharf', async () => {
    tokens.good.add('of-ada-for-the-server');
    const wharf = await start({ delegate: true }, { config: keys });
    await send(wharf, { 'x-wharf-key': KEY, authorization: 'Bearer of-ada-for-the-server' });
    expect(fake.heard()).toContain('of-ada-for-the-server');
    expect(fake.heard()).not.toContain(KEY);
    expect(wharf.logged()).not.toMatch(new RegExp(`of-ada-for-the-server|${KEY}`));
  });

  it.each(['Basic YWRhOng=', 'Token of-ada', 'bearer  of-ada'])('is sent as it came: %s', async (authorization) => {
    fake.respond = undefined;
    const wharf = await start({ delegate: true }, { config: keys });
    await send(wharf, { 'x-wharf-key': KEY, authorization });
    expect(new Set(fake.requests.map(({ headers }) => headers.authorization))).toEqual(new Set([authorization]));
  });

  it('is not a key of Wharf, also where a client sends its key twice', async () => {
    fake.respond = undefined;
    const wharf = await start({ delegate: true }, { config: keys });
    await send(wharf, { 'x-wharf-key': KEY, authorization: `Bearer ${KEY}` });
    expect(fake.heard()).not.toContain(KEY);
  });

  it("is Wharf's where it is alone, and goes no further", async () => {
    const wharf = await start({ delegate: true }, { config: keys });
    await expect(send(wharf, { authorization: `Bearer ${KEY}` })).rejects.toThrow('upstream_unauthorized');
    expect(fake.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  it('does not reach a server that it is not for (SEC-02)', async () => {
    fake.respond = undefined;
    const wharf = await start({}, { config: keys });
    await send(wharf, { 'x-wharf-key': KEY, authorization: 'Bearer of-ada-for-the-server' });
    expect(fake.heard()).not.toContain('of-ada');
  });
});

describe('headers that say who calls', () => {
  it('are those of the config, whatever a client sends (SEC-19)', async () => {
    fake.respond = undefined;
    const wharf = await start(
      { identityHeaders: { 'X-User': 'principal', 'X-Key': 'key', 'X-Mail': 'claims.email' } },
      { config: keys },
    );
    const headers = { authorization: `Bearer ${KEY}`, 'x-user': 'root', x_user: 'root', 'x-mail': 'root@evil.example' };
    await RawClient.connect(wharf.mcp, '2025-06-18', { headers });
    expect(fake.requests.length).toBeGreaterThan(0);
    for (const { headers: seen } of fake.requests)
      expect([seen['x-user'], seen['x-key'], seen['x-mail'], seen.x_user]).toEqual([
        'ada',
        'ada',
        undefined,
        undefined,
      ]);
  });
});
