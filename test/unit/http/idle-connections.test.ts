import { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Connections } from '../../../gateway/http/connections.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

function room(sockets: number) {
  const connections = new Connections({ sockets, limits: { held: 100 }, stallMs: 60_000 });
  const open = (address = '127.0.0.1') => {
    const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: address });
    connections.admit(socket);
    jest.advanceTimersByTime(1);
    return socket;
  };
  const ask = (socket: Socket, caller: string) => {
    connections.begin(socket, 0);
    connections.end({ socket, complete: true } as Parameters<Connections['end']>[0], 0, caller);
    return socket;
  };
  return { connections, open, ask };
}

const closed = (sockets: readonly Socket[]) => sockets.map(({ destroyed }) => destroyed);

describe('a connection for which others must make room', () => {
  it('closes that of the caller with the most which has been idle longest, and none of a caller with a few', () => {
    const { open, ask } = room(10);
    const honest = [1, 2].map(() => ask(open(), 'honest'));
    const flood = Array.from({ length: 8 }, () => ask(open(), 'flood'));
    jest.advanceTimersByTime(1000);
    const more = Array.from({ length: 4 }, () => ask(open(), 'flood'));
    expect(closed([...honest, ...more])).toEqual(Array(6).fill(false));
    expect(closed(flood)).toEqual(flood.map((_, at) => at < 4));
  });

  it('counts connections without an answer by their address', () => {
    const { open, ask } = room(10);
    const honest = [open('10.0.0.1'), ask(open('10.0.0.9'), 'honest')];
    const flood = Array.from({ length: 8 }, () => open('10.0.0.9'));
    jest.advanceTimersByTime(1000);
    const more = [open('10.0.0.9'), open('10.0.0.2')];
    expect(closed([...honest, ...more])).toEqual(Array(4).fill(false));
    expect(closed(flood)).toEqual(flood.map((_, at) => at < 2));
  });

  it('closes the one of all that has been idle longest while none of that caller is idle', () => {
    const { connections, open, ask } = room(4);
    const honest = [ask(open(), 'a'), ask(open(), 'b')];
    const busy = [open(), open()].map((socket) => ask(socket, 'busy'));
    for (const socket of busy) connections.begin(socket, 0);
    jest.advanceTimersByTime(1000);
    open();
    expect(closed([...honest, ...busy])).toEqual([true, false, false, false]);
  });

  it('forgets those that are closed', () => {
    const { connections, open, ask } = room(4);
    const flood = [1, 2, 3].map(() => ask(open(), 'flood'));
    const other = ask(open(), 'other');
    for (const socket of flood) socket.emit('close');
    // a second time, as when it was closed to make room
    for (const socket of flood) socket.emit('close');
    expect(connections.size).toBe(1);
    const others = [1, 2].map(() => ask(open(), 'other'));
    const last = ask(open(), 'flood');
    jest.advanceTimersByTime(1000);
    open();
    expect(closed([other, ...others, last])).toEqual([true, false, false, false]);
  });
});
