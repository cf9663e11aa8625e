import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { JoinedRequest } from '../../../gateway/http/incoming/joined-request.js';
import { close, listen } from '../../helpers/loopback.js';
import { until } from '../../helpers/wait.js';

const HEAD = 'POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n';
const IN_CHUNKS = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`;
const LAST = '0\r\n\r\n';

/** A body in HTTP chunks of these lengths. */
function chunked(body: Buffer, lengths: readonly number[]): Buffer {
  let at = 0;
  const chunks = lengths.map((length) => {
    const chunk = body.subarray(at, at + length);
    at += length;
    return Buffer.concat([Buffer.from(`${length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]);
  });
  return Buffer.concat(chunks);
}

describe('a request whose body comes in short chunks', () => {
  let take: (request: IncomingMessage) => void;
  const server = createServer({ IncomingMessage: JoinedRequest }, (request, response) => {
    take(request);
    request.once('end', () => response.end());
  });
  let port = 0;

  beforeEach(async () => {
    port = await listen(server);
  });
  afterEach(() => close(server));

  /** Sends these bytes, in as many packets as there are. @returns what became of the request */
  const send = async (packets: readonly (string | Buffer)[]) => {
    const asked = new Promise<IncomingMessage>((resolve) => {
      take = resolve;
    });
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    await once(socket, 'connect');
    for (const packet of packets) socket.write(packet);
    return { request: await asked, socket };
  };
  /** All of a body, and in how many pieces it was given. */
  const read = async (request: IncomingMessage) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => void pieces.push(piece));
    await once(request, 'end');
    return { body: Buffer.concat(pieces), pieces: pieces.length };
  };

  it('is given in few pieces', async () => {
    const body = Buffer.alloc(200_000, 'abcdefg');
    const { request } = await send([IN_CHUNKS, chunked(body, Array(body.length).fill(1)), LAST]);
    const found = await read(request);
    expect(found.body.equals(body)).toBe(true);
    expect(found.pieces).toBeLessThan(500);
  });

  it('is kept in few pieces, and not read on, until it is taken', async () => {
    const body = Buffer.alloc(400_000, 'abcdefg');
    const { request } = await send([IN_CHUNKS, chunked(body, Array(body.length).fill(1)), LAST]);
    await until(() => request.readableLength > 0);
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
    expect(request.complete).toBe(false);
    expect(request.readableLength).toBeLessThan(2 * request.readableHighWaterMark);
    const found = await read(request);
    expect(found.body.equals(body)).toBe(true);
    expect(found.pieces).toBeLessThan(1000);
  });

  it('has every byte in its order, however it is cut into chunks and packets', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1000, max: 1050 }), fc.constant(40_000)), {
          minLength: 1,
          maxLength: 60,
        }),
        fc.integer({ min: 1, max: 5000 }),
        fc.boolean(),
        async (lengths, packet, isLate) => {
          const body = Buffer.from(
            Array.from({ length: lengths.reduce((sum, one) => sum + one, 0) }, (_, at) => at & 255),
          );
          const all = Buffer.concat([Buffer.from(IN_CHUNKS), chunked(body, lengths), Buffer.from(LAST)]);
          const packets = [all.subarray(0, packet), all.subarray(packet)];
          const { request } = await send(packets);
          if (isLate) await new Promise(setImmediate);
          expect((await read(request)).body.equals(body)).toBe(true);
        },
      ),
      { numRuns: 40 },
    ));

  it('with a length has its bytes, in one packet and in several', async () => {
    for (const packets of [
      [`${HEAD}Content-Length: 6\r\n\r\nabcdef`],
      [`${HEAD}Content-Length: 6\r\n\r\nab`, 'cd', 'ef'],
    ]) {
      const { request } = await send(packets);
      expect((await read(request)).body.toString()).toBe('abcdef');
    }
  });

  it('that breaks off ends as any other', async () => {
    const { request, socket } = await send([IN_CHUNKS, chunked(Buffer.from('abc'), [1, 1, 1])]);
    const given: string[] = [];
    request.on('data', (piece: Buffer) => void given.push(piece.toString()));
    request.on('error', () => {});
    while (given.join('') !== 'abc') await new Promise(setImmediate);
    socket.resetAndDestroy();
    await new Promise((resolve) => request.once('close', resolve));
    expect(request.complete).toBe(false);
  });
});
