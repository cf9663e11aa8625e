import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { gauge } from '../helpers/fault-checks.js';
import { RawClient } from '../helpers/raw-client.js';
import { roomToWrite } from '../helpers/room-to-write.js';
import { warningsDuring } from '../helpers/this-process.js';
import { until } from '../helpers/wait.js';
import { startWharf, type Wharf } from '../helpers/wharf.js';

const IDLE_MS = 3000;
const MIB = 1024 * 1024;

/** What the kernel takes for four sockets, and node before it says that it is enough. */
const MOST_ON_THE_WAY = 48 * MIB;

/** Blanks behind an answer, each in a chunk of its own. */
const TAIL = 65_536;

let server: Server | undefined;
let wharf: Wharf | undefined;
let stuck: Socket | undefined;

/** A server that answers a call with what `rest` writes behind it. */
async function start(type: string, rest: (to: ServerResponse, id: number) => Promise<void>): Promise<string> {
  server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method } = JSON.parse(Buffer.concat(parts).toString()) as { id?: number; method: string };
    if (id === undefined) return void response.writeHead(202).end();
    if (method === 'tools/call') {
      response.writeHead(200, { 'content-type': type });
      return rest(response, id);
    }
    const result = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      serverInfo: { name: 's', version: '1' },
      tools: [],
    };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  wharf = await startWharf({ servers: { s: { url } }, config: { timeouts: { idle: `${IDLE_MS}ms` } } });
  return wharf.mcp;
}

const CALL = '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"t","arguments":{}}}';

/** Sends a call, and never reads a byte of its answer. */
async function callAndNeverRead(client: RawClient): Promise<void> {
  const { port, host } = new URL(wharf?.url ?? '');
  const headers = { ...client.headers(), host, 'content-type': 'application/json', 'content-length': CALL.length };
  stuck = connect(Number(port), '127.0.0.1').pause();
  stuck.on('error', () => {});
  await once(stuck, 'connect');
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  stuck.write(`POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${CALL}`);
}

afterEach(async () => {
  stuck?.destroy();
  server?.closeAllConnections();
  await wharf?.stop();
  server?.close();
});

describe('a server that says nothing for ever, and a client that does not read', () => {
  it.each([
    ['blanks after its answer', 'application/json', Buffer.alloc(64 * 1024, ' ')],
    ['comments', 'text/event-stream', Buffer.from(`:${'c'.repeat(1000)}\n`.repeat(64))],
  ])('%s: the server is stopped, and the client given up after timeouts.idle', async (_, type, piece) => {
    let sent = 0;
    let isOver = false;
    const mcp = await start(type, async (to, id) => {
      if (type === 'application/json') to.write(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
      to.once('close', () => {
        isOver = true;
      });
      while (!isOver && sent < 4 * MOST_ON_THE_WAY) {
        sent += piece.length;
        if (!to.write(piece)) await roomToWrite(to);
        // a server in the same process must leave room for others
        else await new Promise((resolve) => setImmediate(resolve));
      }
    });
    await callAndNeverRead(await RawClient.connect(mcp));
    await until(() => isOver);
    expect(sent).toBeLessThan(MOST_ON_THE_WAY);
    const { adminUrl } = wharf as Wharf;
    await until(async () => (await gauge(adminUrl, 'wharf_held_bytes')) === 0);
  });
});

it('65,536 blanks in chunks of their own behind an answer cost nothing', async () => {
  const text = 'x'.repeat(32_000);
  const mcp = await start('application/json', async (to, id) => {
    to.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"${text}"}]}}`);
    for (let count = 0; count < TAIL; count++) {
      if (!to.write(' ')) await roomToWrite(to);
    }
    to.end();
  });
  const client = await RawClient.connect(mcp);
  const before = process.cpuUsage();
  const warnings = await warningsDuring(async () => {
    const { result } = await client.call('t');
    const { adminUrl } = wharf as Wharf;
    expect((await fetch(`${adminUrl}/healthz`)).status).toBe(200);
    expect(result?.content?.[0]?.text).toBe(text);
  });
  expect(warnings).toEqual([]);
  const { user, system } = process.cpuUsage(before);
  // each of them cost three listeners, and all of them their square: minutes
  expect((user + system) / 1000).toBeLessThan(25_000);
});
