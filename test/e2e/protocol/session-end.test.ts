import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { RawClient } from '../../helpers/raw-client.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

let fake: FakeUpstream;
let wharf: Wharf;

beforeAll(async () => {
  fake = await startFakeUpstream({ session: true });
  wharf = await startWharf({ servers: { one: { url: fake.url } } });
  fake.respond = ({ method }) =>
    method === 'GET'
      ? { contentType: 'text/event-stream', body: ': here\n\n', framing: 'chunked', cutAfter: 8, cut: 'stall' }
      : undefined;
});
afterAll(async () => {
  await wharf.stop();
  await fake.close();
});

/** Opens a session, and the stream on which its client listens. */
async function listen() {
  const headers = { 'mcp-session-id': (await RawClient.connect(wharf.mcp, '2025-06-18')).session ?? '' };
  const stream = await fetch(wharf.mcp, { headers: { ...headers, accept: 'text/event-stream' } });
  expect(stream.status).toBe(200);
  const heard = { headers, isOver: false };
  void stream.text().then(() => {
    heard.isOver = true;
  });
  return heard;
}

describe('a session that its client ends', () => {
  it('takes with it the stream on which the client listens, which its server leaves open, and no other', async () => {
    const [ended, other] = [await listen(), await listen()];
    expect((await fetch(wharf.mcp, { method: 'DELETE', headers: ended.headers })).status).toBeLessThan(300);
    await until(() => ended.isOver);
    expect(other.isOver).toBe(false);
  });
});
