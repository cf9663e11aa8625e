import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.js';
import { gauge } from '../helpers/fault-checks.js';
import { RawClient } from '../helpers/raw-client.js';
import { RawSocket } from '../helpers/raw-socket.js';
import { until } from '../helpers/wait.js';
import { startWharf, type Wharf } from '../helpers/wharf.js';

const LIST = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
const LONG_LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools: [], _meta: { note: 'x'.repeat(50_000) } } });
const JSON_POST = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };

describe('a client', () => {
  let fake: FakeUpstream;
  let wharf: Wharf;
  let sockets: Socket[];

  const start = async (config: Record<string, unknown>) => {
    wharf = await startWharf({ servers: { fake: { url: fake.url } }, config });
  };
  const port = () => Number(new URL(wharf.url).port);
  const connections = () => gauge(wharf.adminUrl, 'wharf_client_connections');
  /** A peer that reads nothing, and does not go when the other side has said its last word. */
  const deaf = async () => {
    const socket = connect({ port: port(), host: '127.0.0.1', allowHalfOpen: true });
    sockets.push(socket);
    socket.on('error', () => {});
    await once(socket, 'connect');
    socket.pause();
    return socket;
  };

  beforeEach(async () => {
    sockets = [];
    fake = await startFakeUpstream({ transport: 'json', session: true });
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await wharf?.stop();
    await fake.close();
  });

  it('that drips its body is given up, and told the least rate', async () => {
    await start({ limits: { leastRate: '1KiB' }, timeouts: { grace: '500ms' } });
    const socket = await RawSocket.open(port());
    socket.head('POST /mcp', { ...JSON_POST, 'Content-Length': 4_000_000 });
    const drip = setInterval(() => socket.send('{'), 20);
    const answer = await socket.until(/is the least/);
    clearInterval(drip);
    expect(answer).toMatch(/^HTTP\/1\.1 408 [\s\S]*a second, where 1 kB is the least/);
    await until(async () => (await gauge(wharf.adminUrl, 'wharf_held_bytes')) === 0);
  });

  it('that uses a coding that only its server would undo is refused', async () => {
    await start({});
    const socket = await RawSocket.open(port());
    socket.head('POST /mcp', { ...JSON_POST, 'Transfer-Encoding': 'gzip, chunked' });
    socket.send('2\r\n{}\r\n0\r\n\r\n');
    expect(await socket.until(/not accepted/)).toMatch(/^HTTP\/1\.1 415 [\s\S]*gzip, chunked/);
    const other = await RawSocket.open(port());
    other.head('POST /mcp', { ...JSON_POST, 'Content-Encoding': 'z'.repeat(9000), 'Content-Length': 0 });
    const told = await other.until(/not accepted/);
    expect(told).toMatch(/^HTTP\/1\.1 415 [\s\S]*[^z]z{64}[^z]/);
    expect(told.length).toBeLessThan(1500);
  });

  it('that is told of a bad head and never reads is closed all the same', async () => {
    await start({});
    const socket = await deaf();
    socket.write('NO HTTP AT ALL\r\n\r\n');
    await until(async () => (await connections()) === 0);
    await until(async () => (await gauge(wharf.adminUrl, 'wharf_refused_requests_total{code="http_malformed"}')) === 1);
  });

  it('that is refused and never stops sending is closed', async () => {
    await start({});
    const socket = await deaf();
    socket.resume();
    socket.write('POST /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 1000000000000\r\n\r\n');
    const send = setInterval(() => socket.writable && socket.write('x'), 50);
    await until(async () => (await connections()) === 0);
    clearInterval(send);
  });

  it('that asks a thousand times in one packet gets a few answers, and no other client waits for the rest', async () => {
    await start({});
    const socket = await RawSocket.open(port());
    socket.send('GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(1000));
    await socket.toEnd();
    // what answers them is loaded for the first of them
    const served = () => gauge(wharf.adminUrl, 'wharf_refused_requests_total{code="route_unknown"}');
    await until(async () => (await served()) >= 32);
    expect(await served()).toBe(32);
  });

  it('that asks again and again and reads none of it is closed', async () => {
    await start({ timeouts: { idle: '500ms' } });
    const socket = await deaf();
    await until(async () => (await connections()) === 1);
    const request = 'GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(1000);
    const send = setInterval(() => socket.writable && socket.writableLength < 1_000_000 && socket.write(request), 5);
    await until(async () => (await connections()) === 0);
    clearInterval(send);
  });

  it('that leaves answers behind its open stream unread is closed when all such answers are too much (R14)', async () => {
    await start({ limits: { held: '4MiB', message: '64KiB', response: '128KiB', inlineArgument: '64KiB' } });
    const client = await RawClient.connect(wharf.mcp);
    const opened = fake.requests.length;
    fake.respond = ({ method, body }) =>
      method === 'GET'
        ? {
            contentType: 'text/event-stream',
            body: ': open\n\n: never\n\n',
            framing: 'chunked',
            cutAfter: 8,
            cut: 'stall',
          }
        : body.includes('"tools/list"')
          ? { contentType: 'application/json', body: LONG_LIST }
          : undefined;
    const session = { 'Mcp-Session-Id': client.session ?? '' };
    const ask = async () => {
      const socket = await RawSocket.open(port());
      socket.head('GET /mcp', { Accept: 'text/event-stream', ...session });
      for (let count = 0; count < 25; count++) {
        socket.head('POST /mcp', { ...JSON_POST, ...session, 'Content-Length': LIST.length });
        socket.send(LIST);
      }
      return socket;
    };
    const unread = [await ask()];
    while (unread.length < 4) {
      await until(() => fake.requests.length >= opened + unread.length * 26);
      unread.push(await ask());
    }
    // each of them leaves 1.25 MB
    expect((await unread[0]?.toEnd())?.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
    await until(async () => (await gauge(wharf.adminUrl, 'wharf_open_exchanges')) === 3);
    const { result } = await client.request('ping', {});
    expect(result).toBeDefined();
    for (const socket of unread) socket.reset();
  });

  it('that opens connections and sends nothing displaces itself, and none that is served (R14)', async () => {
    await start({ limits: { sockets: 8 } });
    const idle = await Promise.all(Array.from({ length: 8 }, deaf));
    await until(async () => (await connections()) === 8);
    // only who has sent nothing for a while is taken to be idle
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const client = await RawClient.connect(wharf.mcp);
    const { result } = await client.request('tools/list', {});
    expect(result).toBeDefined();
    for (const socket of idle) socket.resume();
    await until(() => idle.some((socket) => socket.destroyed || socket.readableEnded || socket.closed));
    await until(async () => (await connections()) === 8);
  });

  it('that finds all connections busy is told so', async () => {
    await start({ limits: { sockets: 8 } });
    const busy = await Promise.all(Array.from({ length: 8 }, () => RawSocket.open(port())));
    for (const socket of busy) {
      socket.head('POST /mcp', { ...JSON_POST, 'Content-Length': 1000 });
      socket.send('{');
    }
    await until(async () => (await gauge(wharf.adminUrl, 'wharf_open_exchanges')) === 8);
    const late = await RawSocket.open(port());
    late.head('GET /nothing', {});
    expect(await late.until(/limits\.sockets/)).toMatch(/^HTTP\/1\.1 503 [\s\S]*All 8 connections/);
    for (const socket of busy) socket.reset();
  });
});
