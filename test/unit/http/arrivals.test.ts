import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Arrivals } from '../../../gateway/http/incoming/arrivals.js';
import { listen } from '../../../gateway/http/listener.js';
import { guardSettings } from '../../../gateway/http/origin/guard.js';
import { countFor } from '../../../gateway/http/response.js';
import { until } from '../../helpers/wait.js';

/** More than a turn of the event loop may last. */
const LONG_MS = 25;

const work = () => {
  for (const end = performance.now() + LONG_MS; performance.now() < end; );
};

describe('requests that come at the same time', () => {
  let serve: (request: IncomingMessage) => void;
  let port = 0;
  let connections = () => 0;
  let close = async () => {};
  let finish = async () => {};
  /** Turns of the event loop so far. */
  let turn = 0;
  let ticking: NodeJS.Immediate;
  const tick = () => {
    turn += 1;
    ticking = setImmediate(tick);
  };

  beforeEach(async () => {
    tick();
    const face = await listen({
      ...{ host: '127.0.0.1', port: 0, idleMs: 60_000, limits: { held: 1_000_000 }, isDraining: () => false },
      refused: () => undefined,
      app: async () => async (request, response) => {
        serve(request);
        countFor(String(request.headers['x-caller']), response);
        const length = await lengthOf(request);
        response.end(`${request.url} ${length} bytes`);
      },
      guard: guardSettings({ allowedHosts: [], allowedOrigins: [], publicUrl: undefined }),
      sockets: { limit: 'limits.sockets', allowed: 400 },
    });
    ({ port } = face);
    connections = () => face.connections;
    finish = () => face.close();
    close = async () => {
      const closed = face.close();
      face.closeAll();
      await closed;
    };
    // the first one waits for the app
    serve = () => undefined;
    await (await fetch(`http://127.0.0.1:${port}/`)).text();
  });
  afterEach(async () => {
    clearImmediate(ticking);
    await close();
  });

  const lengthOf = async (request: IncomingMessage) => {
    let length = 0;
    for await (const chunk of request) length += (chunk as Buffer).length;
    return length;
  };
  const opened = async (count: number) => {
    const before = connections();
    const clients = Array.from({ length: count }, () => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      return { socket, answer: received(socket) };
    });
    // Node takes in one connection a turn
    await until(() => connections() === before + count);
    return clients;
  };
  const received = (socket: Socket) => {
    const answer = { text: '' };
    socket.on('data', (chunk: Buffer) => {
      answer.text += chunk.toString('latin1');
    });
    return answer;
  };
  /** One request each; all of them are there before this process reads any. */
  const askAll = (clients: Awaited<ReturnType<typeof opened>>) => {
    for (const [at, { socket }] of clients.entries()) socket.write(`GET /${at} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    work();
  };

  it('are served in the order in which they came, each turn for as long as a turn may last', async () => {
    const served: { url: string | undefined; turn: number }[] = [];
    serve = ({ url }) => {
      served.push({ url, turn });
      work();
    };
    const clients = await opened(8);
    askAll(clients);
    await until(() => clients.every(({ answer }) => answer.text.includes('0 bytes')));
    expect(served.map(({ url }) => url)).toEqual(clients.map((_, at) => `/${at}`));
    expect(new Set(served.map((one) => one.turn)).size).toBe(8);
    for (const { socket } of clients) socket.destroy();
  });

  describe('of several callers', () => {
    const ask = (clients: Awaited<ReturnType<typeof opened>>, caller: string, requests = 1) => {
      for (const { socket, answer } of clients) {
        answer.text = '';
        socket.write(`GET /${caller} HTTP/1.1\r\nHost: localhost\r\nX-Caller: ${caller}\r\n\r\n`.repeat(requests));
      }
    };
    const allAnswered = (clients: Awaited<ReturnType<typeof opened>>, requests = 1) =>
      until(() => clients.every(({ answer }) => answer.text.split('0 bytes').length === requests + 1));

    it('are served in turns, so that one with many leaves the others in front of its own', async () => {
      const busy = await opened(8);
      const calm = await opened(1);
      // who uses a connection is known from its first answer on
      ask(busy, 'busy');
      ask(calm, 'calm');
      await allAnswered([...busy, ...calm]);
      const served: (string | undefined)[] = [];
      serve = ({ url }) => {
        served.push(url);
        work();
      };
      ask(busy, 'busy', 3);
      ask(calm, 'calm');
      work();
      await allAnswered(busy, 3);
      await allAnswered(calm);
      expect(served).toHaveLength(25);
      // those that were begun before it had come, and one of the turn in which it came
      expect(served.indexOf('/calm')).toBeLessThan(5);
      for (const { socket } of [...busy, ...calm]) socket.destroy();
    });

    it('are served one of each connection while their callers are not known, however many are pipelined there', async () => {
      const busy = await opened(8);
      const calm = await opened(1);
      const served: (string | undefined)[] = [];
      serve = ({ url }) => {
        served.push(url);
        work();
      };
      ask(busy, 'busy', 6);
      ask(calm, 'calm');
      work();
      await allAnswered(calm);
      // some are begun before it has come, and then one of each connection
      expect(served.indexOf('/calm')).toBeLessThan(2 * busy.length);
      await allAnswered(busy, 6);
      expect(served).toHaveLength(49);
      for (const { socket } of [...busy, ...calm]) socket.destroy();
    });

    it('are read in turns, too', async () => {
      const busy = await opened(300);
      const calm = await opened(1);
      ask(busy, 'busy');
      await allAnswered(busy);
      // it has been idle for the shortest time
      ask(calm, 'calm');
      await allAnswered(calm);
      const served: (string | undefined)[] = [];
      serve = ({ url }) => {
        if (served.push(url) === 1) work();
      };
      ask(busy, 'busy');
      ask(calm, 'calm');
      work();
      await allAnswered([...busy, ...calm]);
      expect(served).toHaveLength(301);
      // those of the first turn wait when it comes
      expect(served.indexOf('/calm')).toBeLessThan(200);
      for (const { socket } of [...busy, ...calm]) socket.destroy();
    });
  });

  describe('on hundreds of connections', () => {
    /** How many requests Node has begun to read, by turn. */
    const begun = new Map<number, number>();
    const note = (message: unknown) => {
      const { socket } = message as { socket: Socket };
      if (socket.localPort === port) begun.set(turn, (begun.get(turn) ?? 0) + 1);
    };
    beforeEach(() => {
      begun.clear();
      subscribe('http.server.request.start', note);
    });
    afterEach(() => {
      unsubscribe('http.server.request.start', note);
    });
    const allBegun = () => [...begun.values()].reduce((sum, count) => sum + count, 0);
    const answered = ({ answer }: { answer: { text: string } }) => answer.text.includes('0 bytes');

    it('are read over several turns, also the next ones on the same connections', async () => {
      const clients = await opened(300);
      for (let round = 0; round < 3; round++) {
        for (const { answer } of clients) answer.text = '';
        serve = () => {
          serve = () => undefined;
          work();
        };
        askAll(clients);
        await until(() => clients.every(answered));
      }
      expect(allBegun()).toBe(900);
      // the one that took long, and those that waited behind it
      expect(Math.max(...begun.values())).toBeLessThanOrEqual(129);
      for (const { socket } of clients) socket.destroy();
    });

    it('are begun no more than 256 in a turn, however little each of them takes', async () => {
      const served = new Map<number, number>();
      serve = () => void served.set(turn, (served.get(turn) ?? 0) + 1);
      const clients = await opened(50);
      const many = 'GET /many HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(20);
      for (const { socket } of clients) socket.write(many);
      work();
      await until(() => clients.every(({ answer }) => answer.text.split('0 bytes').length === 21));
      expect([...served.values()].reduce((sum, count) => sum + count, 0)).toBe(1000);
      // those that come in a turn, and those that have waited for it
      expect(Math.max(...served.values())).toBeLessThanOrEqual(512);
      for (const { socket } of clients) socket.destroy();
    });

    it('are answered when the port closes before they are read', async () => {
      const clients = await opened(300);
      let unread = 0;
      serve = () => {
        serve = () => undefined;
        setImmediate(() => {
          unread = clients.length - allBegun();
          void finish();
        });
        work();
      };
      askAll(clients);
      await until(() => clients.every(answered));
      expect(unread).toBeGreaterThan(100);
      for (const { socket } of clients) socket.destroy();
    });

    it('are read from new connections, too', async () => {
      const clients = await opened(200);
      let later: typeof clients = [];
      serve = () => {
        serve = () => undefined;
        later = Array.from({ length: 20 }, () => {
          const socket = connect(port, '127.0.0.1');
          socket.write('GET /late HTTP/1.1\r\nHost: localhost\r\n\r\n');
          return { socket, answer: received(socket) };
        });
        work();
      };
      askAll(clients);
      await until(() => later.length > 0 && [...clients, ...later].every(answered));
      for (const { socket } of [...clients, ...later]) socket.destroy();
    });
  });

  it('have all of their bodies when they are served later', async () => {
    serve = work;
    const body = Buffer.alloc(300_000, 'b');
    const clients = await opened(4);
    for (const [at, { socket }] of clients.entries()) {
      socket.write(`POST /${at} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n`);
      socket.write(body);
    }
    work();
    await until(() => clients.every(({ answer }) => answer.text.includes('300000 bytes')));
    for (const { socket } of clients) socket.destroy();
  });

  it('are answered when the port closes while they wait', async () => {
    const clients = await opened(4);
    const served: number[] = [];
    serve = ({ url }) => {
      served.push(turn);
      if (url === '/0') setImmediate(() => void finish());
      work();
    };
    askAll(clients);
    await until(() => clients.every(({ answer }) => answer.text.includes('0 bytes')));
    // the rest together
    expect(new Set(served.slice(2)).size).toBe(1);
    for (const { socket } of clients) socket.destroy();
  });

  it('are answered when the port closes before this process has looked at any of them', async () => {
    const clients = await opened(4);
    askAll(clients);
    await until(() => clients.every(({ answer }) => answer.text.includes('0 bytes')));
    // kept connections, as those of a balancer, on which the next request has just come
    askAll(clients);
    await finish();
    for (const { answer } of clients) expect(answer.text.split('0 bytes')).toHaveLength(3);
  });

  it('are not served when their client has gone while they waited', async () => {
    const served: (string | undefined)[] = [];
    const clients = await opened(5);
    serve = ({ url }) => {
      served.push(url);
      if (url === '/0') clients[4]?.socket.resetAndDestroy();
      work();
    };
    askAll(clients);
    await until(() => clients.slice(0, 4).every(({ answer }) => answer.text.includes('0 bytes')));
    await (await fetch(`http://127.0.0.1:${port}/last`)).text();
    expect(served).toEqual(['/0', '/1', '/2', '/3', '/last']);
    for (const { socket } of clients) socket.destroy();
  });
});

describe('the bodies of requests that wait', () => {
  it('are bounded: past 16 MiB the request whose bytes come is served at once, and only once', async () => {
    const arrivals = new Arrivals({ pause: () => undefined, readSome: () => false });
    const served: string[] = [];
    const first = arrivals.wait(() => void served.push('first'), 'ann');
    const second = arrivals.wait(() => void served.push('second'), 'ann');
    first.came(9 * 1024 * 1024);
    second.came(7 * 1024 * 1024);
    expect(served).toEqual([]);
    second.came(1);
    expect(served).toEqual(['second']);
    // its bytes count no more
    first.came(7 * 1024 * 1024);
    expect(served).toEqual(['second']);
    await new Promise(setImmediate);
    expect(served).toEqual(['second', 'first']);
    first.came(64 * 1024 * 1024);
    second.came(64 * 1024 * 1024);
    expect(served).toEqual(['second', 'first']);
  });
});
