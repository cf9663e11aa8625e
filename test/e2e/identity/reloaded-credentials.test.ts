import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { decodeJwt } from 'jose';
import { type AuthorizationServer, followLogin, startAuthorizationServer } from '../../helpers/authorization-server.js';
import { keyHash } from '../../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { freePorts } from '../../helpers/gateway-process-ports.js';
import { Issuer } from '../../helpers/issuer.js';
import { comeBack, linkIn, logIn, openLogin } from '../../helpers/person.js';
import { RawClient } from '../../helpers/raw-client.js';
import { freshName, redisUrl } from '../../helpers/services.js';
import { until } from '../../helpers/wait.js';
import { Reloading } from '../reloading.js';

const KEY = 'a-key-of-ada';
const RESOURCE = 'https://crm.example/mcp';
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const OVER = /not used any longer/;

/** Two authorization servers, real ones, which know Wharf by the same names. */
let first: AuthorizationServer;
let second: AuthorizationServer;
let issuer: Issuer;
let fake: FakeUpstream;
let port: number;
let folder: string;
let gateway: Reloading;

beforeAll(async () => {
  [port = 0] = await freePorts(1);
  const known = ['wharf', 'wharf-2'].map((client_id) => ({
    client_id,
    client_secret: 'a secret that only Wharf has',
    redirect_uris: [`http://127.0.0.1:${port}/oauth/callback`],
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials', EXCHANGE],
    response_types: ['code'],
  }));
  issuer = await Issuer.start();
  [first, second] = await Promise.all([
    startAuthorizationServer({}, known, [issuer.url]),
    startAuthorizationServer({}, known, [issuer.url]),
  ]);
  fake = await startFakeUpstream({ transport: 'json', session: true });
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-reloaded-'));
  fake.respond = undefined;
});

afterEach(async () => {
  await gateway?.stop();
  await rm(folder, { recursive: true, force: true });
});

afterAll(async () => {
  await fake?.close();
  await issuer?.close();
  await first?.stop();
  await second?.stop();
});

/** Everyone may see its tools; who calls one must have logged in. */
function refuseWithoutToken(): void {
  fake.respond = ({ headers, body }) =>
    body.includes('tools/call') && !headers.authorization?.startsWith('Bearer eyJ') ? { status: 401 } : undefined;
}

const grant = (at: AuthorizationServer, more: object = {}) => ({
  issuer: at.url,
  clientId: 'wharf',
  clientSecret: 'a secret that only Wharf has',
  scope: 'mcp',
  resource: RESOURCE,
  ...more,
});

const STATES = {
  memory: () => ({ state: { use: 'memory' } }),
  redis: () => ({
    state: { use: 'redis', url: redisUrl(), keyPrefix: `${freshName('reload')}:` },
    secret: 'the tests of this repository share this secret',
  }),
};

/** A gateway whose only server has these settings, and its config with others. */
async function begin(server: object, more: object = {}) {
  const configOf = (other: object, others: object = {}) => ({
    listen: `127.0.0.1:${port}`,
    objects: { use: 'filesystem', path: join(folder, 'data') },
    auth: { use: 'apiKeys', keys: [{ name: 'ada', hash: keyHash(KEY) }] },
    servers: { crm: { url: fake.url, ...other }, ...others },
    ...more,
  });
  gateway = await Reloading.start(folder, configOf(server));
  return configOf;
}

const connect = (headers: Record<string, string> = { authorization: `Bearer ${KEY}` }, server = 'crm') =>
  RawClient.connect(`${gateway.url}/${server}/mcp`, '2025-06-18', { headers });

/** Calls, and says whether that was allowed, or at which link the person must log in. */
async function tryCall(client: RawClient): Promise<true | string> {
  const { answer, result } = await client.call('echo', { text: 'x' });
  return result && result.isError !== true ? true : linkIn(answer.text) || answer.text;
}

const last = () => fake.requests.at(-1)?.headers ?? {};
const token = () => (last().authorization ?? '').replace('Bearer ', '');

describe.each(Object.entries(STATES))("a person's own login, while the config changes (state in %s)", (_, state) => {
  beforeEach(refuseWithoutToken);

  it('is used under no other settings, and is there when its own come back', async () => {
    const own = { perUser: grant(first) };
    const configOf = await begin({ upstreamAuth: own }, state());
    const client = await connect();
    expect(await logIn(String(await tryCall(client)))).toMatchObject({ status: 200 });
    expect(await tryCall(client)).toBe(true);
    const others = {
      issuer: grant(second),
      clientId: grant(first, { clientId: 'wharf-2' }),
      resource: grant(first, { resource: 'https://other.example/mcp' }),
      scope: grant(first, { scope: 'mcp hr:read' }),
    };
    for (const [what, perUser] of Object.entries(others)) {
      const told = await gateway.reload(configOf({ upstreamAuth: { perUser } }), OVER);
      expect(told).toContain('"changed":["crm"]');
      expect([what, await tryCall(client)]).toEqual([what, expect.stringContaining('/oauth/login/')]);
      expect([what, last().authorization]).toEqual([what, undefined]);
      await gateway.reload(configOf({ upstreamAuth: own }), OVER);
      expect([what, await tryCall(client)]).toEqual([what, true]);
    }
    await gateway.reload(configOf({ upstreamAuth: { perUser: others.issuer } }), OVER);
    await logIn(String(await tryCall(client)));
    expect(await tryCall(client)).toBe(true);
    expect(decodeJwt(token())).toMatchObject({ iss: second.url, sub: 'ada' });
  });

  it('goes on where it depends on nothing that changes, such as a secret', async () => {
    const both = { scope: 'mcp hr:read' };
    const configOf = await begin({ upstreamAuth: { perUser: grant(first, both) } }, state());
    const client = await connect();
    await logIn(String(await tryCall(client)));
    for (const upstreamAuth of [
      { perUser: grant(first, { ...both, clientSecret: 'another secret' }) },
      { perUser: grant(first, { scope: 'hr:read mcp', secretBy: 'body' }) },
      { perUser: grant(first, both), identityHeaders: { 'X-User': 'principal' } },
    ]) {
      expect(await gateway.reload(configOf({ upstreamAuth }))).toContain('"changed":["crm"]');
      expect(await tryCall(client)).toBe(true);
    }
    expect(last()['x-user']).toBe('ada');
    expect(gateway.logged()).not.toMatch(OVER);
  });

  it('that is under way counts under its own settings alone', async () => {
    const path = join(folder, 'audit.jsonl');
    const audit = { use: 'file', path };
    const configOf = await begin({ upstreamAuth: { perUser: grant(first) } }, { ...state(), audit });
    const client = await connect();
    const callback = `http://127.0.0.1:${port}/oauth/callback`;
    const unopened = String(await tryCall(client));
    const opened = await openLogin(String(await tryCall(client)));
    const others = await openLogin(String(await tryCall(client)));
    // what is no setting of the login may change while the person is away
    await gateway.reload(configOf({ upstreamAuth: { perUser: grant(first), identityHeaders: { 'X-A': 'key' } } }));
    expect(await comeBack(await followLogin(opened.href, callback), opened.cookie)).toMatchObject({ status: 200 });
    expect(await tryCall(client)).toBe(true);
    await gateway.reload(configOf({ upstreamAuth: { perUser: grant(second) } }), OVER);
    const back = await followLogin(others.href, callback);
    const text = expect.stringContaining('How people log in for the server <b>crm</b> has changed');
    expect(await comeBack(back, others.cookie)).toMatchObject({ status: 409, text });
    await until(() => gateway.logged().includes('a login at a server was given up'));
    await until(async () => (await readFile(path, 'utf8')).includes('a reload has changed how people log in there'));
    expect(await tryCall(client)).toContain('/oauth/login/');
    // nothing has begun by a link that no one has opened
    expect(new URL((await openLogin(unopened)).href).origin).toBe(second.url);
  });
});

describe.each(Object.entries(STATES))('what a server is sent, while the config changes (state in %s)', (_, state) => {
  it('is what the config of now says, of every kind, in one session', async () => {
    const configOf = await begin({}, state());
    const client = await connect({ 'x-wharf-key': KEY, authorization: 'Bearer of-ada-for-the-server' });
    const sent = async (server: object) => {
      await gateway.reload(configOf(server));
      expect(await tryCall(client)).toBe(true);
      return token();
    };
    const own = { upstreamAuth: { clientCredentials: grant(first) } };
    const before = await sent(own);
    expect(decodeJwt(before)).toMatchObject({ iss: first.url, client_id: 'wharf', aud: RESOURCE });
    const steps: [object, unknown][] = [
      [grant(second), { iss: second.url, client_id: 'wharf' }],
      [grant(second, { clientId: 'wharf-2' }), { iss: second.url, client_id: 'wharf-2' }],
      [grant(second, { resource: 'https://b.example/mcp' }), { iss: second.url, aud: 'https://b.example/mcp' }],
    ];
    for (const [clientCredentials, claims] of steps)
      expect(decodeJwt(await sent({ upstreamAuth: { clientCredentials } }))).toMatchObject(claims as object);
    expect(await sent({ headers: { Authorization: 'Bearer constant' } })).toBe('constant');
    expect(await sent({})).toBe('');
    expect(await sent({ upstreamAuth: { delegate: true } })).toBe('of-ada-for-the-server');
    expect(await sent({ upstreamAuth: { identityHeaders: { 'X-User': 'principal' } } })).toBe('');
    expect(last()['x-user']).toBe('ada');
    // its token was kept, and holds
    expect(await sent(own)).toBe(before);
    expect(gateway.logged()).not.toMatch(/eyJ|of-ada-for-the-server|a secret that/);
  });
});

describe('a config with other credentials for servers', () => {
  it('leaves those of a call under way as they were', async () => {
    const configOf = await begin({ upstreamAuth: { clientCredentials: grant(first) } });
    const client = await connect();
    const content = [{ type: 'text', text: 'from before' }];
    fake.respond = ({ body }) => {
      if (!body.includes('tools/call')) return undefined;
      const { id } = JSON.parse(body.toString()) as { id: number };
      const answer = JSON.stringify({ jsonrpc: '2.0', id, result: { content } });
      return { headDelayMs: 1500, contentType: 'application/json', body: answer };
    };
    const seen = fake.requests.length;
    const running = client.call('echo', { text: 'x' });
    await until(() => fake.requests.slice(seen).some(({ body }) => body.includes('tools/call')));
    expect(decodeJwt(token()).iss).toBe(first.url);
    fake.respond = undefined;
    await gateway.reload(configOf({ upstreamAuth: { clientCredentials: grant(second) } }));
    expect(await tryCall(client)).toBe(true);
    expect(decodeJwt(token()).iss).toBe(second.url);
    expect((await running).result?.content).toEqual(content);
  });

  it('adds the first server at which people log in, and takes it away', async () => {
    refuseWithoutToken();
    const document = () => fetch(`${gateway.url}/.well-known/wharf-client.json`).then(({ status }) => status);
    const configOf = await begin({});
    expect(await document()).toBe(404);
    const erp = { url: fake.url, upstreamAuth: { perUser: grant(first) } };
    expect(await gateway.reload(configOf({}, { erp }))).toContain('"changed":["erp"]');
    expect(await document()).toBe(200);
    const client = await connect(undefined, 'erp');
    const opened = await openLogin(String(await tryCall(client)));
    expect(await logIn(String(await tryCall(client)))).toMatchObject({ status: 200 });
    expect(await tryCall(client)).toBe(true);
    await gateway.reload(configOf({}), OVER);
    expect(await document()).toBe(404);
    const back = await followLogin(opened.href, `${gateway.url}/oauth/callback`);
    expect(await comeBack(back, opened.cookie)).toMatchObject({ status: 409 });
  });

  it('may add servers that get exchanged tokens, where callers log in by OAuth', async () => {
    const jwt = { issuers: [{ issuer: issuer.url }] };
    const crm = { upstreamAuth: { tokenExchange: grant(first) } };
    const configOf = await begin(crm, { auth: { use: 'jwt', jwt } });
    const base = gateway.url;
    const own = await issuer.token({ aud: [`${base}/crm/mcp`, `${base}/erp/mcp`] });
    const headers = { authorization: `Bearer ${own}` };
    const metadata = (server: string) =>
      fetch(`${base}/.well-known/oauth-protected-resource/${server}/mcp`).then(({ status }) => status);
    expect(await tryCall(await connect(headers))).toBe(true);
    expect(decodeJwt(token())).toMatchObject({ iss: first.url, sub: 'ada' });
    expect([await metadata('crm'), await metadata('erp')]).toEqual([200, 404]);
    const erp = { url: fake.url, upstreamAuth: { tokenExchange: grant(first, { resource: 'https://erp.example/' }) } };
    const told = await gateway.reload(configOf({ upstreamAuth: { tokenExchange: grant(second) } }, { erp }));
    expect(told).toContain('"changed":["crm","erp"]');
    expect(await tryCall(await connect(headers))).toBe(true);
    expect(decodeJwt(token())).toMatchObject({ iss: second.url, sub: 'ada' });
    expect(await tryCall(await connect(headers, 'erp'))).toBe(true);
    expect(decodeJwt(token())).toMatchObject({ iss: first.url, aud: 'https://erp.example/' });
    expect([await metadata('crm'), await metadata('erp'), await metadata('')]).toEqual([200, 200, 404]);
    await gateway.reload(configOf(crm));
    await expect(connect(headers, 'erp')).rejects.toThrow('No server is called');
    expect(await metadata('erp')).toBe(404);
    expect(fake.requests.map(({ headers: { authorization } }) => authorization)).not.toContain(headers.authorization);
  });

  it.each<[string, object, string]>([
    ['two kinds of them', { clientCredentials: {}, delegate: true }, 'a server gets one kind of credentials'],
    ['a kind that the way in does not allow', { tokenExchange: {} }, 'needs auth: jwt'],
    [
      'a key that is none',
      { clientCredentials: { privateKey: '-----BEGIN PRIVATE KEY-----' } },
      'a private key in PEM',
    ],
    ['no issuer', { clientCredentials: { issuer: undefined } }, 'needs \\"issuer\\" or \\"tokenUrl\\"'],
  ])('changes nothing when it has %s, and says why', async (_, bad, why) => {
    const configOf = await begin({ upstreamAuth: { clientCredentials: grant(first) } });
    const client = await connect();
    const whole = Object.entries(bad).map(([kind, more]) => [kind, more === true ? true : grant(second, more)]);
    const config = configOf({ upstreamAuth: Object.fromEntries(whole) });
    expect(await gateway.reload(config, /nothing was changed/)).toContain(why);
    expect(await tryCall(client)).toBe(true);
    expect(decodeJwt(token()).iss).toBe(first.url);
  });
});
