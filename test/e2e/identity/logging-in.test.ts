import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { keyHash } from '../../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { Issuer } from '../../helpers/issuer.js';
import { RawClient, readAnswer } from '../../helpers/raw-client.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const KEY = 'a-key-of-the-build-server';

let issuer: Issuer;
let fake: FakeUpstream;
let wharf: Wharf;

beforeAll(async () => {
  issuer = await Issuer.start();
  fake = await startFakeUpstream({ transport: 'json', session: true });
  wharf = await startWharf({
    servers: { hr: { url: fake.url }, hr2: { url: fake.url } },
    config: {
      auth: {
        use: ['apiKeys', 'jwt'],
        keys: [{ name: 'ci', hash: keyHash(KEY) }],
        jwt: {
          issuers: [{ issuer: issuer.url }],
          scopes: { '*': ['mcp'], hr: ['mcp', 'hr:read'], 'hr.bl*': ['hr:files'], '*.echo': ['talk'] },
          implies: { 'hr:admin': ['hr:read', 'hr:files'] },
        },
      },
    },
  });
});

afterAll(async () => {
  await wharf?.stop();
  await fake?.close();
  await issuer?.close();
});

const at = (server = 'hr') => `${wharf.url}/${server}/mcp`;
const metadataOf = (server: string) => `${wharf.url}/.well-known/oauth-protected-resource/${server}/mcp`;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const token = (claims: Record<string, unknown> = {}) => issuer.token({ aud: at(), scope: 'mcp hr:read', ...claims });

async function send(body: object, headers: Record<string, string>, url = at()) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
  });
  return readAnswer(response);
}

const call = (name: string) => ({ method: 'tools/call', params: { name, arguments: { size: 10, text: 'x' } } });

describe('where clients log in', () => {
  it("is told for each server, by the server's own URL, to pages of any origin (RFC 9728 §3)", async () => {
    const answer = await fetch(metadataOf('hr'), { headers: { origin: 'https://app.example' } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('cache-control')).toBe('max-age=300');
    expect(await answer.json()).toEqual({
      resource: at(),
      authorization_servers: [issuer.url],
      scopes_supported: ['mcp', 'hr:read', 'hr:files', 'talk'],
      bearer_methods_supported: ['header'],
      resource_name: 'hr',
    });
  });

  it('is asked for by a page before it reads it', async () => {
    const headers = { origin: 'https://app.example', 'access-control-request-method': 'GET' };
    const answer = await fetch(metadataOf('hr'), { method: 'OPTIONS', headers });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
  });

  it.each(['', '/', '/mcp', '/other/mcp', '/hr', '/hr/mcp/', '/HR/mcp', '/hr/mcp/x'])(
    'is told at no other path, so that no client takes one server for another: %j',
    async (path) => {
      expect((await fetch(`${wharf.url}/.well-known/oauth-protected-resource${path}`)).status).toBe(404);
    },
  );

  it.each(['oauth-authorization-server', 'openid-configuration', 'oauth-authorization-server/hr/mcp'])(
    'is not Wharf itself: it has no %s',
    async (name) => expect((await fetch(`${wharf.url}/.well-known/${name}`)).status).toBe(404),
  );

  it('is never made of what a request says (SEC-05)', async () => {
    const headers = {
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
      'x-forwarded-prefix': '/evil',
      forwarded: 'host=evil.example;proto=https',
    };
    const document = (await (await fetch(metadataOf('hr'), { headers })).json()) as Record<string, unknown>;
    expect(document.resource).toBe(at());
    const refused = await send({ method: 'ping' }, headers);
    expect(refused.headers.get('www-authenticate')).toContain(`resource_metadata="${metadataOf('hr')}"`);
  });

  it.each(['POST', 'GET', 'DELETE'])('is told to a client without a token by the answer to %s', async (method) => {
    const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
    const answer = await fetch(at(), {
      method,
      headers,
      ...(method === 'POST' && { body: '{"jsonrpc":"2.0","id":5,"method":"ping"}' }),
    });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe(
      `Bearer scope="mcp hr:read hr:files talk", resource_metadata="${metadataOf('hr')}"`,
    );
    const text = await answer.text();
    if (method === 'POST') expect(JSON.parse(text)).toMatchObject({ id: 5, error: { data: { code: 'unauthorized' } } });
  });

  it('is told as one of two ways in where there are keys too', async () => {
    const stranger = await send({ method: 'ping' }, {});
    const wrong = await send({ method: 'ping' }, { 'x-wharf-key': 'wrong' });
    for (const { text } of [stranger, wrong])
      expect(JSON.parse(text).error.message).toBe(
        `A valid access token or API key is required. ${metadataOf('hr')} says where clients log in.`,
      );
    const elsewhere = await send({ method: 'ping' }, {}, at('hr3'));
    expect(JSON.parse(elsewhere.text).error.message).toBe('A valid access token or API key is required.');
  });

  it('is told for a server alone by both of its paths, and at the root', async () => {
    const alone = await startWharf({
      servers: { hr: { url: fake.url } },
      config: { auth: { use: 'jwt', jwt: { issuers: [{ issuer: issuer.url }] } } },
    });
    try {
      const told = async (path: string) => {
        const answer = await fetch(`${alone.url}/.well-known/oauth-protected-resource${path}`);
        return ((await answer.json()) as Record<string, unknown>).resource;
      };
      expect(await told('/mcp')).toBe(`${alone.url}/mcp`);
      expect(await told('')).toBe(`${alone.url}/mcp`);
      expect(await told('/hr/mcp')).toBe(`${alone.url}/hr/mcp`);
      const refused = await send({ method: 'ping' }, {}, `${alone.url}/mcp`);
      expect(refused.headers.get('www-authenticate')).toBe(
        `Bearer resource_metadata="${alone.url}/.well-known/oauth-protected-resource/mcp"`,
      );
    } finally {
      await alone.stop();
    }
  });

  it('is the whole gateway where the config says so', async () => {
    const whole = await startWharf({
      servers: { a: { url: fake.url }, b: { url: fake.url } },
      config: { auth: { use: 'jwt', jwt: { issuers: [{ issuer: issuer.url }], resource: 'gateway' } } },
    });
    try {
      const answer = await fetch(`${whole.url}/.well-known/oauth-protected-resource`);
      expect(((await answer.json()) as Record<string, unknown>).resource).toBe(whole.url);
      expect((await fetch(`${whole.url}/.well-known/oauth-protected-resource/a/mcp`)).status).toBe(404);
      // a path of no server does not ask for a key where there are none
      expect((await send({ method: 'ping' }, {}, `${whole.url}/c/mcp`)).text).toContain(
        'A valid access token is required.',
      );
      const headers = bearer(await issuer.token({ aud: whole.url }));
      for (const server of ['a', 'b']) await RawClient.connect(`${whole.url}/${server}/mcp`, '2025-06-18', { headers });
    } finally {
      await whole.stop();
    }
  });
});

describe('the scopes of a token', () => {
  it.each(['POST', 'GET', 'DELETE'])(
    'must be those of the server for %s; otherwise it is told which they are',
    async (method) => {
      const headers = {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...bearer(await token({ scope: 'mcp' })),
      };
      const answer = await fetch(at(), { method, headers, ...(method === 'POST' && { body: '{}' }) });
      expect(answer.status).toBe(403);
      expect(answer.headers.get('www-authenticate')).toBe(
        `Bearer error="insufficient_scope", error_description="the token lacks a scope of this server", scope="mcp hr:read", resource_metadata="${metadataOf('hr')}"`,
      );
    },
  );

  it('must be those of a tool as well, before the server sees a byte of its call (SEC-07)', async () => {
    const client = await RawClient.connect(at(), '2025-06-18', { headers: bearer(await token()) });
    const before = fake.requests.length;
    const answer = await client.post({ jsonrpc: '2.0', id: 9, ...call('blob') });
    expect(answer.status).toBe(403);
    expect(answer.headers.get('www-authenticate')).toContain('error="insufficient_scope"');
    expect(answer.headers.get('www-authenticate')).toContain('scope="mcp hr:read hr:files"');
    expect(answer.messages[0]).toMatchObject({ id: 9, error: { data: { code: 'insufficient_scope' } } });
    expect(fake.requests.length).toBe(before);
    await until(() => wharf.logged().includes('auth.jwt.scopes'));
    expect((await client.post({ jsonrpc: '2.0', id: 10, method: 'tools/list' })).status).toBe(200);
  });

  it('may be one that includes them', async () => {
    const headers = bearer(await token({ scope: 'mcp hr:admin' }));
    const client = await RawClient.connect(at(), '2025-06-18', { headers });
    expect((await client.post({ jsonrpc: '2.0', id: 9, ...call('blob') })).status).toBe(200);
  });

  it('may be a list (scp)', async () => {
    const headers = bearer(await token({ scope: undefined, scp: ['mcp', 'hr:read'] }));
    await RawClient.connect(at(), '2025-06-18', { headers });
  });
});

describe('a caller with a token', () => {
  it('owns its session: for any other caller it does not exist (SEC-03)', async () => {
    const client = await RawClient.connect(at(), '2025-06-18', { headers: bearer(await token()) });
    const session = { 'mcp-session-id': client.session ?? '' };
    for (const other of [await token({ sub: 'bob' }), KEY]) {
      const stolen = await send({ method: 'ping' }, { ...bearer(other), ...session });
      expect([stolen.status, stolen.messages[0]?.error?.data?.code]).toEqual([404, 'session_unknown']);
      const listening = await fetch(at(), { headers: { accept: 'text/event-stream', ...bearer(other), ...session } });
      expect(listening.status).toBe(404);
    }
    // a new token of the same caller goes on
    expect((await send({ method: 'ping' }, { ...bearer(await token({ jti: '2' })), ...session })).status).toBe(200);
  });

  it('is its issuer and its name, in the log without the token', async () => {
    const one = await token({ sub: 'carla' });
    await send({ method: 'ping' }, bearer(one));
    await until(() => wharf.lines.some(({ fields }) => fields.principal === `${issuer.url}|carla`));
    expect(wharf.logged()).not.toContain(one.split('.')[1]);
    expect(fake.heard()).not.toContain(one);
  });
});

describe('keys beside tokens', () => {
  it.each([{ 'x-wharf-key': KEY }, { authorization: `Bearer ${KEY}` }])(
    'are keys by their form: %j',
    async (headers) => {
      await RawClient.connect(at(), '2025-06-18', { headers: headers as Record<string, string> });
      expect(fake.heard()).not.toContain(KEY);
    },
  );

  it.each([
    ['a wrong key beside a good token', async () => ({ 'x-wharf-key': 'wrong', ...bearer(await token()) })],
    ['a forged token that ends in a key', async () => bearer(`eyJhbGciOiJub25lIn0.e30.${KEY}`)],
    ['a token of another server', async () => bearer(await token({ aud: at('hr2') }))],
    ['an opaque token', async () => bearer('opaque')],
  ])('are not tried after a failure: %s is 401 (CVE-2026-59822) (SEC-10)', async (_what, headers) => {
    const answer = await send({ method: 'ping' }, (await headers()) as Record<string, string>);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toContain('resource_metadata=');
  });
});
