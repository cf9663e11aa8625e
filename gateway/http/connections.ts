import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { FairLine, type FairPlace, Line, type Place } from '../budget/collections/line.js';
import { type Crowd, Crowds } from '../budget/collections/most-used.js';
import { Patience } from '../budget/patience.js';
import type { Limits } from '../policy/limits.js';
import type { Reading } from './incoming/arrivals.js';
import { headerBytes, unfinishedHeaderBytes } from './incoming/header-texts.js';
import { type LatePlace, Unread } from './outgoing/unread.js';

/** Interval between two checks of whether clients read their answers. */
const LOOK_MS = 1000;

/** Connections beyond the limit that are accepted for a refusal; further ones are closed without an answer. */
export const TOLD = 64;

/** Interval between two looks at heads that are unfinished, while there are so many connections that these could matter. */
const HEADS_LOOK_MS = 100;
const MANY_HEADS = 256;

/** What is left of the headers of all, once they were too many: the next ones do not make Wharf look at each connection again. */
const AFTER_ROOM = 0.75;

/**
 * Most unfinished requests per connection. A packet of 64 kB holds up to 1500 requests, and Node serves all of them in
 * one turn of the event loop: more than half a second in which no other client is served. Today's clients send one at a
 * time.
 */
const MOST_PIPELINED = 32;

/** Connections that are read again in one turn of the event loop: what they have sent takes some 20 ms. */
const READ_TOGETHER = 64;

/** A connection that is new, or has just got an answer, may have a request on the way. */
const SETTLED_MS = 500;

/** How long a connection stays after its last answer was written: enough for the answer to arrive. */
const FAREWELL_MS = 1000;

const FAREWELL = new Patience(FAREWELL_MS);

/** As `FAREWELL`, of a client that still sends: longer than its rest is read. */
const LAST_FAREWELL = new Patience(6000);

interface Connection {
  readonly socket: Socket;
  /** Requests with unfinished answers. */
  running: number;
  /** Bytes that count of the headers of those requests. */
  headers: number;
  /** The last one was answered before all of its body had come. */
  hasRest: boolean;
  /** While nothing runs on it: its place in the order of idleness, longest first. */
  idle: Place<Connection> | undefined;
  /** Its place in that order among the connections of one owner. */
  idleOfOwner: Place<Connection> | undefined;
  /** All connections of its owner: of the last caller that was answered on it, or until then of its address. */
  crowd: Crowd<Connection>;
  idleSince: number;
  /** While it is idle and not read: its place among those. */
  paused: FairPlace<Connection> | undefined;
  /** The last caller that was answered on it, once there is one. */
  caller: string | undefined;
  /** There was no room for it: its first request is refused. */
  readonly isBeyond: boolean;
  /** While its client has not taken all of a finished answer: what it has left. */
  late: LatePlace<Connection> | undefined;
  /** Bytes that waited for the client at the last check, and since when the number has been the same; 0 for none. */
  waiting: number;
  waitingSince: number;
}

/** What the connections of one port may take. */
interface Room {
  /** `limits.sockets`: most of them. */
  sockets: number;
  /**
   * `limits.held`, as it is now: bytes of finished answers that clients have not taken. Their exchanges are over and count no more, and
   * a connection may have `MOST_PIPELINED` of them behind an open stream: 100 such connections kept 180 MB for hours. So do
   * headers, of which a head of 16 KiB may have 4000: of 4000 unfinished heads Node kept 430 MB.
   */
  limits: Readonly<Pick<Limits, 'held'>>;
  /** `timeouts.idle`: a client that reads nothing of its answer for this long is given up. */
  stallMs: number;
}

/**
 * The connections of one port. When the limit is reached, of the caller with the most of them the one that has been idle
 * longest makes room for the next: a client that opens connections and sends nothing displaces only itself. In the same way, of the caller with the most unread
 * answers, the one that has left one unread longest makes room for further ones. Where headers take too much, the connections with
 * the most of them are closed.
 */
export class Connections implements Reading {
  readonly #room: Room;
  readonly #open = new Map<Socket, Connection>();
  readonly #idle = new Line<Connection>();
  readonly #crowds = new Crowds<Connection>();
  /** Callers take turns, so that a client waits for one connection of another that has thousands. */
  readonly #paused = new FairLine<Connection>();
  readonly #unread = new Unread<Connection>();
  readonly #look: NodeJS.Timeout;
  /** While there are many connections. */
  #headsLook: NodeJS.Timeout | undefined;
  /** Bytes that count of the headers of all running requests. */
  #headers = 0;

  constructor(room: Room) {
    const { stallMs } = room;
    this.#room = room;
    this.#look = setInterval(() => this.#giveUpStalled(), Math.min(LOOK_MS, stallMs));
    this.#look.unref();
  }

  /** Open now. */
  get size(): number {
    return this.#open.size;
  }

  get sockets(): Iterable<Socket> {
    return this.#open.keys();
  }

  /** Takes in a new connection. */
  admit(socket: Socket): void {
    const isFull = this.#open.size >= this.#room.sockets;
    const longestIdle = isFull ? this.#settled() : undefined;
    if (longestIdle) {
      this.#forget(longestIdle);
      longestIdle.socket.destroy();
    } else if (this.#open.size >= this.#room.sockets + TOLD) {
      socket.destroy();
      return;
    }
    const isBeyond = isFull && !longestIdle;
    const connection: Connection = {
      socket,
      running: 0,
      headers: 0,
      hasRest: false,
      idle: undefined,
      idleOfOwner: undefined,
      crowd: this.#crowds.enter(ownerOf(socket)),
      idleSince: 0,
      paused: undefined,
      caller: undefined,
      isBeyond,
      late: undefined,
      waiting: 0,
      waitingSince: 0,
    };
    this.#open.set(socket, connection);
    // `once` would keep 150 bytes more with each connection
    socket.on('close', () => this.#forget(connection));
    this.#rest(connection);
    if (this.#open.size > MANY_HEADS) this.#headsLook ??= this.#watchHeads();
  }

  /** True when its unfinished requests have reached the limit. */
  isFlooded(socket: Socket): boolean {
    return (this.#open.get(socket)?.running ?? 0) >= MOST_PIPELINED;
  }

  /** True while the answer to one of its requests is unfinished, or the client may still send the body of one. */
  isBusy(socket: Socket): boolean {
    const connection = this.#open.get(socket);
    return connection !== undefined && (connection.running > 0 || connection.hasRest);
  }

  /** True while several of its requests have no answer yet. */
  isPipelined(socket: Socket): boolean {
    return (this.#open.get(socket)?.running ?? 0) > 1;
  }

  /** The last caller that was answered on a connection, once there is one. */
  callerOn(socket: Socket): string | undefined {
    return this.#open.get(socket)?.caller;
  }

  /**
   * Begins a request.
   * @param texts names and values of its headers
   * @returns false when it must be refused because there is no room for its connection
   */
  begin(socket: Socket, texts: number): boolean {
    const connection = this.#open.get(socket);
    if (!connection) return true;
    const headers = headerBytes(texts);
    if (headers > 0) {
      connection.headers += headers;
      this.#headers += headers;
      if (this.#headers > this.#room.limits.held) this.#dropHeaders();
    }
    connection.running += 1;
    connection.hasRest = false;
    this.#stir(connection);
    return !connection.isBeyond;
  }

  /** An answer has been made to its end, and the client has yet to take this much of it. @param caller who was answered */
  leave(socket: Socket, bytes: number, caller: string): void {
    const connection = this.#open.get(socket);
    if (!connection) return;
    connection.late = this.#unread.add(connection, bytes, caller, connection.late);
    while (this.#unread.bytes > this.#room.limits.held) this.#dropUnread();
  }

  /**
   * Ends a request's answer.
   * @param untaken bytes of it that `leave` has counted
   * @param caller who was answered, if that is known
   */
  end(
    { socket, complete, rawHeaders }: Pick<IncomingMessage, 'socket' | 'complete'> & { rawHeaders?: readonly string[] },
    untaken: number,
    caller?: string,
  ): void {
    const connection = this.#open.get(socket);
    if (!connection) return;
    this.#lose(connection, headerBytes(rawHeaders?.length ?? 0));
    connection.running -= 1;
    connection.hasRest = !complete;
    if (caller !== undefined && caller !== connection.caller) this.#own(connection, caller);
    if (untaken > 0) this.#take(connection, untaken);
    this.#rest(connection);
  }

  /**
   * Reads no idle connection, and no new one, until `readSome` has come to it. Those that Node has found ready in this turn
   * are passed over, and what they have sent stays with the system.
   */
  pause(): void {
    for (const connection of this.#idle.values()) if (!connection.paused) this.#pause(connection);
  }

  readSome(): boolean {
    for (let left = READ_TOGETHER; left > 0; left--) {
      const next = this.#paused.take();
      if (!next) return false;
      this.#resume(next);
    }
    return !this.#paused.isEmpty;
  }

  /** Stops the checks. */
  stop(): void {
    clearInterval(this.#look);
    clearInterval(this.#headsLook);
  }

  /** One that can make room: of the owner with the most of them, or else of all, the one that has been idle longest. */
  #settled(): Connection | undefined {
    return [this.#crowds.first, this.#idle.first].find((connection) => connection && isSettled(connection));
  }

  #own(connection: Connection, caller: string): void {
    connection.caller = caller;
    this.#crowds.leave(connection.crowd);
    connection.crowd = this.#crowds.enter(ownerOf(connection.socket, caller));
  }

  #rest(connection: Connection): void {
    if (connection.running > 0) return;
    connection.idleSince = performance.now();
    connection.idle = this.#idle.add(connection);
    connection.idleOfOwner = connection.crowd.spare.add(connection);
    // those that were paused before it have their turn first
    if (!this.#paused.isEmpty) this.#pause(connection);
  }

  /** It is idle no longer. */
  #stir(connection: Connection): void {
    if (connection.idle) this.#idle.remove(connection.idle);
    if (connection.idleOfOwner) connection.crowd.spare.remove(connection.idleOfOwner);
    connection.idle = undefined;
    connection.idleOfOwner = undefined;
    this.#read(connection);
  }

  #pause(connection: Connection): void {
    connection.paused = this.#paused.add(connection, connection.caller);
    connection.socket.pause();
  }

  #read(connection: Connection): void {
    if (connection.paused && this.#paused.remove(connection.paused)) this.#resume(connection);
  }

  /** @param connection that has left the line of those that are not read */
  #resume(connection: Connection): void {
    connection.paused = undefined;
    connection.idleSince = performance.now();
    connection.socket.resume();
  }

  #take(connection: Connection, bytes: number): void {
    if (connection.late) connection.late = this.#unread.take(connection.late, bytes);
  }

  #dropUnread(): void {
    const dropped = this.#unread.first as Connection;
    this.#forget(dropped);
    dropped.socket.destroy();
  }

  #lose(connection: Connection, headers: number): void {
    connection.headers -= headers;
    this.#headers -= headers;
  }

  #watchHeads(): NodeJS.Timeout {
    const look = setInterval(() => {
      if (this.#open.size > MANY_HEADS) return this.#dropHeaders();
      clearInterval(look);
      this.#headsLook = undefined;
    }, HEADS_LOOK_MS);
    return look.unref();
  }

  /** Closes connections with the most headers, if those of all take too much: of requests under way, and of unfinished heads. */
  #dropHeaders(): void {
    const { held } = this.#room.limits;
    let all = 0;
    const some: { connection: Connection; bytes: number }[] = [];
    for (const connection of this.#open.values()) {
      const bytes = connection.headers + unfinishedHeaderBytes(connection.socket);
      if (bytes === 0) continue;
      all += bytes;
      some.push({ connection, bytes });
    }
    if (all <= held) return;
    some.sort((one, other) => other.bytes - one.bytes);
    for (const { connection, bytes } of some) {
      if (all <= held * AFTER_ROOM) return;
      all -= bytes;
      this.#forget(connection);
      connection.socket.destroy();
    }
  }

  #forget(connection: Connection): void {
    if (!this.#open.delete(connection.socket)) return;
    this.#lose(connection, connection.headers);
    this.#stir(connection);
    this.#crowds.leave(connection.crowd);
    if (connection.late) this.#take(connection, connection.late.value.bytes);
  }

  /** Node's own socket time-out restarts with each byte that the client sends, even one a minute. */
  #giveUpStalled(): void {
    const now = performance.now();
    for (const connection of this.#open.values()) {
      const waiting = unsentOf(connection.socket);
      if (waiting !== connection.waiting) {
        connection.waiting = waiting;
        connection.waitingSince = now;
      } else if (waiting > 0 && now - connection.waitingSince >= this.#room.stallMs) connection.socket.destroy();
    }
  }
}

/** Idle for a while. One that is paused may have sent something. */
function isSettled({ paused, idleSince }: Connection): boolean {
  return !paused && performance.now() - idleSince >= SETTLED_MS;
}

/** Whose share a connection takes. @param caller who was answered on it, where that is known */
export function ownerOf({ remoteAddress = '' }: Socket, caller = ''): string {
  return caller === '' ? `address ${remoteAddress}` : `caller ${caller}`;
}

/** Bytes that the kernel has not taken. Of a running write, Node's stream knows only that it is unfinished. */
function unsentOf(socket: Socket): number {
  const { _handle } = socket as Socket & { _handle?: { writeQueueSize?: number } | null };
  return socket.writableLength === 0 ? 0 : socket.writableLength + (_handle?.writeQueueSize ?? 0);
}

/** Closes a connection when its output has been sent, and soon in any case: its peer may never read. */
export function closeSoon(socket: Socket): void {
  socket.destroySoon();
  sayFarewell(socket, FAREWELL);
}

/** Ends Wharf's side of a connection whose client still sends, and closes it soon. */
export function endSide(socket: Socket): void {
  socket.end();
  sayFarewell(socket, LAST_FAREWELL);
}

function sayFarewell(socket: Socket, patience: Patience): void {
  if (socket.destroyed) return;
  const wait = patience.begin(() => socket.destroy());
  socket.once('close', () => patience.end(wait));
}
