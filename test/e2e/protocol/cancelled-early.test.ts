import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { gate } from '../../helpers/gate.js';
import { RawClient } from '../../helpers/raw-client.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const SCRIPT = fileURLToPath(new URL('../../../../test/helpers/scripted-stdio.fixture.mjs', import.meta.url));

let fake: FakeUpstream | undefined;
let wharf: Wharf | undefined;
let folder: string | undefined;

afterEach(async () => {
  await wharf?.stop();
  await fake?.close();
  fake = undefined;
  if (folder !== undefined) await rm(folder, { recursive: true });
  folder = undefined;
});

const call = (id: number, name: string) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } });
const cancel = (requestId: number) => ({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });

describe('a call that is cancelled before its server has been sent it', () => {
  it('is not made over Streamable HTTP', async () => {
    fake = await startFakeUpstream({ transport: 'json', session: true });
    const server = fake;
    const list = '{"jsonrpc":"2.0","id":"wharf-1","result":{"tools":[]}}';
    const isList = (body: Buffer) => body.includes('"tools/list"');
    // a call of a tool that Wharf does not know yet waits for the list
    const cancelled = gate();
    server.respond = ({ body }) =>
      isList(body) ? { after: cancelled.opened, contentType: 'application/json', body: list } : undefined;
    wharf = await startWharf({ servers: { fake: { url: server.url, transport: 'streamable-http' } } });
    const client = await RawClient.connect(wharf.mcp);
    const called = client.post(call(7, 'echo'));
    await until(() => server.requests.some(({ body }) => isList(body)));
    expect((await client.post(cancel(7))).status).toBe(202);
    cancelled.open();
    expect(await called).toMatchObject({ status: 202, text: '' });
    expect(server.requests.filter(({ body }) => body.includes('"tools/call"'))).toEqual([]);
    // its id is free, and another call is made
    expect((await client.post(call(7, 'echo'))).messages[0]).toMatchObject({ id: 7 });
  });

  it('is made all the same where another token of the session says so (passthrough)', async () => {
    fake = await startFakeUpstream({ transport: 'json', session: true });
    const server = fake;
    const list = '{"jsonrpc":"2.0","id":"wharf-1","result":{"tools":[]}}';
    const listed = gate();
    server.respond = ({ body, headers }) => {
      if (headers.authorization === 'Bearer made-up') return { status: 401, contentType: 'text/plain', body: 'no' };
      if (!body.includes('"tools/list"')) return undefined;
      return { after: listed.opened, contentType: 'application/json', body: list };
    };
    const servers = { fake: { url: server.url, transport: 'streamable-http' } };
    wharf = await startWharf({ servers, config: { auth: { use: 'passthrough' } } });
    const version = '2025-06-18';
    const client = await RawClient.connect(wharf.mcp, version, { headers: { authorization: 'Bearer first' } });
    const called = client.post(call(7, 'echo'));
    await until(() => server.requests.some(({ body }) => body.includes('"tools/list"')));
    const stranger = { authorization: 'Bearer made-up', 'mcp-session-id': String(client.session) };
    expect((await RawClient.of(wharf.mcp, version, stranger).post(cancel(7))).status).toBe(401);
    listed.open();
    expect((await called).messages[0]).toMatchObject({ id: 7 });
  });

  it('is not made over stdio', async () => {
    folder = await mkdtemp(join(tmpdir(), 'wharf-cancelled-'));
    const [asked, go] = [join(folder, 'asked'), join(folder, 'go')];
    wharf = await startWharf({ servers: { counting: { command: [process.execPath, SCRIPT, 'counting', folder] } } });
    const client = await RawClient.connect(wharf.mcp);
    const called = client.post(call(7, 'count'));
    await until(() => existsSync(asked));
    await client.post(cancel(7));
    await writeFile(go, '');
    expect(await called).toMatchObject({ status: 202, text: '' });
    const { messages } = await client.post(call(8, 'count'));
    expect(messages.at(-1)).toMatchObject({ id: 8, result: { content: [{ text: '1' }] } });
  });
});

describe('a call that is cancelled while its server works on it', () => {
  const calls = ({ body }: { body: Buffer }) => body.includes('"tools/call"');

  it.each([
    ['ends', {}],
    ['breaks off', { cut: 'rst' }],
  ] as const)('gets no error when its stream %s without an answer', async (_, end) => {
    fake = await startFakeUpstream({ transport: 'sse', session: true });
    const server = fake;
    const cancelled = gate();
    const stream = { contentType: 'text/event-stream', framing: 'chunked', body: ': working\n\n', ...end } as const;
    server.respond = (request) => (calls(request) ? { after: cancelled.opened, ...stream } : undefined);
    wharf = await startWharf({ servers: { fake: { url: server.url, transport: 'streamable-http' } } });
    const client = await RawClient.connect(wharf.mcp);
    const called = client.post(call(7, 'echo'));
    await until(() => server.requests.some(calls));
    await client.post(cancel(7));
    cancelled.open();
    expect((await called).messages).toEqual([]);
    // its id is free, and a call that is not cancelled is told of the same end
    expect((await client.post(call(7, 'echo'))).messages).toMatchObject([
      { id: 7, error: { data: { code: 'upstream_closed' } } },
    ]);
  });

  it.each([
    ['not begun', ''],
    ['begun', 'working'],
  ])('gets no error when its stdio server ends while its answer has %s', async (_, says) => {
    folder = await mkdtemp(join(tmpdir(), 'wharf-cancelled-'));
    const [asked, go] = [join(folder, 'asked'), join(folder, 'go')];
    const command = [process.execPath, SCRIPT, 'ending', folder, says];
    wharf = await startWharf({ servers: { ending: { command } } });
    const client = await RawClient.connect(wharf.mcp);
    const called = client.post(call(7, 'end'));
    await until(() => existsSync(asked));
    await client.post(cancel(7));
    await writeFile(go, '');
    const { messages } = await called;
    expect(messages.filter((message) => 'id' in message)).toEqual([]);
  });
});
