import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { TRANSPORTS, type TransportName } from '../helpers/cut-upstreams.js';
import { expectNothingLeft, expectWorking, gauge } from '../helpers/fault-checks.js';
import { type FaultStores, filesystemStores } from '../helpers/fault-stores.js';
import { type FaultUpstream, startFaultUpstream } from '../helpers/fault-upstream.js';
import { RawClient } from '../helpers/raw-client.js';
import { until } from '../helpers/wait.js';
import { startWharf, type Wharf } from '../helpers/wharf.js';

/** Far more than the kernel takes for both ends of a connection, so that the rest stays in the gateway. */
const TEXT = 'n'.repeat(15_000_000);
const IDLE_MS = 4000;

/** A client that reads so much at a time, and rests so long in between. */
const GULP = 3_000_000;
const REST_MS = 1000;

const VERSION = '2026-07-28';

let upstream: FaultUpstream;
let stores: FaultStores;
let wharf: Wharf;
let stuck: Socket | undefined;

const start = async (transport: TransportName, timeouts: Record<string, string>) => {
  upstream = await startFaultUpstream(transport);
  stores = await filesystemStores();
  const servers = { chatty: { ...upstream.server, accepts: '16MiB' } };
  wharf = await startWharf({ servers, config: { ...stores.config, timeouts, limits: { message: '16MiB' } } });
};

/** Sends a call whose answer is long, and never reads a byte of it. */
const callAndNeverRead = async (headers: Record<string, string>, params: object) => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 5, method: 'tools/call', params });
  const { port, host } = new URL(wharf.url);
  const lines = Object.entries({ ...headers, host, 'content-type': 'application/json', 'content-length': body.length });
  const socket = connect(Number(port), '127.0.0.1').pause();
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(`POST /mcp HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`);
  stuck = socket;
  return socket;
};
const echo = (text: string, meta: object = {}) => ({ name: 'echo', arguments: { text }, ...meta });

const held = () => gauge(wharf.adminUrl, 'wharf_held_bytes');

afterEach(async () => {
  stuck?.destroy();
  await wharf?.stop();
  await upstream.close();
  await stores.close();
});

describe.each(TRANSPORTS)('a client of a server over %s that stops reading', (transport) => {
  it('counts against limits.held until timeouts.idle have passed, and is then given up (R6)', async () => {
    await start(transport, { idle: `${IDLE_MS}ms` });
    const client = await RawClient.connect(wharf.mcp);
    const begun = performance.now();
    await callAndNeverRead(client.headers(), echo(TEXT));
    await until(async () => (await held()) >= TEXT.length);
    // all of the answer is there, and it is held: only the client does not take it
    await until(async () => (await held()) === 0);
    expect(performance.now() - begun).toBeGreaterThan(IDLE_MS);
    await expectNothingLeft(wharf.adminUrl, stores);
    await expectWorking(wharf.mcp);
  });

  it('now and then, but goes on each time, gets all of it', async () => {
    await start(transport, { idle: `${IDLE_MS}ms` });
    const client = await RawClient.connect(wharf.mcp);
    const socket = await callAndNeverRead(client.headers(), echo(TEXT));
    await until(async () => (await held()) >= TEXT.length);
    let read = 0;
    let rests = 0;
    socket.on('data', (chunk: Buffer) => {
      read += chunk.length;
      if (read < (rests + 1) * GULP) return;
      rests += 1;
      socket.pause();
      setTimeout(() => socket.resume(), REST_MS);
    });
    socket.resume();
    await until(() => read > TEXT.length);
    expect(rests * REST_MS).toBeGreaterThan(IDLE_MS);
    await expectNothingLeft(wharf.adminUrl, stores);
  });
});

describe('a client that stops reading on a channel that it shares', () => {
  const meta = {
    _meta: { 'io.modelcontextprotocol/protocolVersion': VERSION, 'io.modelcontextprotocol/clientCapabilities': {} },
  };
  const headers = {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': VERSION,
    'mcp-method': 'tools/call',
    'mcp-name': 'echo',
  };
  const callOfAnother = (args: object = {}) =>
    RawClient.stateless(wharf.mcp, VERSION).post(
      {
        jsonrpc: '2.0',
        id: 6,
        method: 'tools/call',
        params: { name: 'echo', arguments: { text: 'for me', ...args }, ...meta },
      },
      headers,
    );

  it('does not keep the others from their answers', async () => {
    await start('stdio', { idle: `${IDLE_MS}ms` });
    await callAndNeverRead(headers, echo(TEXT, meta));
    await until(async () => (await held()) >= TEXT.length);
    const other = await callOfAnother();
    expect(other.messages[0]?.result?.content?.[0]?.text).toBe('for me');
    await expectNothingLeft(wharf.adminUrl, stores);
  });

  it('does not keep the others from hearing that the server has died', async () => {
    await start('stdio', { idle: `${IDLE_MS}ms` });
    await callAndNeverRead(headers, echo(TEXT, meta));
    await until(async () => (await held()) >= TEXT.length);
    const other = callOfAnother({ stopAfter: 40 });
    await until(async () => (await gauge(wharf.adminUrl, 'wharf_open_exchanges')) === 2);
    upstream.die();
    expect((await other).messages[0]?.error).toMatchObject({ code: -32603, data: { code: 'upstream_closed' } });
    await until(() => upstream.busy() === 0);
  });
});
