import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startFakeUpstream } from '../../helpers/fake-upstream.js';
import { type RawAnswer, RawClient } from '../../helpers/raw-client.js';
import { type SdkServer, startEverything, type Transport } from '../../helpers/sdk-servers.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const VERSION = '2025-03-26';
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const CHANGED = { jsonrpc: '2.0', method: 'notifications/roots/list_changed' };
const echo = (id: number, message: string) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'echo', arguments: { message } },
});

/** Without what the server says on its own account meanwhile. */
const answersIn = ({ messages }: RawAnswer) => messages.filter(({ id }) => id !== undefined);

/** Both take one message at a time, as the servers of all SDKs do; 2025-03-26 says that a batch MUST be accepted. */
describe.each<Transport>(['stdio', 'sse'])('a batch for the server "everything" over %s', (transport) => {
  let server: SdkServer;
  let wharf: Wharf;

  beforeAll(async () => {
    server = await startEverything(transport);
    const at = server.command ? { command: server.command } : { url: server.url };
    const files = { message: { encoding: 'base64' } };
    wharf = await startWharf({ servers: { plain: at, files: { ...at, tools: { echo: { files } } } } });
  });

  afterAll(async () => {
    await wharf?.stop();
    server?.stop();
  });

  const at = (name: string) => `${wharf.url}/${name}/mcp`;

  it.each([
    ['as events', 'application/json, text/event-stream', 'text/event-stream'],
    ['as a batch where the client takes no events', 'application/json', 'application/json'],
  ])('is answered %s', async (_, accept, type) => {
    const client = await RawClient.connect(at('plain'), VERSION);
    const answer = await client.post([PING, CHANGED, echo(2, '[{"id":3},{"id":4}]')], { accept });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type]);
    expect(answersIn(answer)).toEqual([
      { jsonrpc: '2.0', id: 1, result: {} },
      { jsonrpc: '2.0', id: 2, result: { content: [{ type: 'text', text: 'Echo: [{"id":3},{"id":4}]' }] } },
    ]);
    if (type === 'application/json') expect(JSON.parse(answer.text)).toHaveLength(2);
  });

  it('of one message is answered by a batch of one', async () => {
    const client = await RawClient.connect(at('plain'), VERSION);
    const { text } = await client.post([PING], { accept: 'application/json' });
    expect(JSON.parse(text)).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
  });

  it('without requests is taken, and the session goes on', async () => {
    const client = await RawClient.connect(at('plain'), VERSION);
    const answer = await client.post([CHANGED, CHANGED]);
    expect([answer.status, answer.text]).toEqual([202, '']);
    expect(answersIn(await client.post(PING))).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
  });

  it('may hold files: each call gets its own, whether it is sent in one piece or as it is read', async () => {
    const client = await RawClient.connect(at('files'), VERSION);
    const [short, long] = [Buffer.alloc(100, 1), Buffer.alloc(150_000, 2)].map((bytes) => bytes.toString('base64'));
    const uri = (base64: string | undefined) => `data:application/octet-stream;base64,${base64}`;
    const messages = answersIn(await client.post([echo(1, uri(short)), { ...PING, id: 2 }, echo(3, uri(long))]));
    const textOf = (id: number) => messages.find((one) => one.id === id)?.result?.content?.[0]?.text;
    expect(messages).toHaveLength(3);
    expect([textOf(1), textOf(3)]).toEqual([`Echo: ${short}`, `Echo: ${long}`]);
  });
});

describe('a batch for a server that answers as JSON', () => {
  it.each([
    ['breaks off', '[{"jsonrpc":"2.0","id":1,"result":{"a":', 'close'],
    ['is cut in the midst', '[{"jsonrpc":"2.0","id":1,"result":{"a":', 'length'],
  ] as const)('is answered by a batch of errors where the answer %s', async (_, body, framing) => {
    const fake = await startFakeUpstream();
    const wharf = await startWharf({ servers: { one: { url: fake.url, transport: 'streamable-http' } } });
    try {
      const client = await RawClient.connect(wharf.mcp, VERSION);
      fake.queue.push({ contentType: 'application/json', body, framing });
      const answer = await client.post([PING, { ...PING, id: 2 }]);
      const error = { code: expect.any(Number), message: expect.any(String), data: expect.anything() };
      expect(JSON.parse(answer.text)).toEqual([1, 2].map((id) => ({ jsonrpc: '2.0', id, error })));
    } finally {
      await wharf.stop();
      await fake.close();
    }
  });
});
