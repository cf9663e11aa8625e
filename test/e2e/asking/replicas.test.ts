import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startGateway } from '../../helpers/gateway-process.js';
import { RawClient } from '../../helpers/raw-client.js';
import type { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { freshName, redisUrl, s3Config } from '../../helpers/services.js';
import type { Wharf } from '../../helpers/wharf.js';
import { PNG, SETTINGS, startGatewayFor, startUpstream, textOf, upload } from './lab.js';
import { RawCall } from './raw-call.js';

const shared = { stores: 's3+redis', bucket: freshName('asking'), keyPrefix: `${freshName('asking')}:` } as const;
const URL_CLIENT = { elicitation: { url: {} } };

let upstream: RecordingUpstream;
let waiting: Wharf;
let other: Wharf;

beforeAll(async () => {
  upstream = await startUpstream();
  waiting = await startGatewayFor(upstream, shared);
  other = await startGatewayFor(upstream, shared);
});

afterAll(async () => {
  await waiting?.stop();
  await other?.stop();
  await upstream?.stop();
});

/** A call that waits at one replica, and its session at the other. */
async function asked() {
  const call = await RawCall.begin(waiting.mcp, 'take', {}, { capabilities: URL_CLIENT });
  const question = await call.message(({ method }) => method === 'elicitation/create');
  const headers = { 'mcp-session-id': String(call.client.session) };
  const elsewhere = RawClient.of(other.mcp, '2025-11-25', headers);
  const url = String(question.params?.url).replace(waiting.url, other.url);
  return { call, elsewhere, url, id: question.id };
}

it('a file and an answer that come to another replica finish the call that waits (FB-01, FB-02)', async () => {
  const { call, elsewhere, url, id } = await asked();
  expect((await elsewhere.post({ jsonrpc: '2.0', id, result: { action: 'accept' } })).status).toBe(202);
  expect(await upload(url)).toBe(201);
  expect(JSON.parse(textOf(await call.result()))).toEqual({ file: PNG.toString('base64') });
});

it('a call that is cancelled at another replica ends, and its page learns of it at once (FB-05)', async () => {
  const { call, elsewhere, url } = await asked();
  const params = { requestId: call.id };
  await elsewhere.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
  const page = await fetch(url, { headers: { accept: 'application/json' } });
  expect(await page.json()).toEqual({ status: 'cancelled' });
  expect(await call.broken()).toBe(false);
  expect(call.messages.filter(({ id, method }) => id === call.id && method === undefined)).toEqual([]);
  expect(await upload(url)).toBe(410);
});

it.each(['the same replica', 'another replica'])(
  'a call whose session is ended at %s ends, and its page with it (FB-05)',
  async (place) => {
    const { call, elsewhere, url } = await asked();
    const client = place === 'another replica' ? elsewhere : call.client;
    expect(await client.delete()).toBe(204);
    expect(await call.broken()).toBe(false);
    expect(call.messages.filter(({ id, method }) => id === call.id && method === undefined)).toEqual([]);
    expect(await upload(url)).toBe(410);
  },
);

it('a call of another session is not cancelled by one of the same id', async () => {
  const { call, url } = await asked();
  const stranger = await RawClient.connect(other.mcp, '2025-11-25', { capabilities: URL_CLIENT });
  const params = { requestId: call.id };
  await stranger.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
  expect(await upload(url)).toBe(201);
  expect(JSON.parse(textOf(await call.result()))).toEqual({ file: PNG.toString('base64') });
});

it('a call whose replica is killed breaks off, and its file is there for the next call (FB-02)', async () => {
  const killed = await startGateway({
    config: {
      servers: { docs: { url: upstream.url, transport: 'streamable-http', tools: SETTINGS } },
      objects: { use: 's3', ...s3Config(shared.bucket) },
      state: { use: 'redis', url: redisUrl(), keyPrefix: shared.keyPrefix },
      secret: 'the tests of this repository share this secret',
    },
  });
  const call = await RawCall.begin(killed.mcp(), 'take', {}, { capabilities: URL_CLIENT });
  const question = await call.message(({ method }) => method === 'elicitation/create');
  process.kill(killed.pid, 'SIGKILL');
  expect(await call.broken()).toBe(true);
  const url = String(question.params?.url).replace(killed.url, other.url);
  const stored = await fetch(url, { method: 'PUT', body: new Uint8Array(PNG) });
  const { file } = (await stored.json()) as { file: { uri: string } };
  const client = RawClient.of(other.mcp, '2025-11-25', { 'mcp-session-id': String(call.client.session) });
  const { result } = await client.call('take', { file: file.uri });
  expect(JSON.parse(textOf(result))).toEqual({ file: PNG.toString('base64') });
  await killed.stop();
});

it('a call that waits when Wharf shuts down is answered with its link, which another replica serves (FB-02)', async () => {
  const ending = await startGatewayFor(upstream, shared);
  const call = await RawCall.begin(ending.mcp, 'take', {}, { capabilities: URL_CLIENT });
  const question = await call.message(({ method }) => method === 'elicitation/create');
  const stopped = ending.stop();
  const text = textOf(await call.result());
  expect(text).toMatch(/does not wait for it: Wharf is shutting down/);
  expect(text).toContain(String(question.params?.url));
  await stopped;
  expect(await upload(String(question.params?.url).replace(ending.url, other.url))).toBe(201);
});

it('a person who declines at another replica ends it (FB-05)', async () => {
  const { call, elsewhere, url, id } = await asked();
  await elsewhere.post({ jsonrpc: '2.0', id, result: { action: 'decline' } });
  expect((await call.result()).isError).toBe(true);
  expect(await upload(url)).toBe(410);
});
