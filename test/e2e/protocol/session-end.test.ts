import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { RawClient } from '../../helpers/raw-client.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

/** A server that tells when its input ends, and does not end itself. */
const LINGERS = `
  const say = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
  const lines = require('node:readline').createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const { id, method, params: { protocolVersion } = {} } = JSON.parse(line);
    const serverInfo = { name: 'lingers', version: '1' };
    if (method === 'initialize') say({ id, result: { protocolVersion, capabilities: {}, serverInfo } });
  });
  lines.on('close', () => say({ method: 'notifications/message', params: { level: 'info', data: 'saved' } }));
  setInterval(() => undefined, 1000);
`;

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

  it('hears on that stream what its process says at the end of its input, on which it works on', async () => {
    const stdio = await startWharf({ servers: { lingers: { command: [process.execPath, '-e', LINGERS] } } });
    const client = await RawClient.connect(stdio.mcp);
    const listens = () => fetch(stdio.mcp, { headers: { ...client.headers(), accept: 'text/event-stream' } });
    const stream = await listens();
    const ended = fetch(stdio.mcp, { method: 'DELETE', headers: client.headers() });
    expect(await stream.text()).toContain('"saved"');
    expect((await ended).status).toBe(204);
    expect((await listens()).status).toBe(404);
    await stdio.stop();
  });
});
