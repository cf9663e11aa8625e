import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { verifyFiles } from '../../../gateway/audit/verify.js';
import { auditLines } from '../../helpers/audit-lines.js';
import { type AuthorizationServer, startAuthorizationServer } from '../../helpers/authorization-server.js';
import { keyHash } from '../../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { Issuer } from '../../helpers/issuer.js';
import { Login } from '../../helpers/sdk-login.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

type Line = Record<string, unknown> & { token?: Record<string, unknown> };

let folder: string;
let path: string;
let idp: AuthorizationServer;
let issuer: Issuer;
let fake: FakeUpstream;
let wharf: Wharf;
const sent: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-logins-'));
  path = join(folder, 'audit.jsonl');
  idp = await startAuthorizationServer();
  issuer = await Issuer.start();
  fake = await startFakeUpstream({ transport: 'json', session: true });
  wharf = await start();
});

afterAll(async () => {
  await wharf?.stop();
  await fake?.close();
  await issuer?.close();
  await idp?.stop();
  await rm(folder, { recursive: true, force: true });
});

function start(): Promise<Wharf> {
  const jwt = { issuers: [{ issuer: idp.url }, { issuer: issuer.url }], scopes: { '*': ['mcp'] } };
  return startWharf({
    servers: { hr: { url: fake.url }, web: { url: fake.url } },
    config: {
      auth: { use: ['apiKeys', 'jwt'], keys: [{ name: 'ci', hash: keyHash('a-key-of-ci') }], jwt },
      audit: { use: 'file', path },
    },
  });
}

const at = (server: string) => `${wharf.url}/${server}/mcp`;

const lines = () => auditLines<Line>(path);

/** What a block of work has added to the log about logins. */
async function added(work: () => Promise<unknown>): Promise<Line[]> {
  const before = (await lines()).length;
  await work();
  // a call's line is written before its answer, and behind everything that was noted before
  await ask({ authorization: 'Bearer a-key-of-ci' });
  return (await lines()).slice(before).filter(({ what, principal }) => what === 'login' && principal !== 'ci');
}

async function ask(headers: Record<string, string>, server = 'hr'): Promise<number> {
  const { authorization = '' } = headers;
  sent.push(authorization.replace(/^Bearer /, ''));
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'desk', version: '1' } };
  const answer = await fetch(at(server), {
    method: 'POST',
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
  await answer.text();
  return answer.status;
}

const bearer = async (claims: Record<string, unknown>, from = issuer) => ({
  authorization: `Bearer ${await from.token({ aud: at('hr'), ...claims })}`,
});

describe('the audit log of clients that log in', () => {
  it('has one line for a token of a real client, however many calls it makes with it', async () => {
    const login = new Login();
    const about = await added(async () => {
      const connect = async () => {
        const client = new Client({ name: 'desk', version: '1' });
        const transport = new StreamableHTTPClientTransport(new URL(at('hr')), { authProvider: login });
        return { client, transport, failure: await client.connect(transport).catch((error: unknown) => error) };
      };
      const first = await connect();
      await first.transport.finishAuth(login.code);
      const { client, failure } = await connect();
      expect(failure).toBeUndefined();
      for (let n = 0; n < 5; n++) await client.callTool({ name: 'echo', arguments: { text: String(n) } });
      sent.push(String((login.tokens() as unknown as { access_token: string }).access_token));
      await client.close();
    });
    const principal = `${idp.url}|ada`;
    const address = '127.0.0.1';
    expect(about).toMatchObject([
      { allowed: false, address, server: 'hr', code: 'unauthorized', rule: 'auth', reason: 'there is no credential' },
      { allowed: true, subject: 'token', principal, address, server: 'hr' },
      { allowed: true, subject: 'session', principal, address, server: 'hr', client: 'desk' },
    ]);
    expect(about[1]?.token).toEqual({ issuer: idp.url, client: login.clientId, id: expect.any(String) });
    expect(about[2]?.token).toBeUndefined();
  });

  it('has another line for another token of the same caller, and tells them apart without a jti', async () => {
    const good = await bearer({ azp: 'desk-app', jti: 'the-first' });
    const about = await added(async () => {
      expect(await ask(good)).toBe(200);
      expect(await ask(good)).toBe(200);
      expect(await ask(await bearer({ azp: 'desk-app', jti: 'the-second' }))).toBe(200);
      expect(await ask(await bearer({}))).toBe(200);
      for (const end of ['a', 'b']) expect(await ask(await bearer({ jti: `${'long-'.repeat(40)}${end}` }))).toBe(200);
    });
    const hash = expect.stringMatching(/^sha256:.{16}$/);
    const tokens = about.filter(({ subject }) => subject === 'token').map(({ token }) => token);
    expect(tokens).toEqual([
      { issuer: issuer.url, client: 'desk-app', id: 'the-first' },
      { issuer: issuer.url, client: 'desk-app', id: 'the-second' },
      ...[hash, hash, hash].map((id) => ({ issuer: issuer.url, id })),
    ]);
  });

  it('says why a token was refused, and what of it is only claimed', async () => {
    const stranger = await Issuer.start();
    const past = Math.floor(Date.now() / 1000) - 4000;
    const about = await added(async () => {
      expect(await ask(await bearer({ azp: 'desk-app', exp: past }))).toBe(401);
      expect(await ask(await bearer({ azp: 'evil-app' }, stranger))).toBe(401);
      expect(await ask(await bearer({ azp: 'desk-app' }), 'web')).toBe(401);
      expect(await ask(await bearer({ azp: 'desk-app', scope: 'other' }))).toBe(403);
      expect(await ask({ authorization: 'Bearer eyJ.not.json' })).toBe(401);
    });
    await stranger.close();
    const principal = `${issuer.url}|ada`;
    const id = expect.any(String);
    const verified = { issuer: issuer.url, client: 'desk-app', id };
    expect(about.map(({ rule, reason, server, token, principal: who }) => [rule, reason, server, who, token])).toEqual([
      ...[['auth.jwt', 'the token has expired', 'hr', undefined, { ...verified, id: undefined, claimed: true }]],
      [
        ...['auth.jwt', 'the token is from an issuer that is not trusted here', 'hr', undefined],
        { issuer: stranger.url, client: 'evil-app', claimed: true },
      ],
      ['auth.jwt', 'the token is for another resource', 'web', principal, verified],
      ['auth.jwt.scopes', 'the token lacks a scope of this server', 'hr', principal, verified],
      ['auth.jwt', 'the token is not a signed JWT', 'hr', undefined, undefined],
    ]);
  });

  it('has one line for a hundred guesses of one address, and one with their number', async () => {
    const before = (await lines()).length;
    for (let n = 0; n < 100; n++) await ask({ authorization: `Bearer guessed-${n}` }, 'web');
    // the number is written when its minute is over, or at the end
    await wharf.stop();
    wharf = await start();
    const about = (await lines()).slice(before).filter(({ server }) => server === 'web');
    const reason = 'it is not a credential that is known here';
    const guess = { what: 'login', allowed: false, address: '127.0.0.1', rule: 'auth', reason };
    expect(about).toMatchObject([guess, { ...guess, count: 99, since: expect.any(String) }]);
    expect(about[0]?.count).toBeUndefined();
  });

  it('holds no token and no key, and is one whole chain', async () => {
    expect(await ask(await bearer({}))).toBe(200);
    const text = await readFile(path, 'utf8');
    const rights = sent.filter((each) => each.length > 8);
    expect(rights).not.toEqual([]);
    for (const one of rights) expect(text).not.toContain(one);
    expect((await verifyFiles([path])).faults).toEqual([]);
  });
});
