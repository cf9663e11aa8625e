import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { OwnRedis } from '../../helpers/own-redis.js';
import { RawClient } from '../../helpers/raw-client.js';
import type { RecordingUpstream } from '../../helpers/recording-upstream.js';
import type { Wharf } from '../../helpers/wharf.js';
import { PNG, startGatewayFor, startUpstream, textOf, upload } from './lab.js';
import { RawCall } from './raw-call.js';

const ABOUT = { capabilities: { elicitation: { form: {}, url: {} } } };
const SECRET = 'the tests of this repository share this secret';

let upstream: RecordingUpstream;
let redis: OwnRedis;
let wharf: Wharf;

beforeAll(async () => {
  upstream = await startUpstream();
  redis = await OwnRedis.start();
  wharf = await startGatewayFor(upstream, { config: { state: { use: 'redis', url: redis.url }, secret: SECRET } });
});

afterAll(async () => {
  await wharf?.stop();
  await redis?.stop();
  await upstream?.stop();
});

const linkIn = (text: string) => /http[^\s"\\]*\/u\/[\w-]+/.exec(text)?.[0] ?? '';

/** The answer of a call that waited for the file of a lost link: it says so, and has a link that works. */
async function expectAnotherLink(result: unknown, lost: string): Promise<void> {
  expect(result).toMatchObject({ isError: true });
  expect(textOf(result)).toContain('Wharf no longer knows the link that the user was given before');
  expect(await upload(lost)).toBe(404);
  const link = linkIn(textOf(result));
  expect(link).not.toBe(lost);
  expect(await upload(link)).toBe(201);
}

it('a call whose user is asked on its stream is answered when Redis loses everything: its client has not left', async () => {
  const call = await RawCall.begin(wharf.mcp, 'take', {}, ABOUT);
  const { id, params } = await call.message(({ method }) => method === 'elicitation/create');
  await redis.command('flushall');
  await expectAnotherLink(await call.result(), String(params?.url));
  // its window would stay open for nothing
  expect(call.messages).toContainEqual(
    expect.objectContaining({ method: 'notifications/cancelled', params: expect.objectContaining({ requestId: id }) }),
  );
  expect((await call.client.call('take', { file: PNG.toString('base64') })).result?.isError).not.toBe(true);
});

it('a call that is made again after a question is answered at once when Redis loses everything, and not after its round', async () => {
  const client = RawClient.stateless(wharf.mcp, '2026-07-28', ABOUT);
  const call = { name: 'take', arguments: {} };
  const { result } = await client.request('tools/call', call);
  const asked = linkIn(JSON.stringify(result));
  await redis.command('flushall');
  const inputResponses = { 'wharf-file-1': { action: 'accept' } };
  const again = await client.request('tools/call', { ...call, requestState: result?.requestState, inputResponses });
  await expectAnotherLink(again.result, asked);
});
