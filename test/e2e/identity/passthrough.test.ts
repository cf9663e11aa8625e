import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type AuthorizationServer, startAuthorizationServer } from '../../helpers/authorization-server.js';
import { freePorts } from '../../helpers/gateway-process-ports.js';
import { type ProtectedServer, startProtectedServer } from '../../helpers/protected-server.js';
import { RawClient } from '../../helpers/raw-client.js';
import { ABOUT, Login } from '../../helpers/sdk-login.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const DOCUMENT = 'https://client.example/metadata.json';
const PRM = '/.well-known/oauth-protected-resource';

let idp: AuthorizationServer;
/** Takes tokens for Wharf's URL as well, as the operator has told it. */
let server: ProtectedServer;
let wharf: Wharf;
/** Has taken over the server's public name: what is not for `/mcp` goes to the server. */
let named: Wharf;

beforeAll(async () => {
  idp = await startAuthorizationServer({ [DOCUMENT]: { client_id: DOCUMENT, ...ABOUT } });
  const [port = 0, own = 0, other = 0] = await freePorts(3);
  const auth = { use: 'passthrough' };
  const origin = `http://127.0.0.1:${own}`;
  const resources = [`${origin}/mcp`, `${origin}/crm/mcp`, `http://127.0.0.1:${port}/mcp`];
  server = await startProtectedServer(port, idp.url, resources);
  const tools = { picture: { files: { frame: { encoding: 'base64' } } } };
  const servers = { crm: { url: server.url, tools } };
  wharf = await startWharf({ servers, config: { listen: `127.0.0.1:${own}`, auth } });
  const verbatim = { ...auth, passthrough: { resource: 'verbatim' } };
  const publicUrl = new URL(server.url).origin;
  const config = { listen: `127.0.0.1:${other}`, publicUrl, auth: verbatim };
  named = { ...(await startWharf({ servers, config })), url: `http://127.0.0.1:${other}` };
});

afterAll(async () => {
  await wharf?.stop();
  await named?.stop();
  await server?.stop();
  await idp?.stop();
});

/** What a balancer does with the server's public name: MCP goes to Wharf, the rest to the server. */
const balanced = (input: string | URL, init?: RequestInit): Promise<Response> => {
  const url = new URL(input);
  const isMcp = url.origin === new URL(server.url).origin && url.pathname === '/mcp';
  return fetch(isMcp ? `${named.url}/mcp` : url, init);
};

type Sdk = '1.32' | '2.4';
type Way = 'at Wharf' | "under the server's own name";

function make(sdk: Sdk, way: Way, login: Login, path = '/crm/mcp') {
  const isOwn = way === 'at Wharf';
  const url = new URL(isOwn ? `${wharf.url}${path}` : server.url);
  const options = { authProvider: login, ...(!isOwn && { fetch: balanced }) };
  if (sdk === '2.4')
    return { client: new Client2({ name: 'two', version: '1' }), transport: new Transport2(url, options) };
  const transport = new StreamableHTTPClientTransport(url, options) as unknown as Transport2;
  return { client: new Client({ name: 'one', version: '1' }), transport };
}

/** Connects, logs in when it must, and connects again. */
async function connect(sdk: Sdk, way: Way, login = new Login(DOCUMENT), path?: string) {
  const first = make(sdk, way, login, path);
  const refused = await first.client.connect(first.transport as never).catch((error: unknown) => error);
  expect(String(refused)).toMatch(/Unauthorized/i);
  await first.transport.finishAuth(login.code, login.iss);
  const { client, transport } = make(sdk, way, login, path);
  await client.connect(transport as never);
  const { access_token: token } = login.tokens() as unknown as { access_token: string };
  return { client: client as Client, transport, login, token };
}

const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text;
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

describe.each(['1.32', '2.4'] as const)('a client of SDK %s whose server judges its tokens', (sdk) => {
  it.each(['/mcp', '/crm/mcp'])('logs in by itself for the URL that it was given, %s (passthrough)', async (path) => {
    const { client, login } = await connect(sdk, 'at Wharf', new Login(), path);
    expect([...login.resources]).toEqual([`${wharf.url}${path}`]);
    expect(login.asked).toEqual(['mcp']);
    expect(textOf(await client.callTool({ name: 'whoami', arguments: {} }))).toBe('ada');
    await client.close();
  });

  it("logs in by itself under the server's own name, and sees no other (passthrough, verbatim)", async () => {
    const { client, login } = await connect(sdk, "under the server's own name");
    expect([...login.resources]).toEqual([server.url]);
    expect(textOf(await client.callTool({ name: 'whoami', arguments: {} }))).toBe('ada');
    await client.close();
  });

  it.each(['at Wharf', "under the server's own name"] as const)(
    'is asked by the server for more rights, gets them, and goes on in its session: %s (passthrough)',
    async (way) => {
      const { client, transport, login } = await connect(sdk, way);
      const refused = await client.callTool({ name: 'delete', arguments: {} }).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(Error);
      expect(login.asked.at(-1)?.split(' ').sort()).toEqual(['hr:files', 'mcp']);
      const session = (transport as { sessionId?: string }).sessionId;
      await transport.finishAuth(login.code, login.iss);
      // another token in the session that the first one opened
      expect(textOf(await client.callTool({ name: 'delete', arguments: {} }))).toBe('deleted');
      expect((transport as { sessionId?: string }).sessionId).toBe(session);
      await client.close();
    },
  );
});

describe('a request that the server does not take (passthrough)', () => {
  const open = (headers: Record<string, string>, at = wharf, path = '/crm/mcp') =>
    fetch(`${at.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body: '{"jsonrpc":"2.0","id":"seven","method":"tools/list"}',
    });

  it('is refused in the words of the server, with the address of its metadata at Wharf', async () => {
    const answer = await open({});
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe(
      'Bearer error="invalid_token", error_description="Missing Authorization header", scope="mcp", ' +
        `resource_metadata="${wharf.url}${PRM}/crm/mcp"`,
    );
    expect(await answer.json()).toMatchObject({
      id: 'seven',
      error: { data: { code: 'login_needed', server: 'crm' } },
    });
    const short = await open({}, wharf, '/mcp');
    expect(short.headers.get('www-authenticate')).toContain(`resource_metadata="${wharf.url}${PRM}/mcp"`);
  });

  it('is refused in exactly the words of the server under its own name', async () => {
    const [ours, theirs] = [await open({}, named, '/mcp'), await fetch(server.url, { method: 'POST' })] as const;
    expect(ours.headers.get('www-authenticate')).toBe(theirs.headers.get('www-authenticate'));
  });

  it.each([
    ['a made-up token', 401, { authorization: 'Bearer made-up' }],
    ['a proof that Wharf cannot pass on', 401, { authorization: 'DPoP made-up' }],
    ['an address with a token', 400, {}],
  ])('is refused with %s', async (name, status, headers) => {
    const path = name === 'an address with a token' ? '/crm/mcp?access_token=x' : '/crm/mcp';
    const answer = await open(headers, wharf, path);
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
      status,
      expect.stringMatching(/^Bearer /),
    ]);
  });

  it.each(['made-up', undefined])('does nothing of its own for a caller with the token %s (SEC-20)', async (token) => {
    const about = { capabilities: {}, ...(token !== undefined && bearer(token)) };
    const client = RawClient.stateless(wharf.mcp, '2026-07-28', about);
    const answer = await client.open('files/authorizeUpload', { name: 'a.txt', mimeType: 'text/plain', size: 3 });
    expect([answer.status, await answer.json()]).toEqual([
      401,
      expect.objectContaining({
        error: expect.objectContaining({ data: expect.objectContaining({ code: 'login_needed' }) }),
      }),
    ]);
  });

  const NO_FILE = 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA';
  const PAGES = { elicitation: { url: {}, form: {} } };

  it.each([
    ['a call whose file is not there', 'made-up', {}, 'tools/call', NO_FILE],
    ['a call whose file is not there, without a token', undefined, {}, 'tools/call', NO_FILE],
    ['a call whose file is no file', 'made-up', {}, 'tools/call', 'not base64'],
    ['a call that could be asked for its file', 'made-up', PAGES, 'tools/call', 'not base64'],
    ['a handle that is read', 'made-up', {}, 'resources/read', NO_FILE],
    ['a handle that is watched', 'made-up', {}, 'resources/subscribe', NO_FILE],
    ['a handle that is streamed', 'made-up', { resourceStreaming: true }, 'resources/stream', NO_FILE],
    ["a resource of the server's that is streamed", 'made-up', { resourceStreaming: true }, 'resources/stream', 'a:b'],
  ])('is refused before Wharf answers by itself: %s (SEC-20)', async (_name, token, capabilities, method, value) => {
    const about = { capabilities, ...(token !== undefined && bearer(token)) };
    const client = RawClient.stateless(wharf.mcp, '2026-07-28', about);
    const params = method === 'tools/call' ? { name: 'picture', arguments: { frame: value } } : { uri: value };
    const answer = await client.open(method, params);
    const text = await answer.text();
    expect([answer.status, text]).toEqual([401, expect.stringContaining('"code":"login_needed"')]);
    expect(text).not.toContain('/u/');
  });
});

describe('what clients learn about the login (passthrough)', () => {
  const read = async (path: string, at = wharf) => {
    const answer = await fetch(`${at.url}${path}`, { headers: { origin: 'https://a-client.example' } });
    return [answer.status, answer.status === 200 ? await answer.json() : undefined];
  };

  it.each([
    ['/crm/mcp', '/crm/mcp'],
    ['/mcp', '/mcp'],
  ])("is the server's metadata, for Wharf's URL: %s", async (path, resource) => {
    const theirs = (await (await fetch(`${new URL(server.url).origin}${PRM}/mcp`)).json()) as object;
    expect(await read(`${PRM}${path}`)).toEqual([200, { ...theirs, resource: `${wharf.url}${resource}` }]);
    expect(await read(`${PRM}${path}`, named)).toEqual([200, theirs]);
  });

  it("is the server's own word for clients that know only MCP 2025-03-26", async () => {
    const [status, document] = await read('/.well-known/oauth-authorization-server');
    expect([status, document]).toEqual([200, expect.objectContaining({ issuer: idp.url })]);
  });

  it.each([`${PRM}/other/mcp`, `${PRM}/crm`, `${PRM}/crm/mcp/x`, '/.well-known/openid-configuration'])(
    'is not at %s',
    async (path) => {
      expect(await read(path)).toEqual([404, undefined]);
    },
  );
});

describe('what belongs to a token (passthrough)', () => {
  const content = async (client: Client) => {
    const result = (await client.callTool({ name: 'picture', arguments: {} })) as { content: { uri?: string }[] };
    return result.content.find(({ uri }) => uri !== undefined)?.uri ?? '';
  };

  it('is every file: another token reads none of them, though it may use the server (SEC-21)', async () => {
    const ada = await connect('1.32', 'at Wharf');
    const eve = await connect('1.32', 'at Wharf');
    expect(ada.token).not.toBe(eve.token);
    const uri = await content(ada.client);
    expect(uri).not.toBe('');
    expect(JSON.stringify(await ada.client.readResource({ uri }))).toContain('picture-1.png');
    await expect(eve.client.readResource({ uri })).rejects.toThrow('There is no such file of yours');
    await ada.client.close();
    await eve.client.close();
  });

  it('is the link to upload a file that a call of its own lacks', async () => {
    const { client } = await connect('1.32', 'at Wharf');
    const refused = await client.callTool({ name: 'picture', arguments: { frame: 'not base64' } });
    expect(textOf(refused)).toContain(`${wharf.url}/u/`);
    await client.close();
  });

  it('is in no log, and neither is the token', async () => {
    const { client, token } = await connect('2.4', 'at Wharf');
    await client.callTool({ name: 'whoami', arguments: {} });
    expect(wharf.logged()).not.toContain(token);
    expect(wharf.lines.map(({ fields }) => fields.principal)).toContainEqual(
      expect.stringMatching(/^token:[\w-]{22}$/),
    );
    await client.close();
  });
});
