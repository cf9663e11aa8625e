import { IncomingMessage } from 'node:http';
import { beginTurn, isTurnOver, nextTurn } from '../../budget/turn.js';
import type { Arrival } from './arrivals.js';

/** A shorter chunk of a body is joined with those that follow it. */
const SHORT_BYTES = 1024;

/** Most bytes that are joined in one turn of the event loop, besides the rest of their packet. */
const MOST_JOINED = 16 * 1024;

/** Chunks that wait, one behind the other in a block. */
interface Waiting {
  block: Buffer;
  size: number;
}

/**
 * A request that joins the short chunks of its body. Node gives on each HTTP chunk as a buffer of its own, and keeps 64 KiB of
 * an unread body so: 13 MB if a chunk has one byte. 60 such requests took 1.8 GB, and a turn of the event loop parsed 350,000
 * of their chunks.
 *
 * Short chunks wait, joined, for the next turn or for the end of the body, whichever comes first.
 */
export class JoinedRequest extends IncomingMessage {
  /** Most requests have none, and a field of its own would take memory of all. */
  declare waiting?: Waiting | undefined;
  /** While it waits to be served. */
  declare arrival?: Arrival | undefined;

  /** Node stops reading the connection where it is false, until the body is read. */
  override push(chunk: Buffer | null): boolean {
    if (chunk !== null) this.arrival?.came(chunk.length);
    return this.#push(chunk) && !this.arrival;
  }

  #push(chunk: Buffer | null): boolean {
    if (chunk === null || (!this.waiting && this.#isWorthIt(chunk))) {
      this.#pass();
      return super.push(chunk);
    }
    beginTurn();
    const waiting = this.waiting ?? this.#begin();
    join(waiting, chunk);
    return waiting.size < MOST_JOINED && this.readableLength < this.readableHighWaterMark && !isTurnOver();
  }

  #isWorthIt({ length }: Buffer): boolean {
    return length >= SHORT_BYTES || Number(this.headers['content-length']) === length;
  }

  #begin(): Waiting {
    const begun = { block: Buffer.allocUnsafeSlow(SHORT_BYTES), size: 0 };
    this.waiting = begun;
    const pass = () => {
      if (this.waiting === begun) this.#pass();
    };
    // the next packet is read when these are passed on: of many such requests, one after the other
    if (isTurnOver()) void nextTurn().then(pass);
    else setImmediate(pass);
    return begun;
  }

  #pass(): void {
    const { waiting } = this;
    if (!waiting) return;
    this.waiting = undefined;
    if (!this.destroyed) super.push(waiting.block.subarray(0, waiting.size));
  }
}

function join(waiting: Waiting, chunk: Buffer): void {
  const { size } = waiting;
  const end = size + chunk.length;
  if (end > waiting.block.length) {
    const longer = Buffer.allocUnsafeSlow(2 * end);
    waiting.block.copy(longer, 0, 0, size);
    waiting.block = longer;
  }
  waiting.block.set(chunk, size);
  waiting.size = end;
}
