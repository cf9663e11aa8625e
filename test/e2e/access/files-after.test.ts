import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { keyHash } from '../../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { readAnswer } from '../../helpers/raw-client.js';
import { freshName } from '../../helpers/services.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const KEY = 'bob-0123456789';

let fake: FakeUpstream;
let before: Wharf;
let after: Wharf;

beforeAll(async () => {
  fake = await startFakeUpstream({ transport: 'json' });
  const shared = { stores: 's3+redis' as const, bucket: freshName('after'), keyPrefix: `${freshName('after')}:` };
  const config = {
    auth: {
      use: 'apiKeys',
      keys: [
        { name: 'bob', hash: keyHash(KEY) },
        { name: 'ada', hash: keyHash('ada-0123456789') },
      ],
    },
    links: { style: 'gateway' },
  };
  const open = { url: fake.url };
  before = await startWharf({ ...shared, servers: { hr: open, web: open }, config });
  const closed = { ...open, allow: [{ key: 'ada' }] };
  after = await startWharf({ ...shared, servers: { hr: closed, web: open }, config });
});

afterAll(async () => {
  await before?.stop();
  await after?.stop();
  await fake?.close();
});

async function post(wharf: Wharf, server: string, method: string, params: object) {
  const response = await fetch(`${wharf.url}/${server}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${KEY}`,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return readAnswer(response);
}

it('a caller keeps the files of a server that it may no longer reach, and can call nothing of it', async () => {
  const blob = { name: 'blob', arguments: { size: 1_000_000, seed: 77 } };
  const { text } = await post(before, 'hr', 'tools/call', blob);
  const [uri] = /mcp-file:[^"\\ ]+/.exec(text) ?? [''];
  const [, ticket] = /\/d\/([\w-]+)/.exec(text) ?? [];
  expect(uri).toMatch(/^mcp-file:/);
  const asked = fake.requests.length;
  expect((await post(after, 'hr', 'tools/call', blob)).status).toBe(403);
  expect(fake.requests.length).toBe(asked);
  const download = await fetch(`${after.url}/d/${ticket}`);
  expect([download.status, (await download.arrayBuffer()).byteLength]).toEqual([200, 1_000_000]);
  const read = await post(after, 'web', 'resources/read', { uri });
  expect(read.status).toBe(200);
  expect(read.text).toContain('contents');
});
