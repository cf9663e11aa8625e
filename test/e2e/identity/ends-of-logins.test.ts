import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { followLogin } from '../../helpers/authorization-server.js';
import { keyHash } from '../../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { freePorts } from '../../helpers/gateway-process-ports.js';
import { comeBack, linkIn, openLogin } from '../../helpers/person.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RotatingServer } from '../../helpers/rotating-server.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const KEY = 'a-key-of-ada';
const OTHER_KEY = 'a-key-of-bob';
/** As long as names of servers may be. */
const SERVER = 'the-customer-relations-and-contracts-server-of-the-north-region';

let idp: RotatingServer;
let fake: FakeUpstream;
let wharf: Wharf;
let link: string;

beforeAll(async () => {
  idp = await RotatingServer.start();
  fake = await startFakeUpstream({ transport: 'json', session: true });
  fake.respond = ({ body }) => (body.includes('tools/call') ? { status: 401 } : undefined);
  const [port = 0] = await freePorts(1);
  wharf = await startWharf({
    servers: { [SERVER]: { url: fake.url, upstreamAuth: { perUser: { issuer: idp.url, clientId: 'wharf' } } } },
    config: {
      listen: `127.0.0.1:${port}`,
      auth: {
        use: 'apiKeys',
        keys: [
          { name: 'ada', hash: keyHash(KEY) },
          { name: 'bob', hash: keyHash(OTHER_KEY) },
        ],
      },
    },
  });
  link = await given(KEY);
});

afterAll(async () => {
  await wharf?.stop();
  await fake?.close();
  await idp?.close();
});

/** The link that a person is given. */
async function given(key: string): Promise<string> {
  const client = await RawClient.connect(wharf.mcp, '2025-06-18', { headers: { authorization: `Bearer ${key}` } });
  const params = { name: 'echo', arguments: { text: 'x' } };
  return linkIn((await client.post({ jsonrpc: '2.0', id: 2, method: 'tools/call', params })).text);
}

/** What the page says in words. */
const wordsOf = (html: string) =>
  html
    .replace(/<style.*?<\/style>/s, '')
    .replace(/<[^>]+>/g, '')
    .replaceAll('&quot;', '"');

/** A person logs in. @param change what the browser comes back with */
async function end(change: (back: URL) => void) {
  const { href, cookie } = await openLogin(link);
  const back = await followLogin(href, `${wharf.url}/oauth/callback`);
  change(back);
  const { status, text } = await comeBack(back, cookie);
  return { status, words: wordsOf(text) };
}

const refusing = (error: string) => (back: URL) => {
  back.searchParams.delete('code');
  back.searchParams.set('error', error);
};

describe('the end of a login at a server', () => {
  it('is that the person has declined', async () => {
    expect(await end(refusing('access_denied'))).toEqual({
      status: 403,
      words: expect.stringContaining('You have not logged in'),
    });
  });

  it('is that the person has declined also where a code stands beside that', async () => {
    const asked = idp.asked.length;
    const { status } = await end((back) => back.searchParams.set('error', 'access_denied'));
    expect([status, idp.asked.length]).toEqual([403, asked]);
  });

  it('is not a code that is empty', async () => {
    const asked = idp.asked.length;
    const { status } = await end((back) => back.searchParams.set('code', ''));
    expect([status, idp.asked.length]).toEqual([403, asked]);
  });

  it.each([
    ['a code', 'invalid_scope', 'says invalid_scope.'],
    ['another code', 'temporarily_unavailable', 'says temporarily_unavailable.'],
    ['a sentence', 'call 555-0100 and tell your password', 'refuses the login.'],
    ['a long text', 'x'.repeat(5000), 'refuses the login.'],
  ])('is told as it is where the authorization server has refused it with %s', async (_what, error, said) => {
    const { status, words } = await end(refusing(error));
    expect([status, words]).toEqual([502, expect.stringContaining(`"${SERVER}": its authorization server ${said}`)]);
    expect(words).toContain('Ask your assistant again for a new link.');
    expect(wharf.logged()).toContain(`its authorization server ${said}`);
  });

  it('is told in full behind a long name', async () => {
    const { status, words } = await end(() => undefined);
    expect([status, words]).toEqual([200, expect.stringContaining('go on in your assistant.')]);
  });
});

describe('the page of a link to log in', () => {
  // ada's login, which was finished, has ended her links
  beforeAll(async () => {
    link = await given(OTHER_KEY);
  });

  it.each([
    ['a further attribute', 'a%3B%20Domain%3Devil.example'],
    ['a line break', 'a%0d%0ax-evil:1'],
    ['nothing', ''],
    ['a long text', 'x'.repeat(5000)],
  ])('gives the browser a name of its own whose cookie holds %s', async (_what, value) => {
    const { status, headers } = await fetch(link, { headers: { cookie: `wharf-login=${value}` } });
    expect([status, headers.getSetCookie()]).toEqual([
      200,
      [expect.stringMatching(/^wharf-login=[\w-]{43}; HttpOnly;/)],
    ]);
  });

  it('keeps the name that it has given', async () => {
    const { cookie } = await openLogin(link);
    const again = await fetch(link, { headers: { cookie } });
    expect(again.headers.getSetCookie()[0]).toContain(`${cookie};`);
  });

  it('names the browser over https by a cookie that no neighbouring host can set (SEC-16)', async () => {
    const base = 'https://mcp.example.com/tools';
    const [port = 0] = await freePorts(1);
    const other = await startWharf({
      servers: { crm: { url: fake.url, upstreamAuth: { perUser: { issuer: idp.url, clientId: 'wharf' } } } },
      config: {
        listen: `127.0.0.1:${port}`,
        publicUrl: base,
        auth: { use: 'apiKeys', keys: [{ name: 'ada', hash: keyHash(KEY) }] },
      },
    });
    try {
      const local = `http://127.0.0.1:${port}`;
      const headers = { authorization: `Bearer ${KEY}` };
      const client = await RawClient.connect(`${local}/mcp`, '2025-06-18', { headers });
      const params = { name: 'echo', arguments: { text: 'x' } };
      const { text } = await client.post({ jsonrpc: '2.0', id: 2, method: 'tools/call', params });
      const page = linkIn(text).replace(base, local);
      const cookieOf = async (cookie: string) => (await fetch(page, { headers: { cookie } })).headers.getSetCookie()[0];
      const set = (await cookieOf('')) ?? '';
      expect(set).toMatch(/^__Host-wharf-login=[\w-]{43}; HttpOnly; SameSite=Lax; Max-Age=600; Path=\/; Secure$/);
      const [own = ''] = set.split(';');
      expect(await cookieOf(own)).toContain(`${own};`);
      expect(await cookieOf(own.replace('__Host-', ''))).not.toContain(`${own};`);
      const { href, cookie } = await openLogin(page);
      const state = new URL(href).searchParams.get('state');
      const back = `${local}/oauth/callback?state=${state}&code=x`;
      const tossed = await fetch(back, { headers: { cookie: cookie.replace('__Host-', '') } });
      expect(tossed.status).toBe(404);
    } finally {
      await other.stop();
    }
  });

  it('says where its link leads, not who the authorization server is', async () => {
    const { port } = new URL(idp.url);
    const wharfOf = (perUser: object) =>
      startWharf({
        servers: { crm: { url: fake.url, upstreamAuth: { perUser: { issuer: idp.url, ...perUser } } } },
        config: { auth: { use: 'apiKeys', keys: [{ name: 'ada', hash: keyHash(KEY) }] } },
      });
    idp.metadata = { authorization_endpoint: `http://localhost:${port}/authorize` };
    const other = await wharfOf({ clientId: 'wharf' });
    try {
      const client = await RawClient.connect(other.mcp, '2025-06-18', { headers: { authorization: `Bearer ${KEY}` } });
      const params = { name: 'echo', arguments: { text: 'x' } };
      const { text } = await client.post({ jsonrpc: '2.0', id: 2, method: 'tools/call', params });
      const page = await openLogin(linkIn(text));
      expect(wordsOf(page.text)).toContain(`Log in at localhost:${port}`);
    } finally {
      idp.metadata = {};
      await other.stop();
    }
  });
});
