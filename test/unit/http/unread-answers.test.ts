import { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { Connections } from '../../../gateway/http/connections.js';

it('closes the connection that has left an answer unread longest, by the limit of now: a reload may change it', () => {
  const limits = { held: 100 };
  const connections = new Connections({ sockets: 8, limits, stallMs: 60_000 });
  const sockets = [new Socket(), new Socket(), new Socket()] as const;
  for (const socket of sockets) {
    connections.admit(socket);
    connections.begin(socket, 0);
  }
  const closed = () => sockets.map(({ destroyed }) => destroyed);
  for (const socket of sockets) connections.leave(socket, 30, 'a');
  expect(closed()).toEqual([false, false, false]);
  limits.held = 70;
  connections.leave(sockets[2], 1, 'a');
  expect(closed()).toEqual([true, false, false]);
  connections.end({ socket: sockets[1], complete: true }, 30);
  limits.held = 40;
  connections.leave(sockets[2], 1, 'a');
  expect(closed()).toEqual([true, false, false]);
});

describe('unread answers of several callers', () => {
  const MIB = 1024 * 1024;
  const open = (held: number) => {
    const connections = new Connections({ sockets: 100, limits: { held }, stallMs: 60_000 });
    const begun = () => {
      const socket = new Socket();
      connections.admit(socket);
      connections.begin(socket, 0);
      return socket;
    };
    return { connections, begun };
  };

  it('a slow reader keeps its answer while another caller leaves more and more unread', () => {
    const { connections, begun } = open(10 * MIB);
    const honest = begun();
    connections.leave(honest, 2 * MIB, 'honest');
    const hostile = Array.from({ length: 50 }, () => {
      const socket = begun();
      connections.leave(socket, MIB, 'hostile');
      return socket;
    });
    expect(honest.destroyed).toBe(false);
    // those of the other that were left longest have made room
    expect(hostile.map(({ destroyed }) => destroyed)).toEqual(hostile.map((_, at) => at < 42));
    // and the reader comes to its end
    connections.end({ socket: honest, complete: true }, 2 * MIB);
    expect(honest.destroyed).toBe(false);
  });

  it('what waits behind an answer on its connection counts for the caller of that answer', () => {
    const { connections, begun } = open(10 * MIB);
    const shared = begun();
    connections.leave(shared, 2 * MIB, 'a');
    connections.begin(shared, 0);
    connections.leave(shared, 3 * MIB, 'b');
    const other = begun();
    connections.leave(other, 4 * MIB, 'b');
    connections.leave(begun(), 2 * MIB, 'c');
    expect([shared.destroyed, other.destroyed]).toEqual([true, false]);
  });

  it('a caller whose answers have all been taken counts with none', () => {
    const { connections, begun } = open(10 * MIB);
    const taken = begun();
    connections.leave(taken, 9 * MIB, 'a');
    connections.end({ socket: taken, complete: true }, 9 * MIB);
    connections.begin(taken, 0);
    connections.leave(taken, MIB, 'a');
    const others = [begun(), begun()] as const;
    for (const socket of others) connections.leave(socket, 5 * MIB, 'b');
    expect([taken.destroyed, ...others.map(({ destroyed }) => destroyed)]).toEqual([false, true, false]);
  });
});
