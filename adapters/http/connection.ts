import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { WireError } from '../../gateway/wire/errors.js';
import { Chunked } from '../../gateway/wire/http/chunked.js';
import { type AnswerHead, CHUNKED, parseHead, UNTIL_CLOSE } from '../../gateway/wire/http/head.js';
import { Answer, AnswerBody, type BodySource, type Origin } from './answer.js';

/** Most bytes of an answer's head, with the heads of interim answers before it. */
const HEAD_BYTES = 64 * 1024;

const BEGINNING = Buffer.from('HTTP/1.');
const HEAD_END = Buffer.from('\r\n\r\n');
/** The end of a head whose lines lack their CR. Without a look for it Wharf would wait for more until `timeouts.upstream`. */
const BARE_END = Buffer.from('\n\n');
const NOTHING = Buffer.alloc(0);

/** What the system says of a connection whose other end refuses what was sent. */
const RESET = new Set(['ECONNRESET', 'EPIPE']);

/** Longest wait for a reset after the end of a connection: more than most round trips. */
const RESET_MS = 250;

/** The request that a connection carries. */
export interface Exchange {
  /** True for HEAD: its answer ends with its head, even if that announces a body. */
  readonly hasNoBody: boolean;
  /** False while the message is being sent: an answer that comes before has to be its connection's last. */
  readonly isSent: boolean;
  /**
   * Runs in the asynchronous context of the request. What is read from a connection runs in that of its first one, and
   * spans of a body's files would be those of another call.
   */
  inContext(run: () => void): void;
  answered(answer: Answer): void;
  /** The answer failed before its head, or in its body: then the body fails with what this returns. */
  failed(error: Error): Error;
  /** The connection is free or gone. Called once. */
  over(): void;
}

/** Where a connection goes that is free. */
export interface Keeper {
  keep(connection: Connection): void;
  /** It is closed. */
  forget(connection: Connection): void;
}

/** One for all: each of its own is a hundred bytes of every stream. */
function ignore(): void {}

function closedEarly(): Error {
  return Object.assign(new Error('the connection was closed before the answer was complete'), { code: 'ECONNRESET' });
}

/**
 * One HTTP/1.1 connection and the answers on it. node:http's client took 57 of the 75 µs that the least possible proxy spends
 * on a short message, undici's 35, this takes 26: no request, answer and stream objects with their listeners for a message
 * that goes out in one write and is answered in one packet.
 */
export class Connection implements BodySource, Origin {
  readonly socket: Socket;
  /** True from its second request on. */
  isReused = false;
  /** On the clock of `performance`; undefined while a request has it. */
  idleSince: number | undefined;
  readonly #keeper: Keeper;
  #exchange: Exchange | undefined;
  #awaited: 'nothing' | 'head' | 'body' = 'nothing';
  /** Whether a byte has come since the exchange began. */
  #heard = false;
  /** The beginning of a head that did not come in one packet, in memory that doubles; and how much of it is filled. */
  #begun: Buffer = NOTHING;
  #filled = 0;
  /** Bytes of the interim heads. */
  #interim = 0;
  /** What the head says of the body, and of the connection after it. */
  #length = 0;
  #keepsAlive = false;
  #body: AnswerBody | undefined;
  #chunked: Chunked | undefined;
  /** Of a body with a length: what is still to come. */
  #missing = 0;
  #isPaused = false;
  /** The reader of the body was slower than the wire at some time. */
  #wasPaused = false;
  /** Bytes have come that belong to no answer. */
  #isDirty = false;
  /** On the clock of `performance`: the end of a connection of which no byte has come since its request. */
  #endedAt: number | undefined;
  #isRefused = false;

  constructor(socket: Socket, keeper: Keeper) {
    this.socket = socket;
    this.#keeper = keeper;
    // kept by the socket until it closes
    socket.on('error', ignore);
    socket.on('end', () => this.#ended());
    // the only listener for it: each further one of a socket takes 200 bytes, and streams keep theirs for hours
    socket.on('close', () => {
      this.#fail(socket.errored ?? closedEarly());
      keeper.forget(this);
    });
  }

  /** True when not one byte has come since its request began. */
  get isUnheard(): boolean {
    return !this.#heard;
  }

  /**
   * When the connection broke, if the peer's system has refused bytes that were sent: its program had closed the connection
   * without having read them. A program that has read them, and ends, leaves an end without a reset.
   */
  get refusedAt(): number | undefined {
    const { code = '' } = (this.socket.errored ?? {}) as NodeJS.ErrnoException;
    return this.#isRefused || RESET.has(code) ? (this.#endedAt ?? performance.now()) : undefined;
  }

  /** True when another request may be sent on it. */
  get isUsable(): boolean {
    const { socket } = this;
    return !socket.destroyed && socket.writable && !this.#isDirty && socket.writableLength === 0;
  }

  begin(exchange: Exchange): void {
    this.#exchange = exchange;
    this.#awaited = 'head';
    this.#heard = false;
    this.#interim = 0;
    this.#filled = 0;
    this.#wasPaused = false;
  }

  /** @param bytes what was read, in memory that is used again after the call */
  take(bytes: Buffer): void {
    this.#heard = true;
    try {
      if (this.#awaited === 'head') this.#takeHead(bytes);
      else if (this.#body) this.#takeBody(this.#body, bytes);
      // on an idle connection, or after an answer, bytes answer no request
      else this.socket.destroy();
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#fail(error);
      this.socket.destroy();
    }
  }

  /** As `take`, for the part of a memory that was read into. @returns true: read on */
  takeOf(memory: Uint8Array, length: number): boolean {
    this.take(memory.subarray(0, length) as Buffer);
    return true;
  }

  distrust(body: Readable | undefined): void {
    this.#keepsAlive = false;
    // what another request waits for would be a wrong answer, too
    if (this.#body === undefined || this.#body !== body) this.socket.destroy();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.socket.resume();
  }

  left(isComplete: boolean): void {
    this.#body = undefined;
    this.#awaited = 'nothing';
    if (!isComplete) this.socket.destroy();
    // the end of a connection that was read late may have waited behind the body, and shows in the second turn from here
    else if (this.#wasPaused) setImmediate(() => setImmediate(() => this.#free()));
    else this.#free();
  }

  #takeHead(bytes: Buffer): void {
    const from = this.#filled;
    const seen = from === 0 ? bytes : this.#joined(bytes);
    let start = 0;
    for (;;) {
      const end = seen.indexOf(HEAD_END, start === 0 ? Math.max(0, from - HEAD_END.length) : start);
      if ((end === -1 ? seen.length : end) - start + this.#interim > HEAD_BYTES) {
        throw new WireError('held', 'a head is too long', HEAD_BYTES);
      }
      if (end === -1) {
        // a peer that speaks something else may wait for an answer
        const known = Math.min(seen.length - start, BEGINNING.length);
        const isBare = seen.indexOf(BARE_END, Math.max(start, from - 1)) !== -1;
        if (isBare || seen.compare(BEGINNING, 0, known, start, start + known) !== 0)
          throw new WireError('syntax', 'not an answer of HTTP/1.1', 0);
        if (from === 0) this.#joined(seen.subarray(start));
        else if (start > 0) this.#filled = seen.copy(seen, 0, start);
        return;
      }
      const head = parseHead(seen.toString('latin1', start, end), this.#exchange?.hasNoBody);
      const rest = end + HEAD_END.length;
      // an interim answer comes before the real one, asked for or not (RFC 9110 §15.2)
      if (head.status >= 200) {
        this.#filled = 0;
        this.#begun = NOTHING;
        this.#begins(head, this.#exchange as Exchange, seen, rest);
        return;
      }
      // a change of protocol was not asked for: nothing after it is an answer
      if (head.status === 101) {
        this.#fail(closedEarly());
        this.socket.destroy();
        return;
      }
      this.#interim += rest - start;
      start = rest;
    }
  }

  /** What has come of a head, in one piece. */
  #joined(bytes: Buffer): Buffer {
    const wanted = this.#filled + bytes.length;
    if (this.#begun.length < wanted) {
      const more = Buffer.allocUnsafe(Math.max(1024, 2 * this.#begun.length, wanted));
      this.#begun.copy(more, 0, 0, this.#filled);
      this.#begun = more;
    }
    bytes.copy(this.#begun, this.#filled);
    this.#filled = wanted;
    return this.#begun.subarray(0, wanted);
  }

  #begins(head: AnswerHead, exchange: Exchange, bytes: Buffer, at: number): void {
    this.#length = head.length;
    this.#keepsAlive = head.keepsAlive;
    this.#missing = head.length;
    this.#chunked = head.length === CHUNKED ? new Chunked() : undefined;
    const { data, end, fault } = this.#part(bytes, at);
    this.#isDirty = end >= 0 && end < bytes.length;
    if (end >= 0) {
      this.#awaited = 'nothing';
      exchange.answered(new Answer(head, data, this));
      this.#free();
      return;
    }
    this.#awaited = 'body';
    const body = new AnswerBody(this);
    // its reader may come later than a fault in the same packet
    body.on('error', ignore);
    this.#body = body;
    exchange.answered(new Answer(head, body, this));
    if (data.length > 0) exchange.inContext(() => this.#pass(body, data));
    if (fault) throw fault;
  }

  #takeBody(body: AnswerBody, bytes: Buffer): void {
    const { data, end, fault } = this.#part(bytes, 0);
    if (end >= 0) this.#isDirty = end < bytes.length;
    this.#exchange?.inContext(() => {
      if (data.length > 0) this.#pass(body, data);
      if (end >= 0) this.#complete(body);
    });
    if (fault) throw fault;
  }

  #pass(body: AnswerBody, data: Buffer): void {
    if (body.destroyed || body.push(data) || this.#isPaused) return;
    this.#isPaused = true;
    this.#wasPaused = true;
    this.socket.pause();
  }

  /** What these bytes hold of the body, in memory of its own, and where in them it has ended; -1 while it goes on. */
  #part(bytes: Buffer, at: number): { data: Buffer; end: number; fault?: WireError } {
    if (this.#chunked) return dechunked(this.#chunked, bytes, at);
    if (this.#length === UNTIL_CLOSE) return { data: copied(bytes, at, bytes.length), end: -1 };
    const stop = Math.min(bytes.length, at + this.#missing);
    this.#missing -= stop - at;
    return { data: copied(bytes, at, stop), end: this.#missing === 0 ? stop : -1 };
  }

  #complete(body: AnswerBody): void {
    this.#body = undefined;
    this.#awaited = 'nothing';
    if (body.destroyed) return;
    body.isComplete = true;
    body.push(null);
    // an end that waits for its reader needs no more of the connection, but must not be kept from it
    this.resume();
  }

  /** The peer sends nothing more. Only a body without any length ends by that. */
  #ended(): void {
    const body = this.#body;
    if (body && this.#length === UNTIL_CLOSE) this.#exchange?.inContext(() => this.#complete(body));
    else if (this.#awaited === 'head' && this.isReused && this.isUnheard) {
      this.#endedAt = performance.now();
      setTimeout(() => this.#endedUnheard(), RESET_MS);
      return;
    } else this.#fail(closedEarly());
    this.socket.destroy();
  }

  /** A connection that was closed as idle is reset when the request reaches it, which is after the end. */
  #endedUnheard(): void {
    if (this.socket.destroyed) return;
    // a connection that was reset has no peer, and reading shows no more than its end
    if (this.socket.remoteAddress === undefined) this.#isRefused = true;
    this.#fail(closedEarly());
    this.socket.destroy();
  }

  #fail(error: Error): void {
    const exchange = this.#exchange;
    if (!exchange) return;
    const body = this.#body;
    this.#body = undefined;
    if (this.#awaited !== 'nothing') {
      this.#awaited = 'nothing';
      const failure = exchange.failed(error);
      if (body) exchange.inContext(() => body.destroy(failure));
    }
    if (this.socket.destroyed) this.#leave();
  }

  /** The answer is over. */
  #free(): void {
    const exchange = this.#exchange;
    if (!exchange) return;
    const mayStay = this.#keepsAlive && exchange.isSent && this.isUsable;
    this.#leave();
    this.resume();
    if (mayStay) this.#keeper.keep(this);
    else this.socket.destroy();
  }

  #leave(): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    this.#keepsAlive = false;
    this.#chunked = undefined;
    exchange?.over();
  }
}

function copied(bytes: Buffer, start: number, end: number): Buffer {
  return start === end ? NOTHING : Buffer.from(bytes.subarray(start, end));
}

/**
 * The parts of a packet are moved together where they are, and copied once: with chunks of one byte a packet holds ten
 * thousand of them, and each as a buffer of its own would take a hundred bytes.
 */
function dechunked(chunked: Chunked, bytes: Buffer, at: number): { data: Buffer; end: number; fault?: WireError } {
  let filled = at;
  const gather = (start: number, end: number) => {
    if (start !== filled) bytes.copyWithin(filled, start, end);
    filled += end - start;
  };
  try {
    const end = chunked.feed(bytes, at, gather);
    return { data: copied(bytes, at, filled), end };
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return { data: copied(bytes, at, filled), end: -1, fault: error };
  }
}
