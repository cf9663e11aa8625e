import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { expect, it } from '@jest/globals';
import { discardRest } from '../../../gateway/http/discard.js';

/** A request whose client still sends its body, and what has become of its connection. */
function refused(caller?: string, remoteAddress = '127.0.0.1') {
  const open = { bytesRead: 0, destroyed: false, destroySoon: () => {}, remoteAddress };
  const socket = Object.assign(new EventEmitter(), open);
  socket.destroySoon = () => {
    socket.destroyed = true;
    socket.emit('close');
  };
  const request = Object.assign(new EventEmitter(), { complete: false, destroyed: false, resume: () => {}, socket });
  discardRest(request as unknown as IncomingMessage, caller);
  return { request, socket };
}

it('reads the rest of 256 refused requests at one time, and closes the one refused longest ago for one more', () => {
  const all = Array.from({ length: 256 }, () => refused());
  const closed = () => all.map(({ socket }, at) => (socket.destroyed ? at : -1)).filter((at) => at >= 0);
  expect(closed()).toEqual([]);
  all.push(refused());
  expect(closed()).toEqual([0]);
  // one that has sent everything makes room
  all[5]?.request.emit('close');
  all.push(refused());
  expect(closed()).toEqual([0]);
  for (const { request } of all) request.emit('close');
});

it('closes, for one more, one of the caller with the most of them, and of others none', () => {
  const own = [refused('a'), refused('b'), refused(undefined, '127.0.0.2')];
  const flood = Array.from({ length: 253 }, () => refused('flood'));
  const more = [refused('flood'), refused('c'), refused(undefined, '127.0.0.3')];
  expect([...own, ...more].filter(({ socket }) => socket.destroyed)).toEqual([]);
  expect(flood.map(({ socket }) => socket.destroyed)).toEqual(flood.map((_, at) => at < 3));
  for (const { request } of [...own, ...flood, ...more]) request.emit('close');
});

it('is done with one whose connection has closed, of which Node says no more', () => {
  const all = Array.from({ length: 256 }, () => refused());
  for (const { socket } of all) socket.emit('close');
  const more = Array.from({ length: 256 }, () => refused());
  expect([...all, ...more].filter(({ socket }) => socket.destroyed)).toEqual([]);
  expect(all.map(({ socket }) => socket.listenerCount('close'))).toEqual(all.map(() => 0));
  for (const { request } of more) request.emit('close');
  expect(more.map(({ socket }) => socket.listenerCount('close'))).toEqual(more.map(() => 0));
});
