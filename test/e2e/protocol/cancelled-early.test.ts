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
