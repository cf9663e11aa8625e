import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AuthorizationServer, followLogin, startAuthorizationServer } from '../../helpers/authorization-server.js';
import { keyHash } from '../../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { freePorts } from '../../helpers/gateway-process-ports.js';
import { comeBack, linkIn, logIn, openLogin } from '../../helpers/person.js';
import { RawClient, readAnswer } from '../../helpers/raw-client.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const KEYS = {
  ada: 'a-key-of-ada',
  bob: 'a-key-of-bob',
  carla: 'a-key-of-carla',
  dora: 'a-key-of-dora',
  eve: 'a-key-of-eve',
  fred: 'a-key-of-fred',
};
type Person = keyof typeof KEYS;

let idp: AuthorizationServer;
let fake: FakeUpstream;
let wharf: Wharf;

const respond: FakeUpstream['respond'] = ({ headers, body }) =>
  body.includes('tools/call') && !headers.authorization?.startsWith('Bearer eyJ')
    ? { status: 401, headers: { 'www-authenticate': 'Bearer resource_metadata="https://evil.example/"' } }
    : undefined;

beforeAll(async () => {
  const [port = 0] = await freePorts(1);
  const callback = `http://127.0.0.1:${port}/oauth/callback`;
  const known = {
    client_id: 'wharf',
    client_secret: 'a secret that only Wharf has',
    redirect_uris: [callback],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  };
  idp = await startAuthorizationServer({}, [known]);
  fake = await startFakeUpstream({ transport: 'json', session: true });
  // everyone may see its tools; who calls one must have logged in
  fake.respond = respond;
  const keys = Object.entries(KEYS).map(([name, key]) => ({ name, hash: keyHash(key) }));
  const perUser = {
    issuer: idp.url,
    clientId: known.client_id,
    clientSecret: known.client_secret,
    scope: 'mcp',
    resource: 'https://crm.example/mcp',
  };
  wharf = await startWharf({
    servers: { crm: { url: fake.url, upstreamAuth: { perUser } } },
    config: { listen: `127.0.0.1:${port}`, auth: { use: 'apiKeys', keys } },
  });
});

afterAll(async () => {
  await wharf?.stop();
  await fake?.close();
  await idp?.stop();
});

const connect = (person: Person, version = '2025-06-18', capabilities: Record<string, unknown> = {}) =>
  RawClient.connect(wharf.mcp, version, { capabilities, headers: { authorization: `Bearer ${KEYS[person]}` } });

const call = (id: number) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'echo', arguments: { text: 'x' } },
});

const tokensSeen = () =>
  fake.requests.filter(({ body }) => body.includes('tools/call')).map(({ headers }) => headers.authorization);

describe("a person's own login at a server", () => {
  it('is asked for by a link in the result, and is used for that person alone (SEC-17)', async () => {
    const client = await connect('ada');
    const refused = await client.post(call(2));
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([200, null]);
    expect(refused.messages[0]?.result).toMatchObject({ isError: true });
    const end = await logIn(linkIn(refused.text));
    expect([end.status, end.text]).toEqual([200, expect.stringContaining('You are logged in')]);
    expect((await client.post(call(3))).messages[0]?.result?.isError ?? false).toBe(false);
    const token = tokensSeen().at(-1) ?? '';
    expect(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())).toMatchObject({
      aud: 'https://crm.example/mcp',
      sub: 'ada',
    });
    // another caller has no part in it
    const other = await connect('bob');
    expect((await other.post(call(2))).messages[0]?.result).toMatchObject({ isError: true });
    expect(tokensSeen().at(-1)).toBeUndefined();
    expect(wharf.logged()).not.toContain(token.slice('Bearer '.length));
    expect(wharf.logged()).not.toMatch(/oauth\/(?:login\/[\w-]{43}|callback\?)/);
  });

  it('is asked for by an error that names the page (MCP 2025-11-25, -32042)', async () => {
    const client = await connect('carla', '2025-11-25', { elicitation: { url: {} } });
    const refused = await client.post(call(2));
    expect(refused.messages[0]?.error).toMatchObject({
      code: -32042,
      data: { elicitations: [{ mode: 'url', url: expect.stringContaining('/oauth/login/') }] },
    });
    await logIn(linkIn(refused.text));
    expect((await client.post(call(3))).messages[0]?.result?.isError ?? false).toBe(false);
  });

  it('is asked for by a question, after which the client calls again (MCP 2026-07-28)', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } },
    };
    const send = async (more: Record<string, unknown>) => {
      const params = { name: 'echo', arguments: { text: 'x' }, _meta: meta, ...more };
      const response = await fetch(wharf.mcp, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${KEYS.eve}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': 'echo',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params }),
      });
      return readAnswer(response);
    };
    const asked = await send({});
    const { result } = asked.messages[0] ?? {};
    expect(result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { 'wharf-login': { method: 'elicitation/create', params: { mode: 'url' } } },
    });
    await logIn(linkIn(asked.text));
    const again = await send({ inputResponses: { 'wharf-login': { action: 'accept' } } });
    expect(again.messages[0]?.result?.isError ?? false).toBe(false);
    expect(String(fake.requests.at(-1)?.body)).not.toMatch(/inputResponses|wharf-login/);
  });

  it("is not taken from another browser than the one that has begun it, so that no link moves a login to another's name (SEC-16, G42)", async () => {
    const client = await connect('dora');
    const link = linkIn((await client.post(call(2))).text);
    const end = await logIn(link, 'wharf-login=of-another-browser');
    expect([end.status, end.text]).toEqual([404, expect.stringContaining('This link does not work')]);
    expect((await client.post(call(3))).messages[0]?.result).toMatchObject({ isError: true });
  });

  it('counts once: the address to which the browser came back is used up', async () => {
    const client = await connect('dora');
    const link = linkIn((await client.post(call(2))).text);
    const { headers } = await fetch(link);
    expect(headers.getSetCookie()[0]).toMatch(/HttpOnly; SameSite=Lax; Max-Age=600; Path=\/oauth\/$/);
    const { href, cookie } = await openLogin(link);
    const back = await followLogin(href, `${wharf.url}/oauth/callback`);
    const wrong = new URL(back);
    wrong.searchParams.set('state', 'made-up');
    expect((await fetch(wrong, { headers: { cookie } })).status).toBe(404);
    expect((await fetch(back, { headers: { cookie } })).status).toBe(200);
    expect((await fetch(back, { headers: { cookie } })).status).toBe(404);
  });

  it('ends the links that the person was given before, so that who finds one puts no other login in its place (SEC-16)', async () => {
    const client = await connect('fred');
    const given = async (id: number) => linkIn((await client.post(call(id))).text);
    const [link, opened, unopened] = [await given(2), await openLogin(await given(3)), await given(4)];
    expect((await logIn(link)).status).toBe(200);
    const late = await followLogin(opened.href, `${wharf.url}/oauth/callback`);
    const end = await comeBack(late, opened.cookie);
    expect([end.status, end.text]).toEqual([404, expect.stringContaining('This link does not work')]);
    for (const used of [link, unopened]) expect((await openLogin(used)).status).toBe(404);
    await client.post(call(5));
    const token = tokensSeen().at(-1);
    // what was refused is asked for anew, by a link that works
    fake.respond = ({ headers }) => (headers.authorization === token ? { status: 401 } : undefined);
    const again = await client.post(call(6));
    fake.respond = respond;
    expect((await logIn(linkIn(again.text))).status).toBe(200);
    expect((await client.post(call(7))).messages[0]?.result?.isError ?? false).toBe(false);
    expect(tokensSeen().at(-1)).not.toBe(token);
  });

  it.each(['login/unknown', 'callback', 'callback?state=x&code=y'])('is not at %s', async (path) => {
    expect((await fetch(`${wharf.url}/oauth/${path}`)).status).toBe(404);
  });

  it('shows who Wharf is, to authorization servers that it was not registered with', async () => {
    const answer = await fetch(`${wharf.url}/.well-known/wharf-client.json`);
    expect(await answer.json()).toMatchObject({
      client_id: `${wharf.url}/.well-known/wharf-client.json`,
      redirect_uris: [`${wharf.url}/oauth/callback`],
      token_endpoint_auth_method: 'none',
    });
  });
});
