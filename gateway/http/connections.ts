import type { Socket } from 'node:net';
import { Line, type Place } from '../budget/line.js';

/** How often it is looked whether clients take what waits for them. */
const LOOK_MS = 1000;

/** Connections beyond the limit that are let in to be told so; what comes beside them is closed without a word. */
export const TOLD = 64;

/**
 * Requests of one connection whose answers are not over. A packet of 64 kB has room for 1500 requests, and Node serves all
 * of them in one turn of the event loop, in which nobody else is served: more than half a second. Clients of today send
 * one at a time.
 */
export const MOST_PIPELINED = 32;

/** Who has just connected may have a request on the way; so may whoever has just got an answer. */
const SETTLED_MS = 500;

/** What is left of a connection after its last answer was written: enough for the answer to arrive. */
const FAREWELL_MS = 1000;

interface Connection {
  readonly socket: Socket;
  /** Requests whose answer is not over. */
  running: number;
  /** While nothing runs on it: its place among those, of which the first has been idle longest. */
  idle: Place<Connection> | undefined;
  idleSince: number;
  /** Its first request is to be refused: there was no room for it. */
  readonly isBeyond: boolean;
  /** Bytes that waited for the client at the last look, and since when they have been as many; 0 when there are none. */
  waiting: number;
  waitingSince: number;
}

/**
 * The connections of one port. When there are as many as there may be, the one that has been idle longest makes room
 * for the next: whoever opens connections and sends nothing displaces itself, and costs nobody else an answer.
 */
export class Connections {
  readonly #most: number;
  readonly #stallMs: number;
  readonly #open = new Map<Socket, Connection>();
  readonly #idle = new Line<Connection>();
  readonly #look: NodeJS.Timeout;

  /**
   * @param most `limits.sockets`
   * @param stallMs `timeouts.idle`: a client that takes nothing of what waits for it for that long is given up
   */
  constructor(most: number, stallMs: number) {
    this.#most = most;
    this.#stallMs = stallMs;
    this.#look = setInterval(() => this.#giveUpStalled(), Math.min(LOOK_MS, stallMs));
    this.#look.unref();
  }

  /** Open now. */
  get size(): number {
    return this.#open.size;
  }

  /** A connection has been made. */
  admit(socket: Socket): void {
    const isFull = this.#open.size >= this.#most;
    const longestIdle = isFull ? this.#settled() : undefined;
    if (longestIdle) {
      this.#forget(longestIdle);
      longestIdle.socket.destroy();
    } else if (this.#open.size >= this.#most + TOLD) {
      socket.destroy();
      return;
    }
    const isBeyond = isFull && !longestIdle;
    const connection: Connection = {
      socket,
      running: 0,
      idle: undefined,
      idleSince: 0,
      isBeyond,
      waiting: 0,
      waitingSince: 0,
    };
    this.#open.set(socket, connection);
    socket.once('close', () => this.#forget(connection));
    this.#rest(connection);
  }

  /** Whether so many requests wait on it that none more may come. */
  isFlooded(socket: Socket): boolean {
    return (this.#open.get(socket)?.running ?? 0) >= MOST_PIPELINED;
  }

  /** A request has come on it. @returns false when it is to be refused, since there is no room for the connection */
  begin(socket: Socket): boolean {
    const connection = this.#open.get(socket);
    if (!connection) return true;
    connection.running += 1;
    if (connection.idle) this.#idle.remove(connection.idle);
    connection.idle = undefined;
    return !connection.isBeyond;
  }

  /** The answer to it is over. */
  end(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (!connection) return;
    connection.running -= 1;
    this.#rest(connection);
  }

  /** Looks after nothing any more. */
  stop(): void {
    clearInterval(this.#look);
  }

  /** The connection that has been idle longest, if it has been so for a while. */
  #settled(): Connection | undefined {
    const { first } = this.#idle;
    return first && performance.now() - first.idleSince >= SETTLED_MS ? first : undefined;
  }

  #rest(connection: Connection): void {
    if (connection.running > 0) return;
    connection.idleSince = performance.now();
    connection.idle = this.#idle.add(connection);
  }

  #forget(connection: Connection): void {
    this.#open.delete(connection.socket);
    if (connection.idle) this.#idle.remove(connection.idle);
    connection.idle = undefined;
  }

  /** Node's own time-out of a socket is put off by each byte that the client sends, be it one a minute. */
  #giveUpStalled(): void {
    const now = performance.now();
    for (const connection of this.#open.values()) {
      const waiting = unsentOf(connection.socket);
      if (waiting !== connection.waiting) {
        connection.waiting = waiting;
        connection.waitingSince = now;
      } else if (waiting > 0 && now - connection.waitingSince >= this.#stallMs) connection.socket.destroy();
    }
  }
}

/** Bytes that the kernel has not taken. Of a write under way Node's stream knows only that it is not over. */
function unsentOf(socket: Socket): number {
  const { _handle } = socket as Socket & { _handle?: { writeQueueSize?: number } | null };
  return socket.writableLength === 0 ? 0 : socket.writableLength + (_handle?.writeQueueSize ?? 0);
}

/** Closes a connection once what was written is out, and soon in any case: its peer may never read. */
export function closeSoon(socket: Socket): void {
  socket.destroySoon();
  if (socket.destroyed) return;
  const timer = setTimeout(() => socket.destroy(), FAREWELL_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}
