import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { RawClient } from '../../helpers/raw-client.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

let fake: FakeUpstream;
let wharf: Wharf;

beforeEach(async () => {
  fake = await startFakeUpstream({ session: true });
  wharf = await startWharf({ servers: { one: { url: fake.url } }, config: { limits: { sessions: 2 } } });
});
afterEach(async () => {
  await wharf.stop();
  await fake.close();
});

const initialize = (more: Record<string, unknown>) =>
  RawClient.stateless(wharf.mcp, '2025-06-18').post({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' }, ...more },
  });

describe('a session', () => {
  it.each([
    ['one long text', { files: 'x'.repeat(17_000) }],
    [
      'many names',
      Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`a name of some length ${index}`, {}])),
    ],
    ['a deep value', { experimental: { a: Array.from({ length: 900 }, () => ['a text of some length']) } }],
  ])('is refused to a client that declares too much: %s', async (_what, capabilities) => {
    const answer = await initialize({ capabilities });
    expect(answer.status).toBe(413);
    expect(answer.messages[0]?.error).toMatchObject({
      code: -32602,
      data: { code: 'capabilities_too_large', limit: 'limits.capabilities', allowed: 16_384 },
    });
    expect(fake.requests).toEqual([]);
  });

  it.each([
    ['of one text', ['x'.repeat(16_300)]],
    ['of texts beyond ASCII', ['é'.repeat(8150)]],
    ['of texts with escapes', ['"'.repeat(8150)]],
    ['of many values', Array.from({ length: 5440 }, () => 10)],
  ])('is opened for capabilities as large as may be, and not for one byte more: %s', async (_what, files) => {
    const capabilities = (more: string) => ({ files, x: more });
    const room = 16_384 - Buffer.byteLength(JSON.stringify(capabilities('')));
    expect((await initialize({ capabilities: capabilities('y'.repeat(room)) })).status).toBe(200);
    const answer = await initialize({ capabilities: capabilities('y'.repeat(room + 1)) });
    expect(answer.messages[0]?.error?.data).toMatchObject({ code: 'capabilities_too_large', actual: 16_385 });
  });

  it('is opened for a client with a long name, of which it keeps the beginning', async () => {
    const answer = await initialize({ clientInfo: { name: 'n'.repeat(1_000_000), version: '1' } });
    expect(answer.status).toBe(200);
    expect(wharf.logged().length).toBeLessThan(100_000);
  });

  it('is refused when the server gives it an endless id', async () => {
    const result = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'x', version: '1' } };
    fake.respond = () => ({
      contentType: 'application/json',
      headers: { 'mcp-session-id': 's'.repeat(10_000) },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, result }),
    });
    const answer = await initialize({});
    expect(answer.status).toBe(502);
    expect(answer.messages[0]?.error?.message).toContain('session id');
  });

  it('ends for a new one where there are as many as may be, and its server hears of it', async () => {
    const clients = [await RawClient.connect(wharf.mcp), await RawClient.connect(wharf.mcp)];
    clients.push(await RawClient.connect(wharf.mcp));
    const statuses = [];
    for (const client of clients) {
      statuses.push((await client.post({ jsonrpc: '2.0', id: 9, method: 'ping' })).status);
    }
    expect(statuses).toEqual([404, 200, 200]);
    const deleted = fake.requests.filter(({ method }) => method === 'DELETE');
    const first = fake.requests.findIndex(({ body }) => body.includes('"initialize"'));
    expect(deleted.map(({ headers }) => headers['mcp-session-id'])).toEqual([`upstream-session-${first + 1}`]);
  });
});
