import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { followLogin } from '../../helpers/authorization-server.js';
import { keyHash } from '../../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { freePorts } from '../../helpers/gateway-process-ports.js';
import { comeBack, openLogin } from '../../helpers/person.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RotatingServer } from '../../helpers/rotating-server.js';
import { freshName } from '../../helpers/services.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const KEY = 'a-key-of-ada';
const BASE = 'https://wharf.example';
const shared = () => ({ bucket: freshName('e2e'), keyPrefix: `${freshName('rolling')}:` });

let first: RotatingServer;
let second: RotatingServer;
let fake: FakeUpstream;
const running: Wharf[] = [];

beforeEach(async () => {
  [first, second] = await Promise.all([RotatingServer.start(), RotatingServer.start()]);
  fake = await startFakeUpstream({ transport: 'json', session: true });
  fake.respond = ({ headers: { authorization = '' }, body }) => {
    const isGood = [first, second].some(({ good }) => good.has(authorization.replace('Bearer ', '')));
    return body.includes('tools/call') && !isGood ? { status: 401 } : undefined;
  };
});

afterEach(async () => {
  for (const wharf of running.splice(0)) await wharf.stop();
  await fake.close();
  await first.close();
  await second.close();
});

/** A replica, called at its own port, whose people log in at an authorization server. */
async function start(idp: RotatingServer, stores: ReturnType<typeof shared>, more: object = {}, own: object = {}) {
  const [port = 0] = await freePorts(1);
  const perUser = { issuer: idp.url, scope: 'mcp', ...more };
  const auth = { use: 'apiKeys', keys: [{ name: 'ada', hash: keyHash(KEY) }] };
  const wharf = await startWharf({
    servers: { crm: { url: fake.url, upstreamAuth: { perUser } } },
    config: { listen: `127.0.0.1:${port}`, publicUrl: BASE, auth, ...own },
    stores: 's3+redis',
    ...stores,
  });
  running.push(wharf);
  const local = `http://127.0.0.1:${port}`;
  const headers = { authorization: `Bearer ${KEY}` };
  return { local, client: await RawClient.connect(`${local}/mcp`, '2025-06-18', { headers }) };
}
type Replica = Awaited<ReturnType<typeof start>>;

/** Calls, and says whether that was allowed, or at which link the person must log in. */
async function tryCall({ client }: Replica): Promise<true | string> {
  const { result, answer } = await client.call('echo', { text: 'x' });
  if (result && result.isError !== true) return true;
  return new RegExp(`${BASE}/oauth/login/[\\w-]{43}`).exec(answer.text)?.[0] ?? answer.text;
}

/** The link is opened at one replica, and the browser comes back to another. */
async function logIn(link: string | true, opens: Replica, ends = opens): Promise<number> {
  const { href, cookie } = await openLogin(String(link).replace(BASE, opens.local));
  const back = await followLogin(href, `${BASE}/oauth/callback`);
  return (await comeBack(back.href.replace(BASE, ends.local), cookie)).status;
}

describe('two replicas of which one has taken over another config already', () => {
  it('leave the logins and the renewals of each other alone (SEC-15)', async () => {
    const stores = shared();
    const replicas = [await start(first, stores), await start(second, stores)] as const;
    for (const one of replicas) expect(await logIn(await tryCall(one), one)).toBe(200);
    for (const round of [1, 2]) {
      for (const idp of [first, second]) idp.revoke('access');
      const calls = [...replicas, ...replicas, ...replicas].map((one) => tryCall(one));
      expect(await Promise.all(calls)).toEqual(calls.map(() => true));
      for (const idp of [first, second]) expect([idp.grants('refresh_token').length, idp.reused]).toEqual([round, 0]);
    }
    // the login of the one is over, and that of the other is not
    first.revoke('all');
    expect(await tryCall(replicas[0])).toContain('/oauth/login/');
    expect(await tryCall(replicas[1])).toBe(true);
    expect([first.registered.length, second.registered.length]).toEqual([1, 1]);
  });

  it('never finish a login that was begun under the config of the other', async () => {
    const stores = shared();
    const [old, renewed] = [await start(first, stores), await start(second, stores)] as const;
    expect(await logIn(await tryCall(old), old, renewed)).toBe(409);
    expect(await logIn(await tryCall(renewed), renewed, old)).toBe(409);
    for (const idp of [first, second]) expect(idp.grants('authorization_code')).toEqual([]);
    // a link that no one has opened is good at either, for the login that is right there
    expect(await logIn(await tryCall(old), renewed)).toBe(200);
    expect([await tryCall(old), await tryCall(renewed)]).toEqual([expect.stringContaining('/oauth/login/'), true]);
  });
});

describe('a secret of Wharf that an authorization server refuses', () => {
  it('ends no login: it goes on once the secret is right', async () => {
    const client = { clientId: 'wharf', clientSecret: 'the old one' };
    const stores = shared();
    const old = await start(first, stores, client);
    expect(await logIn(await tryCall(old), old)).toBe(200);
    first.forgets = true;
    first.revoke('access');
    expect(await tryCall(old)).toContain('its authorization server says invalid_client');
    first.forgets = false;
    const renewed = await start(first, stores, { ...client, clientSecret: 'the new one' });
    expect(await tryCall(renewed)).toBe(true);
    expect(first.grants('authorization_code').length).toBe(1);
    expect(first.grants('refresh_token').at(-1)?.authorization).toBe(
      `Basic ${Buffer.from('wharf:the+new+one').toString('base64')}`,
    );
  });
});

describe('two replicas of which one has taken over the new secret of Wharf already', () => {
  const [OLD, NEW] = ['the secret of last year, of many bytes', 'the secret of this year, of many bytes'];
  /** In the order that the config asks for: first all replicas have the new one as the second, then it comes to the front. */
  const ROLLING: readonly (readonly [string, string[], string[]])[] = [
    ['it is the second one', [OLD], [OLD, NEW]],
    ['it is the first one', [OLD, NEW], [NEW, OLD]],
    ['the old one is gone', [NEW, OLD], [NEW]],
  ];

  it.each(ROLLING)('renew each login once, and use no refresh token twice: %s', async (_when, one, other) => {
    const stores = shared();
    const replicas = [
      await start(first, stores, {}, { secret: one }),
      await start(first, stores, {}, { secret: other }),
    ];
    const [old, renewed] = replicas as [Replica, Replica];
    expect(await logIn(await tryCall(old), old)).toBe(200);
    for (const order of [
      [renewed, old],
      [old, renewed],
      [renewed, old],
    ]) {
      first.revoke('access');
      for (const at of order) expect(await tryCall(at)).toBe(true);
    }
    first.revoke('access');
    const calls = [...replicas, ...replicas, ...replicas].map((at) => tryCall(at));
    expect(await Promise.all(calls)).toEqual(calls.map(() => true));
    expect([first.reused, first.grants('refresh_token').length]).toEqual([0, 4]);
  });
});
