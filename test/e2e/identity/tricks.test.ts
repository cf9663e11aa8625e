import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { keyHash } from '../../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { Issuer } from '../../helpers/issuer.js';
import { close, listen } from '../../helpers/loopback.js';
import { RawClient } from '../../helpers/raw-client.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const KEY = 'a-key-of-ci';

let issuer: Issuer;
let fake: FakeUpstream;
let wharf: Wharf;

beforeAll(async () => {
  issuer = await Issuer.start();
  fake = await startFakeUpstream({ transport: 'json', session: true });
  wharf = await startWharf({
    servers: {
      hr: { url: fake.url, tools: { delete_old: { name: 'tidy_up' } } },
      web: { url: fake.url, allow: [{ group: 'web', tools: ['*', '!drop_*'] }] },
    },
    config: {
      auth: {
        use: ['apiKeys', 'jwt'],
        keys: [{ name: 'ci', hash: keyHash(KEY), servers: ['hr'], tools: ['hr.*', '!hr.delete_*'] }],
        jwt: { issuers: [{ issuer: issuer.url }], scopes: { '*': ['mcp'], 'hr.delete_*': ['hr:write'] } },
      },
    },
  });
});

afterAll(async () => {
  await wharf?.stop();
  await fake?.close();
  await issuer?.close();
});

beforeEach(() => {
  fake.requests.length = 0;
});

const at = (server: string) => `${wharf.url}/${server}/mcp`;
const bearer = async (server: string, claims: Record<string, unknown> = {}) => ({
  authorization: `Bearer ${await issuer.token({ aud: at(server), ...claims })}`,
});
const callsSeen = () => fake.requests.filter(({ body }) => body.includes('tools/call')).length;
const callOf = (name: string) => ({ jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name, arguments: {} } });

/** Spellings that another program could read as one name. */
const SPELLINGS = [
  'Delete_user',
  'DELETE_USER',
  'ｄelete_user',
  'delete\u200b_user',
  ' delete_user',
  'delete_user\u0000',
];

describe('a call that needs more rights than its caller has', () => {
  it.each(['delete_user', ...SPELLINGS, 'tidy_up'])(
    'does not reach the server under the name %j, and its caller learns what to ask for (SEC-07, SEC-08)',
    async (name) => {
      const client = await RawClient.connect(at('hr'), '2025-06-18', { headers: await bearer('hr') });
      const answer = await client.post(callOf(name));
      expect([answer.status, callsSeen()]).toEqual([403, 0]);
      expect(answer.headers.get('www-authenticate')).toContain('error="insufficient_scope"');
      expect(answer.headers.get('www-authenticate')).toContain('scope="mcp hr:write"');
    },
  );

  it.each(SPELLINGS)(
    'does not reach the server of a key from which its tool is taken away: %j (SEC-08)',
    async (name) => {
      const client = await RawClient.connect(at('hr'), '2025-06-18', { headers: { 'x-wharf-key': KEY } });
      const answer = await client.post(callOf(name));
      expect([answer.messages[0]?.error?.data?.code, callsSeen()]).toEqual(['tool_unknown', 0]);
    },
  );

  it.each(['drop_table', 'Drop_table', 'ＤＲＯＰ_table'])(
    "does not reach a server that takes the tool away from its caller's group: %j",
    async (name) => {
      const headers = await bearer('web', { groups: ['web'] });
      const client = await RawClient.connect(at('web'), '2025-06-18', { headers });
      expect((await client.post(callOf(name))).messages[0]?.error?.data?.code).toBe('tool_unknown');
      expect(callsSeen()).toBe(0);
    },
  );

  it('does not reach the server in a batch with calls that are allowed (SEC-07)', async () => {
    const client = await RawClient.connect(at('hr'), '2025-03-26', { headers: await bearer('hr') });
    const batch = [
      { ...callOf('echo'), id: 1 },
      { ...callOf('delete_user'), id: 2 },
    ];
    const answer = await client.post(batch as never);
    expect([answer.status, callsSeen()]).toEqual([403, 0]);
  });

  it.each([
    '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","name":"delete_user","arguments":{}}}',
    '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","n\\u0061me":"delete_user","arguments":{}}}',
    '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","Name":"delete_user","arguments":{}}}',
    '{"jsonrpc":"2.0","id":5,"method":"ping","method":"tools/call","params":{"name":"delete_user","arguments":{}}}',
    '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo"},"params":{"name":"delete_user"}}',
  ])('does not reach the server in a message that can be read in two ways: %# (SEC-04)', async (body) => {
    const client = await RawClient.connect(at('hr'), '2025-06-18', { headers: await bearer('hr') });
    const headers = { ...(await bearer('hr')), 'mcp-session-id': client.session ?? '' };
    const answer = await fetch(at('hr'), {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body,
    });
    expect([answer.status, callsSeen()]).toEqual([400, 0]);
  });

  it('does not reach the server when a header names another tool (2026-07-28) (SEC-04)', async () => {
    const client = RawClient.stateless(at('hr'), '2026-07-28', { headers: await bearer('hr') });
    const answer = await client.open('tools/call', { name: 'delete_user', arguments: {} }, { 'mcp-name': 'echo' });
    expect([answer.status, callsSeen()]).toEqual([400, 0]);
  });
});

describe('a server that a caller may not reach', () => {
  it.each(['tools/list', 'resources/list', 'prompts/list', 'resources/read', 'initialize'])(
    'tells it nothing by %s (SEC-09)',
    async (method) => {
      for (const headers of [{ 'x-wharf-key': KEY }, await bearer('web')]) {
        const client = RawClient.of(at('web'), '2025-06-18', headers);
        const answer = await client.post({ jsonrpc: '2.0', id: 1, method, params: { uri: 'file:///a' } });
        expect([answer.status, answer.messages[0]?.error?.data?.code]).toEqual([403, 'server_forbidden']);
      }
      expect(fake.requests.length).toBe(0);
    },
  );
});

describe('credentials that two programs could read in two ways', () => {
  const status = async (headers: string[]) => {
    const { request } = await import('node:http');
    return new Promise((resolve, reject) => {
      const all = ['Host', new URL(wharf.url).host, 'Accept', 'text/event-stream', ...headers];
      request(at('hr'), { method: 'GET', headers: all }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
        .on('error', reject)
        .end();
    });
  };

  it.each([
    ['two keys', ['X-Wharf-Key', KEY, 'X-Wharf-Key', KEY], 401],
    ['a key with a blank inside', ['X-Wharf-Key', `${KEY} ${KEY}`], 401],
    ['a key under a name with a low line', ['X_Wharf_Key', KEY], 401],
    ['two bearers in one header', ['Authorization', `Bearer ${KEY}, Bearer ${KEY}`], 401],
    ['another scheme', ['Authorization', `Basic ${Buffer.from(`ci:${KEY}`).toString('base64')}`], 401],
    ['a key for a proxy', ['Proxy-Authorization', `Bearer ${KEY}`], 401],
    ['a cookie', ['Cookie', `authorization=Bearer ${KEY}`], 401],
    ['a token longer than a head', ['Authorization', `Bearer eyJ${'x'.repeat(20_000)}.e30.x`], 431],
    ['a token that fills the head', ['Authorization', `Bearer eyJ${'x'.repeat(15_900)}.e30.x`], 401],
  ])('are refused: %s (SEC-10)', async (_, headers, expected) => {
    expect(await status(headers)).toBe(expected);
    expect(fake.requests.length).toBe(0);
  });
});

describe('the keys of an issuer that answers badly', () => {
  let bad: Server;
  let internal: Server;
  let canary: number;
  const locations: Record<string, string> = {};

  beforeAll(async () => {
    canary = 0;
    internal = createServer((_, response) => {
      canary += 1;
      response.end('{"keys":[]}');
    });
    locations.internal = `http://127.0.0.1:${await listen(internal)}/jwks`;
    bad = createServer((request, response) => {
      if (request.url === '/redirect') response.writeHead(302, { location: locations.internal }).end();
      else if (request.url === '/huge') response.end(`{"keys":[],"x":"${'x'.repeat(600_000)}"}`);
      else if (request.url === '/many') response.end(JSON.stringify({ keys: Array(101).fill({ kty: 'EC' }) }));
      else if (request.url === '/secret') response.end('{"keys":[{"kty":"oct","k":"c2VjcmV0","alg":"HS256"}]}');
      // never ends
      else if (request.url === '/slow') response.write('{"keys":[');
      else response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
    });
    locations.bad = `http://127.0.0.1:${await listen(bad)}`;
  });

  afterAll(async () => {
    await close(bad);
    await close(internal);
  });

  it.each([
    ['redirect', 503],
    ['huge', 503],
    ['many', 503],
    ['page', 503],
    ['slow', 503],
    // none of its keys is one: no login would help
    ['secret', 503],
  ])('let no one in, and keep no one else out: %s (SEC-06, SEC-11)', async (path, expected) => {
    const jwt = { issuers: [{ issuer: issuer.url, jwksUri: `${locations.bad}/${path}` }] };
    const keys = [{ name: 'ci', hash: keyHash(KEY) }];
    const own = await startWharf({
      servers: { hr: { url: fake.url } },
      config: { auth: { use: ['apiKeys', 'jwt'], keys, jwt } },
    });
    try {
      const headers = {
        authorization: `Bearer ${await issuer.token({ aud: own.mcp })}`,
        accept: 'text/event-stream',
      };
      const waiting = fetch(own.mcp, { headers });
      await RawClient.connect(own.mcp, '2025-06-18', { headers: { 'x-wharf-key': KEY } });
      expect([(await waiting).status, canary]).toEqual([expected, 0]);
    } finally {
      await own.stop();
    }
  });
});
