import { Socket } from 'node:net';
import { expect, it } from '@jest/globals';
import { Connections } from '../../../gateway/http/connections.js';

it('closes the connection that has left an answer unread longest, by the limit of now: a reload may change it', () => {
  const limits = { held: 100 };
  const connections = new Connections({ sockets: 8, limits, stallMs: 60_000 });
  const sockets = [new Socket(), new Socket(), new Socket()] as const;
  for (const socket of sockets) {
    connections.admit(socket);
    connections.begin(socket);
  }
  const closed = () => sockets.map(({ destroyed }) => destroyed);
  for (const socket of sockets) connections.leave(socket, 30);
  expect(closed()).toEqual([false, false, false]);
  limits.held = 70;
  connections.leave(sockets[2], 1);
  expect(closed()).toEqual([true, false, false]);
  connections.end(sockets[1], 30);
  limits.held = 40;
  connections.leave(sockets[2], 1);
  expect(closed()).toEqual([true, false, false]);
});
