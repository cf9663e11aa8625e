import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startUploadServer, type UploadServer } from '../../helpers/upload-server.js';

const PIECE = Buffer.alloc(64 * 1024, 'a');
/** More than the system keeps for a reader that has gone. */
const PIECES = 128;

let server: UploadServer;

beforeAll(async () => {
  server = await startUploadServer({ stores: 'filesystem+memory' });
});

afterAll(() => server?.stop());

/**
 * Sends all of a request before it reads, as simple clients do.
 * @param midway called when half of it is sent
 * @returns the answer
 */
async function sendThenRead(head: string, midway = () => {}): Promise<string> {
  const socket = connect(server.port, '127.0.0.1').pause();
  await once(socket, 'connect');
  socket.write(`${head}Host: localhost\r\nContent-Length: ${PIECE.length * PIECES}\r\n\r\n`);
  for (let count = 0; count < PIECES; count += 1) {
    await sent(socket, PIECE);
    if (count === PIECES / 2) midway();
  }
  let answer = '';
  for await (const bytes of socket) answer += bytes;
  return answer;
}

function sent(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => socket.write(bytes, (error) => (error ? reject(error) : resolve())));
}

describe('a refusal after which the connection ends', () => {
  it.each([
    ['as its client wants', 'HTTP/1.1\r\nConnection: close'],
    ['as in HTTP/1.0', 'HTTP/1.0'],
    ['after Expect, whose answer its client did not wait for', 'HTTP/1.1\r\nExpect: 100-continue'],
  ])('is read by a client that sends everything first: %s', async (_, version) => {
    const { ticket } = await server.authorize({ maxSize: 1000 });
    expect(await sendThenRead(`PUT /u/${ticket} ${version}\r\n`)).toMatch(/^HTTP\/1\.1 413 [\s\S]*maxSizeExceeded/);
  });

  it('is read also where Wharf is busy meanwhile: that time is not the client’s', async () => {
    const { ticket } = await server.authorize({ maxSize: 1000 });
    // this process is both
    const busy = () => {
      for (const end = performance.now() + 1500; performance.now() < end; );
    };
    const answer = await sendThenRead(`PUT /u/${ticket} HTTP/1.1\r\nConnection: close\r\n`, busy);
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('is read also by a client that sends slowly', async () => {
    const { ticket } = await server.authorize({ maxSize: 1000 });
    const socket = connect(server.port, '127.0.0.1').pause();
    await once(socket, 'connect');
    socket.write(`PUT /u/${ticket} HTTP/1.0\r\nHost: localhost\r\nContent-Length: ${12 * PIECE.length}\r\n\r\n`);
    for (let count = 0; count < 12; count += 1) {
      await sleep(100);
      await sent(socket, PIECE);
    }
    let answer = '';
    for await (const bytes of socket) answer += bytes;
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });

  it('closes it soon, also for a client that sends for ever', async () => {
    const { ticket } = await server.authorize({ maxSize: 1000 });
    const socket = connect(server.port, '127.0.0.1');
    const closed = new Promise((resolve) => socket.on('error', () => undefined).once('close', resolve));
    socket.write(`PUT /u/${ticket} HTTP/1.0\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n`);
    const drip = setInterval(() => socket.write('a'), 20);
    await closed;
    clearInterval(drip);
  });
});
