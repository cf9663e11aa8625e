import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { auditLines } from '../../helpers/audit-lines.js';
import { followLogin, startAuthorizationServer } from '../../helpers/authorization-server.js';
import { keyHash } from '../../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { freePorts } from '../../helpers/gateway-process-ports.js';
import { linkIn, openLogin } from '../../helpers/person.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RotatingServer } from '../../helpers/rotating-server.js';
import { freshName, redisUrl } from '../../helpers/services.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const KEY = 'a-key-of-ada';
const BASE = 'https://wharf.example';
const SERVER = { name: 'crm', version: '1' };
const ISS = { authorization_response_iss_parameter_supported: true };

let idp: RotatingServer;
let fake: FakeUpstream;
let folder: string;
const running: Wharf[] = [];

beforeEach(async () => {
  idp = await RotatingServer.start();
  fake = await startFakeUpstream({ transport: 'json', session: true });
  folder = await mkdtemp(join(tmpdir(), 'wharf-logins-'));
  fake.respond = ({ headers: { authorization = '' }, body }) =>
    body.includes('tools/call') && !idp.good.has(authorization.replace('Bearer ', '')) ? { status: 401 } : undefined;
});

afterEach(async () => {
  for (const wharf of running.splice(0)) await wharf.stop();
  await fake.close();
  await idp.close();
  await rm(folder, { recursive: true, force: true });
});

interface Options {
  perUser?: Record<string, unknown>;
  config?: Record<string, unknown>;
  shared?: { bucket: string; keyPrefix: string };
}

/** A replica, which is called at its own port, and by its people at one public address. */
async function start({ perUser = {}, config = {}, shared }: Options = {}): Promise<Wharf & { local: string }> {
  const [port = 0] = await freePorts(1);
  const local = `http://127.0.0.1:${port}`;
  const upstreamAuth = { perUser: { issuer: idp.url, scope: 'mcp', ...perUser } };
  const auth = { use: 'apiKeys', keys: [{ name: 'ada', hash: keyHash(KEY) }] };
  const wharf = await startWharf({
    servers: { crm: { url: fake.url, upstreamAuth } },
    config: { listen: `127.0.0.1:${port}`, publicUrl: BASE, auth, ...config },
    ...(shared && { stores: 's3+redis', ...shared }),
  });
  running.push(wharf);
  return { ...wharf, local };
}

const connect = ({ local }: { local: string }) =>
  RawClient.connect(`${local}/mcp`, '2025-06-18', { headers: { authorization: `Bearer ${KEY}` } });
const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'echo', arguments: { text: 'x' } } };

/** Calls, and says whether that was allowed, or at which link the person must log in. */
async function tryCall(client: RawClient): Promise<true | string> {
  const { text, messages } = await client.post(call);
  if (messages[0]?.result && messages[0].result.isError !== true) return true;
  return linkIn(text) || text;
}

/** The person reads the page, logs in, and comes back. @param change what the browser comes back with */
async function logIn(wharf: { local: string }, link: string | true, change: (back: URL) => void = () => undefined) {
  const { href, cookie } = await openLogin(String(link).replace(BASE, wharf.local));
  const back = await followLogin(href, `${BASE}/oauth/callback`);
  change(back);
  return (await fetch(back.href.replace(BASE, wharf.local), { headers: { cookie } })).status;
}

const refreshes = () => idp.grants('refresh_token').length;

describe('a login of a person, while their tokens come and go', () => {
  it('is renewed when the server refuses the token, and the new refresh token is used next', async () => {
    const wharf = await start();
    const client = await connect(wharf);
    expect(await logIn(wharf, await tryCall(client))).toBe(200);
    for (const round of [1, 2, 3]) {
      idp.revoke('access');
      expect([await tryCall(client), refreshes(), idp.reused]).toEqual([true, round, 0]);
    }
    const used = idp.grants('refresh_token').map(({ form }) => form.get('refresh_token'));
    expect(new Set(used).size).toBe(3);
  });

  it('is renewed exactly once when two replicas need it at one time, and goes on after that (SEC-15)', async () => {
    const shared = { bucket: freshName('e2e'), keyPrefix: `${freshName('logins')}:` };
    const wharves = [await start({ shared }), await start({ shared })] as const;
    const clients = [await connect(wharves[0]), await connect(wharves[1])] as const;
    // the link of one replica works at the other
    expect(await logIn(wharves[1], await tryCall(clients[0]))).toBe(200);
    for (const round of [1, 2, 3]) {
      idp.revoke('access');
      const calls = [...clients, ...clients, ...clients].map((client) => tryCall(client));
      expect(await Promise.all(calls)).toEqual(calls.map(() => true));
      expect([refreshes(), idp.reused]).toEqual([round, 0]);
    }
    expect(idp.registered.length).toBe(1);
  });

  it('is renewed by a replica whose token is two renewals old, of which another one made the last (SEC-15)', async () => {
    const shared = { bucket: freshName('e2e'), keyPrefix: `${freshName('logins')}:` };
    const [first, second] = [await start({ shared }), await start({ shared })];
    const [renewing, resting] = [await connect(first), await connect(second)];
    expect(await logIn(second, await tryCall(resting))).toBe(200);
    expect([await tryCall(renewing), await tryCall(resting)]).toEqual([true, true]);
    idp.revoke('access');
    expect([await tryCall(renewing), refreshes()]).toEqual([true, 1]);
    // the resting one knows the first token, and finds the second: neither holds
    idp.revoke('access');
    expect([await tryCall(resting), refreshes()]).toEqual([true, 2]);
    expect([await tryCall(renewing), refreshes(), idp.reused]).toEqual([true, 2, 0]);
  });

  it('is renewed also when a file is read for the person later, by a replica whose token is old', async () => {
    const shared = { bucket: freshName('e2e'), keyPrefix: `${freshName('logins')}:` };
    const opened = { protocolVersion: '2025-06-18', capabilities: { tools: {}, resources: {} }, serverInfo: SERVER };
    const file = { type: 'string', contentEncoding: 'base64' };
    const tools = [{ name: 'take', inputSchema: { type: 'object', properties: { file } } }];
    const contents = [{ uri: 'crm://report', text: 'the report' }];
    const content = [{ type: 'resource_link', uri: 'crm://report', name: 'report.txt' }];
    fake.respond = ({ headers: { authorization = '' }, body }) => {
      const { id, method } = JSON.parse(body.toString() || '{}') as { id?: number; method?: string };
      const results = { initialize: opened, 'tools/list': { tools }, 'tools/call': { content } };
      const result = { ...results, 'resources/read': { contents } }[method ?? ''];
      if (result === undefined) return undefined;
      if (
        (method === 'tools/call' || method === 'resources/read') &&
        !idp.good.has(authorization.replace('Bearer ', ''))
      )
        return { status: 401 };
      return { contentType: 'application/json', body: JSON.stringify({ jsonrpc: '2.0', id, result }) };
    };
    const [first, second] = [await start({ shared }), await start({ shared })];
    const [renewing, resting] = [await connect(first), await connect(second)];
    expect(await logIn(second, await tryCall(resting))).toBe(200);
    // links have handles where some tool takes files
    await resting.request('tools/list', {});
    const handle = async () => /mcp-file:\/\/[\w/-]+/.exec((await resting.post(call)).text)?.[0];
    const [uri, unread] = [await handle(), await handle()];
    idp.revoke('access');
    expect([await tryCall(renewing), refreshes()]).toEqual([true, 1]);
    expect((await resting.request('resources/read', { uri })).result).toMatchObject({
      contents: [{ text: 'the report' }],
    });
    expect([refreshes(), idp.reused]).toEqual([1, 0]);
    // Wharf does this by itself: who is not there cannot log in
    idp.revoke('all');
    const refused = await resting.request('resources/read', { uri: unread });
    expect(refused.error?.data).toMatchObject({ code: 'upstream_unauthorized' });
  });

  it('is asked for again once it has been revoked, without asking the authorization server each time (SEC-23)', async () => {
    const wharf = await start();
    const client = await connect(wharf);
    await logIn(wharf, await tryCall(client));
    idp.revoke('all');
    for (let count = 0; count < 3; count++) expect(await tryCall(client)).toMatch(/oauth\/login/);
    expect(refreshes()).toBe(1);
    expect(await logIn(wharf, await tryCall(client))).toBe(200);
    expect(await tryCall(client)).toBe(true);
  });

  it('is in Redis without a readable secret, and in no line of the log or of the audit (SEC-14)', async () => {
    const shared = { bucket: freshName('e2e'), keyPrefix: `${freshName('logins')}:` };
    const path = join(folder, 'audit.jsonl');
    const wharf = await start({ shared, config: { audit: { use: 'file', path } } });
    const client = await connect(wharf);
    const link = await tryCall(client);
    await logIn(wharf, link);
    idp.revoke('access');
    expect(await tryCall(client)).toBe(true);
    // one more that is under way
    idp.revoke('all');
    const other = await tryCall(client);
    await fetch(String(other).replace(BASE, wharf.local));
    const redis = new Redis(redisUrl());
    const keys = await redis.keys(`${shared.keyPrefix}*`);
    const values = await Promise.all(
      keys.map(async (key) => ((await redis.type(key)) === 'string' ? redis.get(key) : redis.hgetall(key))),
    );
    await redis.quit();
    expect(keys.some((key) => key.includes('token:')) && keys.some((key) => key.includes('login:'))).toBe(true);
    const kept = JSON.stringify([keys, values]);
    const told = wharf.logged() + (await readFile(path, 'utf8'));
    const tickets = [link, other].map((one) => String(one).split('/').at(-1) ?? '');
    const verifiers = idp.grants('authorization_code').map(({ form }) => form.get('code_verifier') ?? '');
    expect(idp.secrets.length).toBeGreaterThan(4);
    for (const secret of [...idp.secrets, ...tickets, ...verifiers, KEY]) {
      expect(secret.length).toBeGreaterThan(5);
      expect([secret, kept.includes(secret), told.includes(secret)]).toEqual([secret, false, false]);
    }
  });
});

describe('the way back from an authorization server', () => {
  it.each<[string, string | undefined, Record<string, unknown>, (back: URL) => void, number]>([
    ['names it', 'own', {}, () => undefined, 200],
    ['names no one, as older servers do', undefined, {}, () => undefined, 200],
    ['names another one (mix-up)', 'https://evil.example', {}, () => undefined, 404],
    [
      'has lost its name, which it says that it always tells',
      'own',
      ISS,
      (back) => back.searchParams.delete('iss'),
      404,
    ],
    ['has a slash more', 'own', {}, (back) => back.searchParams.set('iss', `${idp.url}/`), 404],
    ['has another state', 'own', {}, (back) => back.searchParams.set('state', 'x'.repeat(43)), 404],
    ['has a refusal', 'own', {}, (back) => back.searchParams.delete('code'), 403],
  ])('%s (RFC 9207) (SEC-16)', async (_, iss, metadata, change, status) => {
    idp.iss = iss === 'own' ? idp.url : iss;
    idp.metadata = metadata;
    const wharf = await start();
    const client = await connect(wharf);
    expect(await logIn(wharf, await tryCall(client), change)).toBe(status);
    expect(await tryCall(client)).toEqual(status === 200 ? true : expect.stringContaining('/oauth/login/'));
    expect(idp.grants('authorization_code').length).toBe(status === 200 ? 1 : 0);
  });
});

describe('the audit log of logins at servers', () => {
  it('says who has begun one, and how it ended', async () => {
    const path = join(folder, 'audit.jsonl');
    const wharf = await start({ config: { audit: { use: 'file', path } } });
    const client = await connect(wharf);
    expect(await logIn(wharf, await tryCall(client), (back) => back.searchParams.delete('code'))).toBe(403);
    expect(
      await logIn(wharf, await tryCall(client), (back) => back.searchParams.set('iss', 'https://evil.example')),
    ).toBe(404);
    expect(await logIn(wharf, await tryCall(client), (back) => back.searchParams.set('code', 'made-up'))).toBe(502);
    expect((await fetch(`${wharf.local}/oauth/callback?state=made-up&code=x`)).status).toBe(404);
    expect(await logIn(wharf, await tryCall(client))).toBe(200);
    expect(await tryCall(client)).toBe(true);
    const about = await auditLines(path, 'consent');
    const who = { principal: 'ada', server: 'crm', address: '127.0.0.1' };
    const begun = { ...who, subject: 'login begun', allowed: true };
    const refused = { ...who, subject: 'login finished', allowed: false };
    expect(about).toMatchObject([
      begun,
      { ...refused, reason: expect.stringContaining('the person declined') },
      begun,
      { ...refused, reason: 'it came from another authorization server' },
      begun,
      { ...refused, code: 'upstream_login_failed' },
      { subject: 'login finished', allowed: false, reason: expect.stringContaining('never begun') },
      begun,
      { ...refused, allowed: true },
    ]);
    expect(about[6]).not.toHaveProperty('principal');
  });
});

describe('Wharf, where an authorization server was not told of it', () => {
  it.each([
    [['none', 'client_secret_basic'], 'none'],
    [['client_secret_post'], 'client_secret_post'],
    [undefined, 'client_secret_basic'],
  ])('registers itself once, as the server wants it: %j', async (methods, method) => {
    idp.metadata = { token_endpoint_auth_methods_supported: methods };
    const wharf = await start();
    const client = await connect(wharf);
    await logIn(wharf, await tryCall(client));
    idp.revoke('all');
    await logIn(wharf, await tryCall(client));
    expect(await tryCall(client)).toBe(true);
    expect(idp.registered).toEqual([
      expect.objectContaining({ redirect_uris: [`${BASE}/oauth/callback`], token_endpoint_auth_method: method }),
    ]);
    const { client_id: id = '', client_secret: secret } = idp.registered[0] ?? {};
    const basic = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
    for (const { form, authorization } of idp.asked)
      expect([form.get('client_id'), form.get('client_secret'), authorization]).toEqual(
        method === 'none'
          ? [id, null, undefined]
          : method === 'client_secret_post'
            ? [id, secret, undefined]
            : [null, null, basic],
      );
  });

  it('is known by its document where the server reads such documents (SEC-24)', async () => {
    idp.metadata = { client_id_metadata_document_supported: true };
    const wharf = await start();
    const client = await connect(wharf);
    await logIn(wharf, await tryCall(client));
    expect(await tryCall(client)).toBe(true);
    const document = `${BASE}/.well-known/wharf-client.json`;
    expect([idp.registered, idp.asked.map(({ form }) => form.get('client_id'))]).toEqual([[], [document]]);
  });

  it('registers anew when the server has forgotten it, after the person has logged in again', async () => {
    const wharf = await start();
    const client = await connect(wharf);
    await logIn(wharf, await tryCall(client));
    idp.forgets = true;
    idp.revoke('access');
    const link = await tryCall(client);
    expect(link).toContain('/oauth/login/');
    idp.forgets = false;
    await logIn(wharf, link);
    expect([await tryCall(client), idp.registered.length]).toEqual([true, 2]);
  });

  it('says so where it can be known in no way', async () => {
    idp.metadata = { registration_endpoint: undefined };
    const wharf = await start();
    const client = await connect(wharf);
    const page = await fetch(String(await tryCall(client)).replace(BASE, wharf.local));
    expect([page.status, await page.text()]).toEqual([502, expect.stringContaining('set clientId')]);
  });

  it('logs people in at a real authorization server, by registration and by its document', async () => {
    const about = {
      client_id: `${BASE}/.well-known/wharf-client.json`,
      client_name: 'Wharf',
      redirect_uris: [`${BASE}/oauth/callback`],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
    const real = await startAuthorizationServer({ [about.client_id]: about });
    fake.respond = ({ headers, body }) =>
      body.includes('tools/call') && !headers.authorization?.startsWith('Bearer eyJ') ? { status: 401 } : undefined;
    try {
      const seen: unknown[] = [];
      // a document's address must be https, so at this address it registers
      for (const publicUrl of [BASE, 'http://wharf.example']) {
        const wharf = await start({
          perUser: { issuer: real.url, resource: 'https://crm.example/mcp' },
          config: { publicUrl },
        });
        const client = await connect(wharf);
        const link = linkIn((await client.post(call)).text);
        expect(link).toMatch(`${publicUrl}/`);
        const { href, cookie } = await openLogin(link.replace(publicUrl, wharf.local));
        const back = await followLogin(href, `${publicUrl}/oauth/callback`);
        const end = await fetch(back.href.replace(publicUrl, wharf.local), { headers: { cookie } });
        seen.push([end.status, new URL(href).searchParams.get('client_id') === about.client_id]);
        expect((await client.post(call)).messages[0]?.result?.isError ?? false).toBe(false);
      }
      expect(seen).toEqual([
        [200, true],
        [200, false],
      ]);
    } finally {
      await real.stop();
    }
  });
});
