import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { keyHash } from '../../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const KEY = 'ann-0123456789';

let fake: FakeUpstream;
let wharf: Wharf;
let cookie: string;

beforeAll(async () => {
  fake = await startFakeUpstream({ transport: 'json' });
  wharf = await startWharf({
    servers: { store: { url: fake.url } },
    config: {
      console: { users: [{ name: 'ann', role: 'operator', hash: keyHash(KEY) }] },
      allowedOrigins: ['https://app.example.com', 'https://console.example.com'],
    },
  });
  const answer = await send('/login', {}, new URLSearchParams({ key: KEY }));
  [cookie = ''] = answer.headers.get('set-cookie')?.split(';') ?? [];
});

afterAll(async () => {
  await wharf?.stop();
  await fake?.close();
});

const send = (path: string, headers: Record<string, string>, body = new URLSearchParams()) =>
  fetch(`${wharf.adminUrl}${path}`, { method: 'POST', redirect: 'manual', headers, body });

describe('the admin port changes nothing for a page of another site', () => {
  // a browser sends the cookies of a host to all its ports
  it.each([
    ['at another port of this machine', 'http://localhost:3000', 'same-site'],
    ['at another port, of an old browser', 'http://127.0.0.1:3000', undefined],
    ['that may call the public port', 'https://app.example.com', 'cross-site'],
    ['without an origin', 'null', 'cross-site'],
  ])('%s', async (_where, origin, site) => {
    const headers = { cookie, origin, ...(site !== undefined && { 'sec-fetch-site': site }) };
    for (const path of ['/sessions/end', '/servers/store/try?tool=echo', '/files/f_AAAAAAAAAAAAAAAAAAAAAA/revoke'])
      expect((await send(path, headers)).status).toBe(403);
  });

  it('at another name of this machine, of an old browser', async () => {
    const origin = wharf.adminUrl.replace('127.0.0.1', 'localhost');
    for (const from of [origin, wharf.adminUrl.replace('127.0.0.1', '[::1]')])
      expect((await send('/sessions/end', { cookie, origin: from })).status).toBe(403);
  });

  it('and takes the forms of its own pages, also behind a proxy with a name', async () => {
    for (const origin of [wharf.adminUrl, 'https://console.example.com']) {
      const answer = await send('/sessions/end', { cookie, origin, 'sec-fetch-site': 'same-origin' });
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/sessions']);
    }
    // of an old browser
    expect((await send('/sessions/end', { cookie, origin: wharf.adminUrl })).status).toBe(303);
  });
});
