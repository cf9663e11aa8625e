import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { OwnRedis } from '../../helpers/own-redis.js';
import { RawClient } from '../../helpers/raw-client.js';
import type { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { until } from '../../helpers/wait.js';
import type { Wharf } from '../../helpers/wharf.js';
import { PNG, startGatewayFor, startUpstream, textOf, upload } from './lab.js';
import { RawCall } from './raw-call.js';
import { binary } from './server-lab.js';
import { asked, begin, look, outcome, TaskLab, update } from './task-lab.js';

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
  const lost = linkIn(JSON.stringify(result));
  await redis.command('flushall');
  const inputResponses = { 'wharf-file-1': { action: 'accept' } };
  const again = await client.request('tools/call', { ...call, requestState: result?.requestState, inputResponses });
  await expectAnotherLink(again.result, lost);
});

it('a task that waits for a file asks anew, by a link that works, when Redis loses everything', async () => {
  const scan = { method: 'elicitation/create', params: binary() };
  const lab = await TaskLab.start({ scan }, { config: { state: { use: 'redis', url: redis.url }, secret: SECRET } });
  const client = lab.client(ABOUT.capabilities);
  const taskId = await begin(client);
  const [key, { url: lost }] = asked(await look(client, taskId));
  await update(client, taskId, { [key]: { action: 'accept' } });
  expect((await look(client, taskId)).status).toBe('working');
  await redis.command('flushall');
  await until(async () => (await look(client, taskId)).inputRequests !== undefined);
  const [again, { url }] = asked(await look(client, taskId));
  expect([again, url]).not.toEqual([key, lost]);
  expect(await upload(String(lost))).toBe(404);
  await update(client, taskId, { [again]: { action: 'accept' } });
  expect(await upload(String(url))).toBe(201);
  expect((await outcome(client, taskId)).heard.scan).toMatchObject({ action: 'accept' });
  await lab.stop();
});
