import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { listen } from '../../../gateway/http/listener.js';
import { guardSettings } from '../../../gateway/http/origin/guard.js';
import { until } from '../../helpers/wait.js';

/** More than a turn of the event loop may last. */
const LONG_MS = 25;

const work = () => {
  for (const end = performance.now() + LONG_MS; performance.now() < end; );
};

describe('connections that send what is not a request at the same time', () => {
  let port = 0;
  let close = async () => {};
  let connections = () => 0;
  /** Turns of the event loop so far, and how many were refused in each. */
  let turn = 0;
  let ticking: NodeJS.Immediate;
  const refused = new Map<number, number>();
  const codes: string[] = [];
  const tick = () => {
    turn += 1;
    ticking = setImmediate(tick);
  };

  beforeEach(async () => {
    tick();
    refused.clear();
    codes.length = 0;
    const face = await listen({
      ...{ host: '127.0.0.1', port: 0, idleMs: 60_000, limits: { held: 1_000_000 }, isDraining: () => false },
      refused: ({ code }) => {
        codes.push(code);
        refused.set(turn, (refused.get(turn) ?? 0) + 1);
        work();
      },
      app: async () => (_request, response) => response.end(),
      guard: guardSettings({ allowedHosts: [], allowedOrigins: [], publicUrl: undefined }),
      sockets: { limit: 'limits.sockets', allowed: 400 },
    });
    ({ port } = face);
    connections = () => face.connections;
    close = async () => {
      const closed = face.close();
      face.closeAll();
      await closed;
    };
  });
  afterEach(async () => {
    clearImmediate(ticking);
    await close();
  });

  /** All of their bytes are there before this process reads any. */
  const clients = async (count: number, bytes: string) => {
    const all = Array.from({ length: count }, () => {
      const answer = { text: '', isOver: false };
      const socket = connect(port, '127.0.0.1');
      socket.on('data', (chunk: Buffer) => {
        answer.text += chunk.toString('latin1');
      });
      socket.on('error', () => {});
      socket.on('close', () => {
        answer.isOver = true;
      });
      return { socket, answer };
    });
    await until(() => connections() === count);
    for (const { socket } of all) socket.write(bytes);
    return all;
  };

  it('are refused over several turns of the event loop, each of them once', async () => {
    const all = await clients(12, 'no request\r\n\r\n');
    await until(() => all.every(({ answer }) => answer.isOver));
    expect(all.map(({ answer }) => answer.text.split('\r\n')[0])).toEqual(Array(12).fill('HTTP/1.1 400 Bad Request'));
    expect(codes).toEqual(Array(12).fill('http_malformed'));
    // what came by itself, and what has waited for its turn
    expect(Math.max(...refused.values())).toBeLessThanOrEqual(2);
  });

  it('are refused once, also when they send more while they wait', async () => {
    const all = await clients(12, 'no request\r\n\r\n');
    for (const { socket } of all) setTimeout(() => socket.write('nor this\r\n\r\n'), LONG_MS);
    await until(() => all.every(({ answer }) => answer.isOver));
    expect(codes).toHaveLength(12);
  });

  it('in a head that breaks off are told of, and in the rest of a body whose request was answered already are not', async () => {
    const [client] = await clients(
      1,
      `POST / HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-length: 99\r\n\r\nits beginning`,
    );
    await until(() => client?.answer.text.startsWith('HTTP/1.1 200') === true);
    client?.socket.end();
    await until(() => client?.answer.isOver === true);
    expect(codes).toEqual([]);
    const [other] = await clients(1, 'POST / HTTP/1.1\r\nhost');
    other?.socket.end();
    await until(() => other?.answer.isOver === true);
    expect(codes).toEqual(['http_malformed']);
  });
});
