import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { freshName, redisUrl } from '../../helpers/services.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const URI = 'notes://reports/q3?key=hunter2';

let redis: Redis;
let withSessions: FakeUpstream;
let withLinks: RecordingUpstream;
let wharf: Wharf;
const keyPrefix = `${freshName('dump')}:`;
const bucket = freshName('dump');

const start = () =>
  startWharf({
    servers: {
      sessions: { url: withSessions.url, transport: 'streamable-http' },
      links: {
        url: withLinks.url,
        transport: 'streamable-http',
        tools: { take: { files: { data: { encoding: 'base64' } } } },
      },
    },
    stores: 's3+redis',
    keyPrefix,
    bucket,
  });

beforeAll(async () => {
  redis = new Redis(redisUrl());
  withSessions = await startFakeUpstream({ session: true });
  withLinks = await RecordingUpstream.start({
    tools: [
      { name: 'take', inputSchema: { type: 'object', properties: { data: { type: 'string' } } } },
      { name: 'link', inputSchema: { type: 'object' } },
    ],
    methods: {
      'tools/call': ({ name }) =>
        name === 'link' ? { content: [{ type: 'resource_link', uri: URI, name: 'q3' }] } : undefined,
      'resources/read': ({ uri }) => ({ contents: [{ uri, text: 'a report' }] }),
    },
  });
  wharf = await start();
});

afterAll(async () => {
  await wharf?.stop();
  await withSessions?.close();
  await withLinks?.stop();
  await redis?.quit();
});

it('a dump of the state store shows no upstream’s session and no URI that a server gave, and Wharf reads both again (G38)', async () => {
  const session = await RawClient.connect(`${wharf.url}/sessions/mcp`);
  await session.request('ping');
  const upstreams = withSessions.requests.at(-1)?.headers['mcp-session-id'];
  expect(upstreams).toEqual(expect.stringMatching(/./));
  const links = await RawClient.connect(`${wharf.url}/links/mcp`);
  const { result } = await links.call('link');
  const [file] = (result?._meta as { 'dev.wharf/files'?: { uri: string }[] } | undefined)?.['dev.wharf/files'] ?? [];
  expect(file?.uri).toMatch(/^mcp-file:/);
  const keys = await redis.keys(`${keyPrefix}*`);
  expect(keys.map((key) => key.slice(keyPrefix.length).split(':')[0])).toEqual(
    expect.arrayContaining(['session', 'lazy']),
  );
  const dump = JSON.stringify(await redis.mget(keys)) + keys.join('\n');
  for (const secret of [upstreams, 'hunter2', 'notes:', session.session]) expect(dump).not.toContain(String(secret));
  // another replica, which has none of it in memory
  const replica = await start();
  try {
    const other = new URL(replica.url).port;
    const moved = { ...session.headers(), 'content-type': 'application/json' };
    const answer = await fetch(`http://127.0.0.1:${other}/sessions/mcp`, {
      method: 'POST',
      headers: moved,
      body: '{"jsonrpc":"2.0","id":99,"method":"ping"}',
    });
    expect(answer.status).toBe(200);
    expect(withSessions.requests.at(-1)?.headers['mcp-session-id']).toBe(upstreams);
    const client = await RawClient.connect(`${replica.url}/links/mcp`);
    await client.call('take', { data: file?.uri });
    expect(Buffer.from(String(withLinks.lastArguments.data), 'base64').toString()).toBe('a report');
  } finally {
    await replica.stop();
  }
});
