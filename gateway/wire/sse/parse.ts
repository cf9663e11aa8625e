import { WireError } from '../errors.js';
import { COLON, CR, isDigit, LF, SPACE } from '../json/chars.js';
import { ReaderBase } from '../json/reader-base.js';
import type { FrameFields } from './frame.js';

export type { FrameFields } from './frame.js';

/**
 * Limit on a line other than `data:`, in bytes. Names, ids and comments are short; an endless one must not be
 * collected.
 */
export const MAX_LINE = 8 * 1024;

const DATA = Buffer.from('data:');

// The part of a line that the next byte belongs to.
const START = 0;
const NAME = 1;
/** A space directly after the colon belongs to neither name nor value. */
const VALUE_START = 2;
const DATA_VALUE = 3;
/** The value of another field, collected. */
const FIELD_VALUE = 4;
const COMMENT = 5;
/** The value of an unknown field. */
const UNKNOWN_VALUE = 6;

/**
 * An event stream, parsed as bytes by the rules of WHATWG HTML §9.2.6. A `data` line is never collected: its bytes go
 * straight to the tokenizer. Events of every type are messages. So are frames without data (a priming event), because
 * the client must see their id. An unfinished frame at the end is dropped.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
export class SseReader extends ReaderBase {
  #part = START;
  #isData = false;
  /** A line feed directly after a carriage return belongs to the same line end, also across chunks. */
  #afterCr = false;
  /** Name of the current field, as far as it has come. */
  #name = '';
  /** Value of the current field or comment. */
  #value: Buffer[] = [];
  #lineLength = 0;
  #frame: FrameFields = {};
  /** Next line ends of the current chunk, so each byte is searched once, not once per line. */
  #nextLf = -1;
  #nextCr = -1;

  override get inMessage(): boolean {
    return this.message !== undefined || this.#part === NAME;
  }

  protected read(chunk: Buffer): number {
    this.#nextLf = -1;
    this.#nextCr = -1;
    let at = 0;
    while (at < chunk.length && this.mayDeliver > 0) {
      const byte = chunk[at] as number;
      if (this.#afterCr) {
        this.#afterCr = false;
        if (byte === LF) {
          at++;
          continue;
        }
      }
      switch (this.#part) {
        case START:
          at = this.#startLine(chunk, at, byte);
          break;
        case NAME:
          at = this.#readName(chunk, at);
          break;
        case VALUE_START:
          if (byte === SPACE) at++;
          this.#part = this.#isData ? DATA_VALUE : FIELD_VALUE;
          break;
        default:
          at = this.#readValue(chunk, at);
      }
    }
    return at;
  }

  protected finish(): void {}

  #startLine(chunk: Buffer, at: number, byte: number): number {
    if (byte === LF || byte === CR) {
      this.#afterCr = byte === CR;
      this.#endFrame();
      return at + 1;
    }
    this.#lineLength = 0;
    if (startsWithData(chunk, at)) {
      this.#beginData();
      return at + DATA.length;
    }
    this.#part = NAME;
    this.#name = '';
    return at;
  }

  #readName(chunk: Buffer, start: number): number {
    let at = start;
    let byte = 0;
    for (; at < chunk.length; at++) {
      byte = chunk[at] as number;
      if (byte === COLON || byte === LF || byte === CR) break;
    }
    this.#count(at - start);
    this.#name += chunk.toString('latin1', start, at);
    if (at === chunk.length) return at;
    if (byte === COLON) {
      this.#beginValue();
      return at + 1;
    }
    // a line without a colon is a field without a value
    this.#beginValue();
    return this.#endLine(chunk, at);
  }

  #beginValue(): void {
    this.#value = [];
    switch (this.#name) {
      case '':
        this.#part = COMMENT;
        break;
      case 'data':
        this.#beginData();
        break;
      case 'id':
      case 'event':
      case 'retry':
        this.#isData = false;
        this.#part = VALUE_START;
        break;
      default:
        this.#part = UNKNOWN_VALUE;
    }
  }

  #beginData(): void {
    this.#isData = true;
    this.#part = VALUE_START;
    if (!this.message) this.begin();
    if (this.#frame.data) this.tokenizer.pushLineFeed();
    this.#frame.data = true;
  }

  #readValue(chunk: Buffer, at: number): number {
    const end = this.#lineEnd(chunk, at);
    if (this.#part === DATA_VALUE) {
      const until = this.tokenizer.push(at, end);
      if (until < end) this.tokenizer.pushTrailing(until, end);
    } else {
      this.#count(end - at);
      if (this.#part !== UNKNOWN_VALUE && end > at) this.#value.push(Buffer.from(chunk.subarray(at, end)));
    }
    return end === chunk.length ? end : this.#endLine(chunk, end);
  }

  /** @param at position of the line's end @returns the position after it */
  #endLine(chunk: Buffer, at: number): number {
    this.#afterCr = chunk[at] === CR;
    if (this.#part === COMMENT) {
      this.mayDeliver -= 1;
      this.options.handler.comment?.(Buffer.concat(this.#value));
    } else if (this.#part !== UNKNOWN_VALUE && !this.#isData) this.#endField(Buffer.concat(this.#value));
    this.#part = START;
    this.#isData = false;
    return at + 1;
  }

  #endField(value: Buffer): void {
    // an id with a NUL and a retry that is not a number count as not sent
    if (this.#name === 'id' && value.includes(0)) return;
    if (this.#name === 'retry' && (value.length === 0 || !value.every(isDigit))) return;
    if (!this.message) this.begin();
    if (this.#name === 'id') this.#frame.id = value;
    else if (this.#name === 'event') this.#frame.event = value;
    else this.#frame.retry = value;
  }

  #endFrame(): void {
    const { message } = this;
    if (!message) return;
    message.frame = this.#frame;
    this.#frame = {};
    this.tokenizer.finish();
    this.deliver();
  }

  #lineEnd(chunk: Buffer, at: number): number {
    if (this.#nextLf < at) this.#nextLf = indexOrEnd(chunk, LF, at);
    if (this.#nextCr < at) this.#nextCr = indexOrEnd(chunk, CR, at);
    return Math.min(this.#nextLf, this.#nextCr);
  }

  #count(bytes: number): void {
    this.#lineLength += bytes;
    if (this.#lineLength > MAX_LINE) {
      throw new WireError(
        'held',
        `an event stream line other than data is longer than ${MAX_LINE} bytes`,
        this.consumed,
      );
    }
  }
}

function startsWithData(chunk: Buffer, at: number): boolean {
  for (let index = 0; index < DATA.length; index++) if (chunk[at + index] !== DATA[index]) return false;
  return true;
}

function indexOrEnd(chunk: Buffer, byte: number, start: number): number {
  const found = chunk.indexOf(byte, start);
  return found < 0 ? chunk.length : found;
}
