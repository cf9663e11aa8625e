import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { create, settings } from '../../../adapters/upstream/streamable-http.js';
import { until } from '../../helpers/wait.js';
import { calm, POST_HEADERS, request, upstreamDeps } from './subject.js';

/** Long, so that no connection grows too old while a test runs. */
const ANSWER =
  'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nKeep-Alive: timeout=60\r\nContent-Length: 2\r\n\r\n{}';

const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A server that answers when so many have asked, and the upstream in front of it. */
async function gathering() {
  const connections: Socket[] = [];
  let waiting: Socket[] = [];
  let wanted = 0;
  const server = createServer((socket) => {
    connections.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', () => {
      waiting.push(socket);
      if (waiting.length < wanted) return;
      for (const one of waiting) one.write(ANSWER);
      waiting = [];
    });
  });
  server.listen(0, '127.0.0.1', 4096);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const deps = upstreamDeps({ limits: { connections: 2000 } });
  const upstream = create(settings.parse({ url: `http://127.0.0.1:${port}/mcp` }), deps);
  ends.push(async () => {
    await upstream.close();
    for (const socket of connections) socket.destroy();
    server.close();
  });
  const ask = async () => {
    const opened = await upstream.open({ method: 'POST', headers: POST_HEADERS, body: request(1, 'ping') }, calm());
    for await (const _ of opened.body as AsyncIterable<Buffer>);
  };
  return {
    all: async (count: number) => {
      wanted = count;
      await Promise.all(Array.from({ length: count }, ask));
    },
    connections: () => connections.length,
    open: () => connections.filter((socket) => !socket.destroyed).length,
  };
}

describe('connections that are idle', () => {
  it('are used again by as many calls as were answered at one moment', async () => {
    const server = await gathering();
    for (let round = 0; round < 3; round += 1) await server.all(512);
    expect(server.connections()).toBe(512);
  });

  it('are bounded over all servers, and each server keeps some', async () => {
    const [large, small] = [await gathering(), await gathering()];
    await large.all(1100);
    await until(() => large.open() === 1024);
    await small.all(100);
    await until(() => small.open() === 64);
    await large.all(1024);
    expect(large.connections()).toBe(1100);
  });
});
