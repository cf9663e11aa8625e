import { createServer, type Server, type Socket } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type PlainRequest, Requests } from '../../../adapters/objects/s3/requests.js';
import { listen } from '../../helpers/loopback.js';
import { until } from '../../helpers/wait.js';

const NEVER = new AbortController().signal;
const DONE = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
const TEN = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n';

/** What the store does when bytes of a request come. */
type Turn = (socket: Socket) => void;

const says =
  (answer: string): Turn =>
  (socket) => {
    socket.write(answer);
  };

describe('requests to an object store', () => {
  let server: Server;
  let address: { protocol: string; hostname: string; port: string };
  let requests: Requests;
  let turns: Turn[];
  let asked: string[];
  let connections: Socket[];

  const use = (maxSockets: number) =>
    new Requests({ origin: address, host: `store:${address.port}`, maxSockets, connectMs: 1000 });

  beforeEach(async () => {
    turns = [];
    asked = [];
    connections = [];
    server = createServer((socket) => {
      connections.push(socket);
      socket.on('error', () => undefined);
      socket.on('data', (bytes) => {
        asked.push(bytes.toString('latin1'));
        (turns.shift() ?? says(DONE))(socket);
      });
    });
    address = { protocol: 'http:', hostname: '127.0.0.1', port: String(await listen(server)) };
    requests = use(10);
  });
  afterEach(() => {
    requests.close();
    for (const socket of connections) socket.destroy();
    server.close();
  });

  const send = (request: Partial<PlainRequest> = {}, signal = NEVER) =>
    requests.send({ method: 'GET', path: '/b/key', headers: {}, ...request }, signal);

  it('carry the headers that were signed, and the host and length once', async () => {
    const headers = { host: 'store', 'content-length': '5', authorization: 'AWS4 x' };
    await send({ method: 'PUT', headers, body: Buffer.from('bytes') });
    const lines = (asked[0] ?? '').split('\r\n');
    expect(lines[0]).toBe('PUT /b/key HTTP/1.1');
    expect(lines.slice(1, -2).sort()).toEqual([
      'Connection: keep-alive',
      'Content-Length: 5',
      `Host: store:${address.port}`,
      'authorization: AWS4 x',
    ]);
    expect(lines.at(-1)).toBe('bytes');
  });

  it('use one connection after the other, also after the length of what HEAD does not send', async () => {
    turns.push(says(TEN));
    const facts = await send({ method: 'HEAD' });
    expect(facts.header('content-length')).toBe('10');
    expect(facts.whole).toHaveLength(0);
    turns.push(says(`${TEN}0123456789`));
    expect((await send()).whole?.toString()).toBe('0123456789');
    expect(connections).toHaveLength(1);
  });

  it('give a body as a stream where it comes later than its head', async () => {
    turns.push((socket) => {
      socket.write(`${TEN}01234`);
      setTimeout(() => socket.write('56789'), 20);
    });
    const answer = await send();
    expect(answer.whole).toBeUndefined();
    expect(await text(answer.body)).toBe('0123456789');
    await send();
    expect(connections).toHaveLength(1);
  });

  it('wait their turn when all connections are taken, and leave the line when they are given up', async () => {
    requests.close();
    requests = use(1);
    const held: Socket[] = [];
    turns.push((socket) => void held.push(socket));
    const first = send({ path: '/first' });
    const givenUp = new AbortController();
    const second = send({ path: '/second' }, givenUp.signal);
    const third = send({ path: '/third' });
    await until(() => held.length === 1);
    givenUp.abort(new Error('no longer wanted'));
    await expect(second).rejects.toThrow('no longer wanted');
    expect(asked).toHaveLength(1);
    held[0]?.write(DONE);
    await Promise.all([first, third]);
    expect(asked.map((one) => one.split(' ', 2)[1])).toEqual(['/first', '/third']);
    expect(connections).toHaveLength(1);
  });

  it('free their connection when they are given up, before the answer or in it', async () => {
    requests.close();
    requests = use(1);
    const early = new AbortController();
    turns.push(() => early.abort(new Error('too late')));
    await expect(send({}, early.signal)).rejects.toThrow('too late');
    const late = new AbortController();
    turns.push(says(`${TEN}01`));
    const answer = await send({}, late.signal);
    late.abort(new Error('not all'));
    await expect(buffer(answer.body)).rejects.toThrow('not all');
    expect((await send()).statusCode).toBe(200);
    expect(connections).toHaveLength(3);
  });

  it('are not sent when they were given up before', async () => {
    await expect(send({}, AbortSignal.abort(new Error('never mind')))).rejects.toThrow('never mind');
    expect((await send()).statusCode).toBe(200);
    expect(asked).toHaveLength(1);
  });

  it('do not use a connection again whose store answered before it had read the body', async () => {
    turns.push((socket) => {
      socket.pause();
      socket.write('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
    });
    const refused = await send({ method: 'PUT', body: Buffer.alloc(32 * 1024 * 1024) });
    expect(refused.statusCode).toBe(403);
    expect((await send()).statusCode).toBe(200);
    expect(connections).toHaveLength(2);
  });

  it('fail when the store hangs up, in the head or in the body', async () => {
    turns.push((socket) => void socket.end('HTTP/1.1 200'));
    await expect(send()).rejects.toMatchObject({ code: 'ECONNRESET' });
    turns.push((socket) => void socket.end(`${TEN}0123`));
    await expect(send().then(({ body }) => buffer(body))).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('fail when there is no store', async () => {
    requests.close();
    address = { ...address, port: '1' };
    requests = use(1);
    for (const _ of [1, 2]) await expect(send()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('end with the store, those that wait for a connection too', async () => {
    requests.close();
    requests = use(1);
    turns.push(() => undefined);
    const both = [send({ path: '/first' }), send({ path: '/second' })].map((sent) => expect(sent).rejects.toThrow());
    await until(() => asked.length === 1);
    requests.close();
    await Promise.all(both);
    await expect(send()).rejects.toThrow('closed');
    expect(asked).toHaveLength(1);
  });

  it('refuse what would be another request in a header', async () => {
    await expect(send({ headers: { range: 'x\r\nDELETE / HTTP/1.1' } })).rejects.toThrow(TypeError);
    expect((await send()).statusCode).toBe(200);
  });
});
