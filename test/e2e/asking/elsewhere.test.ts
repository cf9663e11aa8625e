import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { freshName } from '../../helpers/services.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { asked, RawCall } from './raw-call.js';
import { binary, FORMS, toldIn, URI } from './server-lab.js';

const ARGS = ['test/helpers/eliciting-server.fixture.mjs', JSON.stringify(binary())];
/** The server's own question, which its client is not asked, answered with a file that no rule has been asked about. */
const ANSWER = { jsonrpc: '2.0', id: 'ask-1', result: { action: 'accept', content: { scan: URI } } };

let server: ChildProcess | undefined;
let wharfs: Wharf[] = [];

afterEach(async () => {
  await Promise.all(wharfs.map((wharf) => wharf.stop()));
  if (server?.kill()) await once(server, 'exit');
  [wharfs, server] = [[], undefined];
});

/** A call that waits at one of two replicas, and its session at the other. */
async function waiting(docs: Record<string, unknown>) {
  const shared = {
    stores: 's3+redis',
    bucket: freshName('elsewhere'),
    keyPrefix: `${freshName('elsewhere')}:`,
  } as const;
  const options = { ...shared, servers: { docs }, config: { limits: { accept: ['image/png'] } } };
  wharfs = [await startWharf(options), await startWharf(options)];
  const [one, two] = wharfs as [Wharf, Wharf];
  const { call, question } = asked(await RawCall.begin(one.mcp, 'ask', {}, { capabilities: FORMS }));
  const { id } = await question();
  const elsewhere = RawClient.of(two.mcp, '2025-11-25', { 'mcp-session-id': String(call.client.session) });
  return { one, call, elsewhere, decline: { jsonrpc: '2.0', id, result: { action: 'decline' } } };
}

describe('a client that answers at another replica what Wharf has taken over, where files are judged', () => {
  it('is not heard by its server over HTTP', async () => {
    server = spawn(process.execPath, [...ARGS, 'http'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(server.stdout as NonNullable<ChildProcess['stdout']>, 'data');
    const url = `${String(line).trim()}/mcp`;
    const { call, elsewhere, decline } = await waiting({ url, transport: 'streamable-http' });
    for (const message of [ANSWER, decline]) expect((await elsewhere.post(message)).status).toBe(202);
    expect(toldIn(await call.result()).came.result).toEqual({ action: 'decline' });
  });

  it('is not heard by its server over stdio, to which a draining replica passes on what is owed', async () => {
    const { one, call, elsewhere, decline } = await waiting({ command: [process.execPath, ...ARGS, 'stdio'] });
    const other = { jsonrpc: '2.0', id: 'other', result: {} };
    expect((await elsewhere.post(other)).status).toBe(404);
    void one.stop();
    await until(async () => (await elsewhere.post(other)).status === 202);
    for (const message of [ANSWER, decline]) expect((await elsewhere.post(message)).status).toBe(202);
    expect(toldIn(await call.result()).came.result).toEqual({ action: 'decline' });
  });
});
