import { RawSocket } from '../../helpers/raw-socket.js';
import { freshSession, type HostilePeer, openPost, outcomeOf, repeat, uploadPath } from './target.js';

const DRIP_MS = 1_000;
const PAUSE_MS = 500;
const MEGABYTE = 1_000_000;

/** Sends a byte now and then until the other side has had enough. */
async function drip(socket: RawSocket, bytes: string): Promise<string> {
  const timer = setInterval(() => socket.send(bytes), DRIP_MS);
  const answer = await socket.toEnd();
  clearInterval(timer);
  return outcomeOf(answer) ?? 'closed';
}

export const drippingBodies: HostilePeer = {
  name: 'dripping bodies',
  does: '8 POSTs whose body comes at one byte a second',
  run: (target, note) =>
    repeat(8, PAUSE_MS, note, async () => drip(await openPost(target, 'http', { 'Content-Length': MEGABYTE }), ' ')),
};

export const drippingUploads: HostilePeer = {
  name: 'dripping uploads',
  does: '8 uploads, four of one link, at one byte a second',
  async run(target, note) {
    const session = freshSession(target, 'http');
    const links = [await uploadPath(target, await session()), await uploadPath(target, await session())];
    return repeat(8, PAUSE_MS, note, async (place) => {
      // one of the four that share a link renews it: it does not live for long
      if (place < 2) links[place] = await uploadPath(target, await session());
      const socket = await RawSocket.open(Number(new URL(target.url).port));
      const about = { 'Content-Type': 'application/octet-stream', 'Content-Length': MEGABYTE };
      socket.head(`PUT ${links[place % 2]}`, about);
      return drip(socket, 'x');
    });
  },
};

export const drippingHeads: HostilePeer = {
  name: 'dripping heads',
  does: '8 connections whose request head never ends',
  run: (target, note) =>
    repeat(8, PAUSE_MS, note, async () => {
      const socket = await RawSocket.open(Number(new URL(target.url).port));
      socket.send('POST /http/mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
      return drip(socket, 'x');
    }),
};

const CHUNKS_AT_ONCE = 500;
const CHUNKS_MS = 100;
const CHUNKS_OF_A_BODY = 300_000;

export const oneByteChunks: HostilePeer = {
  name: 'one-byte chunks',
  does: '2 bodies of 300,000 chunks of one byte, 5000 a second',
  run: (target, note) =>
    repeat(2, PAUSE_MS, note, async () => {
      const socket = await openPost(target, 'http', { 'Transfer-Encoding': 'chunked' });
      let left = CHUNKS_OF_A_BODY;
      const timer = setInterval(() => {
        if (left > 0) socket.send('1\r\n \r\n'.repeat(CHUNKS_AT_ONCE));
        else if (left > -CHUNKS_AT_ONCE) socket.send('0\r\n\r\n');
        left -= CHUNKS_AT_ONCE;
      }, CHUNKS_MS);
      const answer = await socket.until(/"jsonrpc"/);
      clearInterval(timer);
      socket.reset();
      return outcomeOf(answer) ?? 'closed';
    }),
};

const UNFINISHED_BYTES = 900_000;

export const unfinishedPosts: HostilePeer = {
  name: 'unfinished POSTs',
  does: '24 POSTs that stop in the middle of 1 MB',
  run: (target, note) =>
    repeat(24, PAUSE_MS, note, async () => {
      const socket = await openPost(target, 'http', { 'Content-Length': MEGABYTE });
      socket.send(`{"jsonrpc":"${'x'.repeat(UNFINISHED_BYTES)}`);
      return outcomeOf(await socket.toEnd()) ?? 'closed';
    }),
};
