import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { listen } from '../../../gateway/http/listener.js';
import { guardSettings } from '../../../gateway/http/origin/guard.js';
import { staysOpen } from '../../../gateway/http/response.js';

const MIB = 1024 * 1024;
const EVENT = Buffer.alloc(64 * 1024, 'data: x\n\n');

interface Served {
  request: IncomingMessage;
  response: ServerResponse;
}

describe('an answer that stays open', () => {
  let port = 0;
  let close = async () => {};
  let refused = 0;
  /** GETs whose heads have been sent, and everything else that was served. */
  const streams: Served[] = [];
  const others: string[] = [];
  const clients: Socket[] = [];

  beforeEach(async () => {
    [streams.length, others.length, clients.length, refused] = [0, 0, 0, 0];
    const face = await listen({
      ...{ host: '127.0.0.1', port: 0, idleMs: 60_000, limits: { held: MIB }, isDraining: () => false },
      refused: () => {
        refused += 1;
      },
      app: async () => () => undefined,
      direct: (request, response) => {
        if (request.method !== 'GET') {
          others.push(request.url ?? '');
          response.end('served');
          return true;
        }
        staysOpen(response);
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.flushHeaders();
        streams.push({ request, response });
        return true;
      },
      guard: guardSettings({ allowedHosts: [], allowedOrigins: [], publicUrl: undefined }),
      sockets: { limit: 'limits.sockets', allowed: 400 },
    });
    ({ port } = face);
    close = async () => {
      const closed = face.close();
      for (const client of clients) client.destroy();
      face.closeAll();
      await closed;
    };
  });
  afterEach(() => close());

  const GET = 'GET /everything/mcp HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const POST = 'POST /next HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}';

  const send = async (bytes: string) => {
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    client.on('error', () => {});
    clients.push(client);
    client.write(bytes);
    await once(client, 'readable');
    return client;
  };
  const opened = async (bytes = GET) => {
    const client = await send(bytes);
    // the parser goes in the turn behind the head
    await new Promise((resolve) => setImmediate(resolve));
    const [stream] = streams;
    if (!stream) throw new Error('no stream was opened');
    return { client, ...stream, parser: Reflect.get(stream.request.socket, 'parser') };
  };
  const textUntilEnd = async (client: Socket) => {
    let text = '';
    client.on('data', (chunk) => {
      text += chunk;
    });
    await once(client, 'end');
    return text;
  };

  it('lives without Node’s parser, and its connection ends with it', async () => {
    const { client, response, parser } = await opened();
    expect(parser).toBeNull();
    response.write('data: 1\n\n');
    response.end('data: 2\n\n');
    const text = await textUntilEnd(client);
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text).toMatch(/data: 1\n\n[\s\S]*data: 2\n\n\r\n0\r\n\r\n$/);
    expect(text).not.toMatch(/connection: close/i);
  });

  it('is sent as slowly as its client reads it', async () => {
    const { client, response } = await opened();
    client.pause();
    let sent = 0;
    while (response.write(EVENT)) sent += EVENT.length;
    sent += EVENT.length;
    let read = 0;
    client.on('data', (chunk: Buffer) => {
      read += chunk.length;
    });
    client.resume();
    await once(response, 'drain');
    response.end();
    await once(client, 'end');
    expect(read).toBeGreaterThan(sent);
  });

  it('is over when its client has gone, or has ended its side', async () => {
    for (const leave of [(client: Socket) => client.destroy(), (client: Socket) => client.end()]) {
      streams.length = 0;
      const { client, response } = await opened();
      client.resume();
      const closed = once(response, 'close');
      leave(client);
      await closed;
      expect(response.writableFinished).toBe(false);
    }
  });

  it('drops what its client sends after it, and goes on', async () => {
    const { client, request, response } = await opened();
    client.resume();
    client.write(POST.repeat(10));
    while (request.socket.bytesRead < GET.length + 10 * POST.length)
      await new Promise((resolve) => setImmediate(resolve));
    response.write('data: on\n\n');
    await once(client, 'data');
    expect(others).toEqual([]);
    expect(refused).toBe(0);
  });

  it('is over when its client sends on and on', async () => {
    const { client, request, response } = await opened();
    client.resume();
    const closed = once(response, 'close');
    client.write(Buffer.alloc(MIB, POST));
    await closed;
    expect(request.socket.bytesRead).toBeLessThan(GET.length + MIB);
  });

  it('keeps the parser where the next request came with the first, which is served', async () => {
    const { client, response, parser } = await opened(GET + POST);
    expect(parser).not.toBeNull();
    expect(others).toEqual(['/next']);
    response.end('data: 1\n\n');
    let text = '';
    for await (const chunk of client) {
      text += chunk;
      if (text.includes('served')) break;
    }
    expect(text.match(/^HTTP\/1\.1 200 /gm)).toHaveLength(2);
  });

  it('leaves other answers’ connections open', async () => {
    const client = await send(POST);
    client.resume();
    client.write(POST);
    while (others.length < 2) await once(client, 'data');
    expect(others).toEqual(['/next', '/next']);
    expect(client.readableEnded).toBe(false);
  });
});
