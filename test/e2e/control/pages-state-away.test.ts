import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { keyHash } from '../../helpers/bytes.js';
import { SECRET } from '../../helpers/fault-stores.js';
import { OwnRedis } from '../../helpers/own-redis.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { announced, image } from '../files/handoff-lab.js';

const KEY = 'ann-0123456789';

let upstream: RecordingUpstream;
let redis: OwnRedis;
let wharf: Wharf;
let cookie: string;

beforeAll(async () => {
  upstream = await RecordingUpstream.start({
    tools: [{ name: 'give', inputSchema: { type: 'object' } }],
    methods: {
      'tools/call': () => ({
        content: [{ type: 'image', mimeType: 'image/png', data: image().toString('base64') }],
      }),
    },
  });
  redis = await OwnRedis.start();
  const users = [{ name: 'ann', role: 'operator', hash: keyHash(KEY) }];
  const config = { console: { users }, state: { use: 'redis', url: redis.url }, secret: SECRET };
  wharf = await startWharf({ servers: { store: { url: upstream.url } }, config });
  const answer = await send('/login', new URLSearchParams({ key: KEY }));
  [cookie = ''] = answer.headers.get('set-cookie')?.split(';') ?? [];
});

afterAll(async () => {
  await wharf?.stop();
  await redis?.stop();
  await upstream?.stop();
});

const send = (path: string, body: URLSearchParams, headers: Record<string, string> = {}) =>
  fetch(`${wharf.adminUrl}${path}`, { method: 'POST', redirect: 'manual', headers, body });

describe('while the state store is away', () => {
  it('a page of the console says so, with its menu, and a program gets the error', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const { uri } = announced((await client.call('give')).result);
    await redis.kill();
    const change = new URLSearchParams({ id: uri.slice(uri.lastIndexOf('/') + 1), action: 'hold' });
    const person = { cookie, accept: 'text/html' };
    const asked = [fetch(`${wharf.adminUrl}/stored`, { headers: person }), send('/stored/change', change, person)];
    for (const answer of await Promise.all(asked)) {
      expect([answer.status, answer.headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8']);
      expect(answer.headers.get('retry-after')).toBe('5');
      const page = await answer.text();
      expect(page).toContain('The state store is not available');
      expect(page).toContain('<a href="/stored" aria-current="page">Files</a>');
    }
    const data = await fetch(`${wharf.adminUrl}/api/stored`, { headers: { authorization: `Bearer ${KEY}` } });
    expect([data.status, await data.json()]).toMatchObject([503, { error: { data: { code: 'state_unavailable' } } }]);
  });
});
