import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { create, settings } from '../../../adapters/upstream/streamable-http.js';
import type { ExchangeUpstream } from '../../../gateway/ports/upstream.js';
import { until } from '../../helpers/wait.js';
import { calm, failureOf, POST_HEADERS, request, upstreamDeps } from './subject.js';

const JSON_HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
const SHORT = `${JSON_HEAD}Content-Length: 2\r\n\r\n{}`;

/** What the server does with one request, told by its bytes. */
type Turn = (socket: Socket, asked: string) => unknown;

describe('a connection to a server', () => {
  let server: Server;
  let upstream: ExchangeUpstream;
  let turns: Turn[];
  let asked: string[];
  let connections: Socket[];

  beforeEach(async () => {
    turns = [];
    asked = [];
    connections = [];
    server = createServer((socket) => {
      connections.push(socket);
      socket.on('error', () => undefined);
      socket.on('data', (bytes) => {
        asked.push(bytes.toString('latin1'));
        void (turns.shift() ?? ((to) => to.write(SHORT)))(socket, bytes.toString('latin1'));
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    upstream = create(settings.parse({ url: `http://127.0.0.1:${port}/mcp` }), upstreamDeps());
  });
  afterEach(async () => {
    await upstream.close();
    for (const socket of connections) socket.destroy();
    server.close();
  });

  const open = (headers: Record<string, string> = {}) =>
    upstream.open({ method: 'POST', headers: { ...POST_HEADERS, ...headers }, body: request(1, 'ping') }, calm());

  async function ask(): Promise<string> {
    const { body } = await open();
    const parts: Buffer[] = [];
    for await (const part of body as AsyncIterable<Buffer>) parts.push(part);
    return Buffer.concat(parts).toString();
  }

  /** One byte a packet. */
  const drip = (text: string) => async (socket: Socket) => {
    socket.setNoDelay(true);
    for (const byte of Buffer.from(text)) {
      socket.write(Buffer.from([byte]));
      await sleep(1);
    }
  };

  it('carries one request after the other', async () => {
    for (let round = 0; round < 5; round += 1) expect(await ask()).toBe('{}');
    expect(connections.length).toBe(1);
  });

  it.each([
    ['with a length', `${JSON_HEAD}Content-Length: 9\r\n\r\n{"a":"b"}`],
    ['in chunks', `${JSON_HEAD}Transfer-Encoding: chunked\r\n\r\n4\r\n{"a"\r\n5;x\r\n:"b"}\r\n0\r\nX: y\r\n\r\n`],
    [
      'after others',
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nA: b\r\n\r\n${JSON_HEAD}Content-Length: 9\r\n\r\n{"a":"b"}`,
    ],
  ])('reads an answer %s byte by byte, and is used again', async (_what, answer) => {
    turns.push(drip(answer));
    expect(await ask()).toBe('{"a":"b"}');
    expect(await ask()).toBe('{}');
    expect(connections.length).toBe(1);
  });

  it('takes the end of the connection for the end of a body without a length, but not a reset', async () => {
    turns.push((socket) => socket.end(`${JSON_HEAD}\r\n{"a":1}`));
    expect(await ask()).toBe('{"a":1}');
    turns.push((socket) => {
      socket.write(`${JSON_HEAD}\r\n{"a"`);
      setTimeout(() => socket.resetAndDestroy(), 100);
    });
    expect((await failureOf(ask())).code).toBe('upstream_closed');
  });

  it.each([
    ['after a body with a length', `${SHORT}HTTP/1.1 200 OK\r\n`],
    ['after a chunked body', `${JSON_HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\nX`],
    ['after an answer without a body', 'HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n{}'],
  ])('is not used again when bytes follow %s, which would answer the next request', async (_what, answer) => {
    turns.push((socket) => socket.write(answer));
    await ask();
    expect(await ask()).toBe('{}');
    expect(connections.length).toBe(2);
  });

  it.each([
    ['with a length', 'HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\n', 'null'],
    ['of chunks', 'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n', '0\r\n\r\n'],
    ['that looks like an answer', 'HTTP/1.1 204 No Content\r\nContent-Length: 90\r\n\r\n', SHORT.replace('{}', '[]')],
  ])('is not used again after a status without a body that announces one, %s', async (_what, head, body) => {
    turns.push((socket) => {
      socket.write(head);
      // behind the next request, if that comes here
      socket.once('data', () => socket.write(body));
    });
    await ask();
    expect(await ask()).toBe('{}');
    expect(connections.length).toBe(2);
  });

  it.each([
    ['in one packet', [`${SHORT.replaceAll('\r\n', '\n')}`]],
    ['in two, between its line feeds', [JSON_HEAD.replaceAll('\r\n', '\n'), '\n{}']],
  ])('fails at once for an answer whose lines have no CR, %s, and the next has its own', async (_what, packets) => {
    turns.push(async (socket) => {
      for (const packet of packets) {
        socket.write(packet);
        await sleep(20);
      }
    });
    expect((await failureOf(ask())).code).toBe('upstream_invalid');
    expect(await ask()).toBe('{}');
  });

  it('is not used again when the server writes while it is idle', async () => {
    expect(await ask()).toBe('{}');
    connections[0]?.write(SHORT.replace('{}', '[]'));
    await until(() => connections[0]?.readableEnded === true || connections[0]?.destroyed === true);
    expect(await ask()).toBe('{}');
    expect(connections.length).toBe(2);
  });

  it('repeats a request that was sent before the end of its idle connection was read', async () => {
    expect(await ask()).toBe('{}');
    connections[0]?.destroy();
    expect(await ask()).toBe('{}');
    expect([connections.length, asked.length]).toEqual([2, 2]);
  });

  it('repeats no request that a server has read before it ended the connection', async () => {
    expect(await ask()).toBe('{}');
    turns.push((socket) => socket.destroy());
    expect((await failureOf(ask())).code).toBe('upstream_closed');
    expect(asked.length).toBe(2);
  });

  it('holds no more than a bounded part of a head, however many interim answers come before it', async () => {
    turns.push((socket) => socket.write(`HTTP/1.1 103 Hints\r\nX: ${'x'.repeat(1000)}\r\n\r\n`.repeat(100)));
    expect((await failureOf(ask())).code).toBe('upstream_invalid');
  });

  it('does not read ahead of its reader by more than a bounded part', async () => {
    let sent = 0;
    turns.push((socket) => {
      socket.write(`${JSON_HEAD}Content-Length: ${64 * 1024 * 1024}\r\n\r\n`);
      const more = () => {
        while (!socket.destroyed && socket.writableLength < 256 * 1024) {
          socket.write(Buffer.alloc(64 * 1024, 0x20));
          sent = socket.bytesWritten - socket.writableLength;
        }
        if (!socket.destroyed) setTimeout(more, 5);
      };
      more();
    });
    const answer = await open();
    let before = -1;
    // what the kernel's buffers hold between the two is not Wharf's
    while (sent !== before) {
      before = sent;
      await sleep(300);
    }
    expect(answer.body.readableLength).toBeLessThanOrEqual(256 * 1024);
    expect(sent).toBeLessThan(32 * 1024 * 1024);
    answer.body.destroy();
  });

  it.each([
    ['a line break', 'a\r\nX-Evil: 1'],
    ['a line feed', 'a\nX-Evil: 1'],
    ['a NUL', 'a\0'],
    ['a character of more than one byte', '\u010a'],
  ])('sends no header whose value has %s', async (_what, value) => {
    await expect(open({ 'mcp-name': value })).rejects.toThrow(/HTTP does not allow/);
    expect(asked).toEqual([]);
    // the slot and the connection are free again
    for (let round = 0; round < 70; round += 1) expect(await ask()).toBe('{}');
  });

  it('sends head and message in one packet', async () => {
    await ask();
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatch(/^POST \/mcp HTTP\/1\.1\r\nHost: 127\.0\.0\.1:\d+\r\n[\s\S]*\r\n\r\n\{"jsonrpc"/);
  });
});
