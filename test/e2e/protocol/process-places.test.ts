import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { keyHash } from '../../helpers/bytes.js';
import { RawClient } from '../../helpers/raw-client.js';
import { type SdkServer, startEverything } from '../../helpers/sdk-servers.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { RawCall } from '../asking/raw-call.js';

const SCRIPT = fileURLToPath(new URL('../../../../test/helpers/talkative-server.fixture.mjs', import.meta.url));

let wharf: Wharf;
let server: SdkServer | undefined;
/** What has been answered in part: `fetch` closes the connection of a response that is collected. */
const underWay: Response[] = [];

afterEach(async () => {
  underWay.length = 0;
  await wharf.stop();
  server?.stop();
  server = undefined;
});

async function start(processes: number, config: Record<string, unknown> = {}): Promise<void> {
  const talkative = { command: [process.execPath, SCRIPT], limits: { processes } };
  wharf = await startWharf({ servers: { talkative }, config: { timeouts: { drain: '1s' }, ...config } });
}

const keyOf = (name: string) => `a-long-enough-key-for-${name}-alone`;

async function startWithKeys(processes: number, names: readonly string[], share: number): Promise<void> {
  const keys = names.map((name) => ({
    name,
    hash: keyHash(keyOf(name)),
  }));
  await start(processes, { auth: { use: 'apiKeys', keys }, limits: { share } });
}

const connect = (name?: string): Promise<RawClient> =>
  RawClient.connect(
    wharf.mcp,
    '2025-06-18',
    name === undefined ? {} : { headers: { authorization: `Bearer ${keyOf(name)}` } },
  );

const isOpen = async (client: RawClient): Promise<boolean> =>
  (await client.post({ jsonrpc: '2.0', id: 99, method: 'ping' })).status === 200;

/** A call that is under way until it is ended. */
async function busy(client: RawClient): Promise<{ end(): void }> {
  const gone = new AbortController();
  // the head of its answer comes once the server has it
  const waits = { name: 'wait', arguments: { ms: 600_000, say: '' } };
  underWay.push(await client.open('tools/call', waits, {}, gone.signal));
  return { end: () => gone.abort() };
}

/** A place that is given up gets free a moment later: tries until there is one. */
async function untilConnected(): Promise<RawClient> {
  let client: RawClient | undefined;
  await until(async () => {
    client = await connect().catch(() => undefined);
    return client !== undefined;
  });
  return client as RawClient;
}

const gauge = async (name: string): Promise<number> => {
  const text = await (await fetch(`${wharf.adminUrl}/metrics`)).text();
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)$`, 'm').exec(text)?.[1]);
};

describe('the places for processes of a stdio server', () => {
  it('go to clients that come one after the other and never end their sessions', async () => {
    await start(3);
    const clients: RawClient[] = [];
    for (let index = 0; index < 10; index++) {
      const client = await connect();
      expect((await client.call('wait', { ms: 0, say: 'hello' })).result?.content?.[0]?.text).toBe('hello');
      clients.push(client);
    }
    await until(async () => (await gauge('wharf_upstream_connections')) === 3);
    expect(await gauge('wharf_ended_sessions_total')).toBe(7);
    expect(await Promise.all(clients.map(isOpen))).toEqual([...Array(7).fill(false), true, true, true]);
  });

  it('are taken from the session that has rested longest', async () => {
    await start(2);
    const [first, second] = [await connect(), await connect()];
    expect(await isOpen(first)).toBe(true);
    await connect();
    expect(await Promise.all([first, second].map(isOpen))).toEqual([true, false]);
  });

  it('are not taken from a session with a call under way; who is refused is told what to do', async () => {
    await start(2);
    const calls = [await busy(await connect()), await busy(await connect())];
    const answer = await RawClient.stateless(wharf.mcp, '2025-06-18').post({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
    });
    expect(answer.status).toBe(503);
    expect(answer.messages[0]?.error?.data?.code).toBe('process_limit');
    expect(answer.messages[0]?.error?.message).toContain('end one that is no longer needed (DELETE');
    for (const call of calls) call.end();
    expect(await isOpen(await untilConnected())).toBe(true);
  });

  it('are not taken from a session whose call waits for the file that its user was asked for', async () => {
    const tools = { wait: { files: { say: { encoding: 'text' } } } };
    const talkative = { command: [process.execPath, SCRIPT], limits: { processes: 1 }, tools };
    wharf = await startWharf({ servers: { talkative }, config: { timeouts: { drain: '1s' } } });
    const about = { capabilities: { elicitation: { url: {} } } };
    const call = await RawCall.begin(wharf.mcp, 'wait', { ms: 0, say: '@attach' }, about);
    const { id, params } = await call.message(({ method }) => method === 'elicitation/create');
    await expect(connect()).rejects.toThrow('503');
    await call.client.post({ jsonrpc: '2.0', id, result: { action: 'accept' } });
    await expect(connect()).rejects.toThrow('503');
    const headers = { 'content-type': 'text/plain' };
    const uploaded = await fetch(String(params?.url), { method: 'PUT', headers, body: 'at last' });
    expect(uploaded.status).toBe(201);
    expect(await call.result()).toMatchObject({ content: [{ text: 'at last' }] });
    expect(await isOpen(await untilConnected())).toBe(true);
    expect(await isOpen(call.client)).toBe(false);
  });

  it('are not taken from a client that listens, as long as something was just said', async () => {
    await start(1);
    const client = new Client({ name: 'wharf-test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(wharf.mcp)) as Transport);
    // it opens its stream after that
    await until(async () => (await gauge('wharf_open_exchanges')) === 1);
    await expect(connect()).rejects.toThrow('503');
    expect(await client.ping()).toEqual({});
    await client.close();
    expect(await isOpen(await untilConnected())).toBe(true);
  });

  it('are shared: one caller gets no more than its share, and loses its own sessions first', async () => {
    await startWithKeys(8, ['many', 'other', 'third'], 0.25);
    const other = await connect('other');
    const many = [await connect('many'), await connect('many'), await connect('many')];
    expect(await isOpen(other)).toBe(true);
    expect(await Promise.all(many.map(isOpen))).toEqual([false, true, true]);
    for (const client of many.slice(1)) await busy(client);
    await expect(connect('many')).rejects.toThrow('You already have your share');
    expect(await isOpen(await connect('third'))).toBe(true);
  });

  it('are taken from the caller who has most when all are gone', async () => {
    await startWithKeys(4, ['many', 'some', 'new'], 0.75);
    const some = await connect('some');
    const many = [await connect('many'), await connect('many'), await connect('many')];
    const fresh = await connect('new');
    expect(await Promise.all([some, ...many, fresh].map(isOpen))).toEqual([true, false, true, true, true]);
  });

  it('are given up by the process that clients without sessions share, when it rests', async () => {
    await start(1);
    const version = '2026-07-28';
    const stateless = RawClient.stateless(wharf.mcp, version, { capabilities: {} });
    const pid = async () => (await stateless.call('pid')).result?.content?.[0]?.text;
    const before = await pid();
    const client = await connect();
    expect(await isOpen(client)).toBe(true);
    expect(await pid()).not.toBe(before);
    expect(await isOpen(client)).toBe(false);
  });
});

describe('the places for sessions', () => {
  it('are taken from a session that rests, and not from one with a call under way', async () => {
    await start(8, { limits: { sessions: 2 } });
    const [first, second] = [await connect(), await connect()];
    const call = await busy(first);
    expect(await isOpen(second)).toBe(true);
    const third = await connect();
    expect(await Promise.all([first, second, third].map(isOpen))).toEqual([true, false, true]);
    call.end();
  });
});

describe('the streams of a legacy SSE server', () => {
  it('are given to new sessions in the same way', async () => {
    server = await startEverything('sse');
    const everything = { url: server.url, transport: 'legacy-sse', limits: { connections: 4 } };
    wharf = await startWharf({ servers: { everything } });
    for (let index = 0; index < 8; index++) expect(await isOpen(await connect())).toBe(true);
    expect(await gauge('wharf_ended_sessions_total')).toBe(4);
  });
});
