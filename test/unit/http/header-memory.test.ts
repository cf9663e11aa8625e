import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Connections } from '../../../gateway/http/connections.js';
import { forgetRawHeaders, headerBytes, unfinishedHeaderBytes } from '../../../gateway/http/incoming/header-texts.js';
import { until } from '../../helpers/wait.js';

/** Names and values of as many headers as a head of 16 KiB may have. */
const MOST_TEXTS = 8000;
/** More connections than may have heads of any kind. */
const MANY = 300;

let connections: Connections;
afterEach(() => connections?.stop());

const opened = (held: number) => {
  connections = new Connections({ sockets: 1000, limits: { held }, stallMs: 60_000 });
  return () => {
    const socket = new Socket();
    connections.admit(socket);
    return socket;
  };
};

describe('the headers of requests under way', () => {
  it('close the connections with the most of them, where those of all take too much', () => {
    const next = opened(3 * headerBytes(MOST_TEXTS));
    const honest = next();
    connections.begin(honest, 130);
    const others = Array.from({ length: 4 }, () => {
      const socket = next();
      connections.begin(socket, MOST_TEXTS);
      return socket;
    });
    expect(honest.destroyed).toBe(false);
    expect(others.filter(({ destroyed }) => destroyed)).toHaveLength(2);
  });

  it('no longer count once their requests are answered', () => {
    const next = opened(3 * headerBytes(MOST_TEXTS));
    const one = next();
    for (let round = 0; round < 10; round++) {
      connections.begin(one, MOST_TEXTS);
      connections.end({ socket: one, complete: true, rawHeaders: Array(MOST_TEXTS).fill('a') }, 0);
    }
    expect(one.destroyed).toBe(false);
  });

  it('no longer count once an open stream has ended, which lets go only of those that did not count', () => {
    const next = opened(3 * headerBytes(MOST_TEXTS));
    const one = next();
    for (const texts of [128, ...Array(10).fill(MOST_TEXTS)]) {
      const request = { socket: one, complete: true, rawHeaders: Array<string>(texts).fill('a') };
      connections.begin(one, texts);
      forgetRawHeaders(request);
      expect(request.rawHeaders).toHaveLength(texts > 128 ? texts : 0);
      connections.end(request, 0);
    }
    expect(one.destroyed).toBe(false);
  });

  it('do not count up to 64 of a request', () => {
    const next = opened(1);
    const sockets = Array.from({ length: MANY }, () => next());
    for (const socket of sockets) connections.begin(socket, 128);
    expect(sockets.some(({ destroyed }) => destroyed)).toBe(false);
  });
});

describe('heads that are unfinished', () => {
  const withParser = (texts: number, socket: Socket) =>
    Object.assign(socket, { parser: { _headers: Array(texts).fill('a') } });

  it('close connections in the same way, where there are many', async () => {
    const next = opened(10 * headerBytes(MOST_TEXTS));
    const honest = withParser(64, next());
    const others = Array.from({ length: MANY }, () => withParser(MOST_TEXTS, next()));
    await until(() => others.some(({ destroyed }) => destroyed));
    expect(others.filter(({ destroyed }) => !destroyed)).toHaveLength(7);
    expect(honest.destroyed).toBe(false);
  });

  it('are seen in the parser of Node', async () => {
    const server = createServer();
    server.maxHeadersCount = 0;
    const arrived = once(server, 'connection') as Promise<[Socket]>;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    client.on('error', () => undefined);
    client.write(`GET / HTTP/1.1\r\nHost: a\r\n${'a: b\r\n'.repeat(1000)}`);
    const [socket] = await arrived;
    await until(() => unfinishedHeaderBytes(socket) > headerBytes(1900));
    client.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
});
