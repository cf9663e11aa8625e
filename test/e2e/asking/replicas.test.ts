import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import type { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { freshName } from '../../helpers/services.js';
import type { Wharf } from '../../helpers/wharf.js';
import { PNG, startGatewayFor, startUpstream, textOf, upload } from './lab.js';
import { RawCall } from './raw-call.js';

const URL_CLIENT = { elicitation: { url: {} } };

let upstream: RecordingUpstream;
let waiting: Wharf;
let other: Wharf;

beforeAll(async () => {
  upstream = await startUpstream();
  const shared = { stores: 's3+redis', bucket: freshName('asking'), keyPrefix: `${freshName('asking')}:` } as const;
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

it('a person who declines at another replica ends it (FB-05)', async () => {
  const { call, elsewhere, url, id } = await asked();
  await elsewhere.post({ jsonrpc: '2.0', id, result: { action: 'decline' } });
  expect((await call.result()).isError).toBe(true);
  expect(await upload(url)).toBe(410);
});
