import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type AuthorizationServer, startAuthorizationServer } from '../../helpers/authorization-server.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { ABOUT, Login } from '../../helpers/sdk-login.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const DOCUMENT = 'https://client.example/metadata.json';

let idp: AuthorizationServer;
let fake: FakeUpstream;
let wharf: Wharf;
/** With one server, which has a short path too. */
let single: Wharf;

beforeAll(async () => {
  idp = await startAuthorizationServer({ [DOCUMENT]: { client_id: DOCUMENT, ...ABOUT } });
  fake = await startFakeUpstream({ transport: 'json', session: true });
  const scopes = { '*': ['mcp'], 'hr.blob': ['hr:files'] };
  const jwt = { issuers: [{ issuer: idp.url }], scopes, challenge: 'minimal' };
  const config = { auth: { use: 'jwt', jwt } };
  wharf = await startWharf({ servers: { hr: { url: fake.url }, web: { url: fake.url } }, config });
  single = await startWharf({ servers: { hr: { url: fake.url } }, config });
});

afterAll(async () => {
  await wharf?.stop();
  await single?.stop();
  await fake?.close();
  await idp?.stop();
});

const ours = (login: Login, at: string) => {
  const url = new URL(at);
  return {
    '1.32': () => ({
      client: new Client({ name: 'one', version: '1' }),
      transport: new StreamableHTTPClientTransport(url, { authProvider: login }) as unknown as Transport2,
    }),
    '2.4': () => ({
      client: new Client2({ name: 'two', version: '1' }),
      transport: new Transport2(url, { authProvider: login }),
    }),
  };
};

/** Connects, logs in when it must, and connects again, as the SDK's own example does. */
async function connect(sdk: '1.32' | '2.4', login: Login, at: string) {
  const make = ours(login, at)[sdk];
  const first = make();
  const refused = await first.client.connect(first.transport as never).catch((error: unknown) => error);
  expect(String(refused)).toMatch(/Unauthorized/i);
  await first.transport.finishAuth(login.code, login.iss);
  const { client, transport } = make();
  await client.connect(transport as never);
  return { client, transport };
}

describe.each(['1.32', '2.4'] as const)('a client of SDK %s', (sdk) => {
  it.each([
    ['by a client ID metadata document', DOCUMENT],
    ['by dynamic registration', undefined],
  ])('logs in by itself at the authorization server, %s', async (_how, document) => {
    const login = new Login(document);
    const { client } = await connect(sdk, login, `${wharf.url}/hr/mcp`);
    expect((await client.listTools()).tools.length).toBeGreaterThan(0);
    expect([login.asked, [...login.resources]]).toEqual([['mcp'], [`${wharf.url}/hr/mcp`]]);
    if (document !== undefined) expect(login.clientId).toBe(document);
    expect(wharf.lines.map(({ fields }) => fields.principal)).toContain(`${idp.url}|ada`);
    await client.close();
  });

  it.each([
    ['its path', () => `${wharf.url}/hr/mcp`],
    ['the short path', () => `${single.url}/mcp`],
  ])('is asked for more when a tool needs it, gets it, and does not ask again, at %s', async (_how, at) => {
    // a dynamically registered client is held to the scopes that it had in mind then
    const login = new Login(DOCUMENT);
    const { client, transport } = await connect(sdk, login, at());
    const call = (one: typeof client) => one.callTool({ name: 'blob', arguments: { size: 10 } });
    // a client listens on a stream of its own as well
    const calls = () => fake.requests.filter(({ body }) => body.includes('tools/call')).length;
    const before = calls();
    const refused = await call(client).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Error);
    expect(calls()).toBe(before);
    expect(login.asked.at(-1)?.split(' ')).toEqual(expect.arrayContaining(['mcp', 'hr:files']));
    const logins = login.asked.length;
    await transport.finishAuth(login.code, login.iss);
    const again = ours(login, at())[sdk]();
    await again.client.connect(again.transport as never);
    expect((await call(again.client as typeof client)).isError ?? false).toBe(false);
    expect(login.asked.length).toBe(logins);
    await again.client.close();
  });

  it('has a token for one server, which the other one refuses', async () => {
    const login = new Login();
    const { client } = await connect(sdk, login, `${wharf.url}/web/mcp`);
    const { access_token: token } = login.tokens() as unknown as { access_token: string };
    const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
    const answer = await fetch(`${wharf.url}/hr/mcp`, { headers });
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('another resource'),
    ]);
    await client.close();
  });
});
