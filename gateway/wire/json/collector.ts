import type { ReaderOptions, SlotSink } from './handler.js';
import type { HeldMessage, SlotValue } from './held-message.js';
import { plainText } from './plain-text.js';
import type { Path } from './pointer.js';
import { Position } from './position.js';
import { StringRuns } from './string-runs.js';
import type { TreeNode } from './watch-tree.js';

/** Limit on a captured text, in bytes: ids, methods and tokens are far shorter. */
export const MAX_CAPTURE = 1024;

/** The tokenizer's positions must stay small integers: with Infinity every comparison becomes one of doubles. */
const MAX_SLOT_MIN = 2 ** 30;

const BACKSLASH = 0x5c;

/**
 * The tokenizer's second half. It does not know the grammar, only where values begin and end: it holds the message's
 * bytes, diverts strings at slots, and reports what the watch tree asks for. Positions refer to the current chunk.
 */
export class Collector {
  /** The tokenizer's place on the watch tree. */
  readonly position: Position;
  readonly runs = new StringRuns();
  chunk: Buffer = Buffer.alloc(0);
  /** Raw bytes of the message before position 0. */
  base = 0;
  /** Number of members, items and containers so far. */
  values = 0;

  /** When the current string is a key on the watch tree: position of its first byte; otherwise -1. */
  keyFrom = -1;
  /** The place of the current scalar, when its end needs an action. */
  scalar: TreeNode | undefined;
  /** The slot whose string has not reached `slotMin` yet. */
  armed: string | undefined;
  /** The string being cut. */
  slot: SlotValue | undefined;

  readonly #options: ReaderOptions;
  /** -1: nothing is ever cut. */
  readonly #slotMin: number;
  #message: HeldMessage | undefined;
  /** Position of the first byte that is not held yet. */
  #from = 0;
  #scalarStart = 0;
  /** Position from which the scalar's text must still be copied; -1 when it is not captured. */
  #captureFrom = -1;
  #captured = '';
  /** Raw bytes that the armed string still needs to reach `slotMin`. */
  #room = 0;
  /** Position of the armed string's first byte. */
  #armedFrom = 0;
  #sink: SlotSink | undefined;
  /** True when the last slot byte of the previous chunk escapes the first byte of this one. */
  #escaped = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.position = new Position(options.tree);
    const { handler, slotMin = MAX_SLOT_MIN + 1 } = options;
    this.#slotMin = !handler.slot || slotMin > MAX_SLOT_MIN ? -1 : Math.ceil(slotMin);
  }

  get message(): HeldMessage {
    return this.#message as HeldMessage;
  }

  begin(message: HeldMessage): void {
    this.#message = message;
    this.base = 0;
    this.values = 0;
    this.position.reset();
    this.#captureFrom = -1;
    this.keyFrom = -1;
    this.armed = undefined;
    this.drop();
  }

  /** Begins at `start` of a chunk that holds more of the message. */
  resume(start: number): void {
    this.#from = start;
    this.base -= start;
    this.#armedFrom = start;
    if (this.keyFrom >= 0) this.keyFrom = start;
    if (this.#captureFrom >= 0) this.#captureFrom = start;
  }

  /** The chunk's part of the message ends at `end`, inside a value. */
  suspend(end: number): void {
    if (this.armed !== undefined) {
      this.flush(this.#armedFrom);
      this.message.appendPending(this.chunk, this.#armedFrom, end);
      this.#room -= end - this.#armedFrom;
      this.#from = end;
    }
    if (this.keyFrom >= 0) this.position.keyPart(this.chunk, this.keyFrom, end);
    if (this.#captureFrom >= 0) this.#capture(end);
    this.leave(end);
  }

  /** The chunk's part of the message ends at `end`; everything before it is held. */
  leave(end: number): void {
    if (!this.slot) this.flush(end);
    this.message.values = this.values;
    this.message.settle();
    this.base += end;
  }

  /** Stops reporting the current value. */
  drop(): void {
    if (this.armed !== undefined) this.#disarm();
    this.scalar = undefined;
    this.slot = undefined;
    this.#sink = undefined;
  }

  /** Position where the armed string becomes a cut, or `end`. */
  cutBefore(end: number): number {
    return this.armed === undefined ? end : Math.min(end - this.#armedFrom, this.#room) + this.#armedFrom;
  }

  /** True when the armed string has grown to a cut at `at`. */
  isCutAt(at: number): boolean {
    return this.armed !== undefined && at - this.#armedFrom === this.#room;
  }

  /** Held offset of a chunk position outside cut strings. */
  offset(at: number): number {
    return this.message.size + at - this.#from;
  }

  /** Holds everything before `at` that is not yet held. */
  flush(at: number): void {
    if (at <= this.#from) return;
    this.message.append(this.chunk, this.#from, at);
    this.#from = at;
  }

  open(isArray: boolean, at: number): void {
    this.message.empty = false;
    this.position.open(isArray, this.offset(at), this.values);
  }

  close(at: number): void {
    const watch = this.position.close();
    if (!watch) return;
    this.flush(at);
    this.#watched(watch.name, watch.start, this.values - watch.values + 1);
  }

  endKey(at: number): void {
    this.position.keyEnd(this.chunk, this.keyFrom, at, this.offset(at), this.message);
    this.keyFrom = -1;
  }

  /** Begins a scalar on the tree. @returns true when it is a string that may become a cut */
  beginScalar(at: number, isString: boolean): boolean {
    this.message.empty = false;
    const { place } = this.position;
    if (!place) return false;
    if (place.watch !== undefined || place.capture !== undefined) {
      this.scalar = place;
      this.#scalarStart = this.offset(at);
      if (place.capture !== undefined) {
        this.#captureFrom = at;
        this.#captured = '';
      }
    }
    if (!isString || place.slot === undefined || this.#slotMin < 0) return false;
    this.scalar = place;
    this.armed = place.slot;
    this.#armedFrom = at + 1;
    this.#room = place.slotMin ?? this.#slotMin;
    return true;
  }

  /** Ends a string on the tree at the quote at `at`. */
  endString(at: number): void {
    if (this.armed !== undefined) this.#disarm();
    this.endScalar(at + 1);
  }

  /** Ends a scalar whose last byte is before `at`. */
  endScalar(at: number): void {
    const message = this.message;
    const place = this.scalar as TreeNode;
    this.scalar = undefined;
    if (place.capture !== undefined) {
      this.#capture(at);
      this.#captureFrom = -1;
      if (this.#captured.length > MAX_CAPTURE) message.captureOverlong(place.capture);
      else {
        const text = plainText(Buffer.from(this.#captured, 'latin1').toString('utf8'));
        message.capture({ name: place.capture, path: this.position.path(message), text });
      }
    }
    if (place.watch !== undefined) {
      this.flush(at);
      this.#watched(place.watch, this.#scalarStart, 1);
    }
  }

  /** Copies the captured text of this chunk, at most one byte more than allowed. */
  #capture(until: number): void {
    const end = Math.min(until, this.#captureFrom + MAX_CAPTURE + 1 - this.#captured.length);
    this.#captured += this.chunk.toString('latin1', this.#captureFrom, end);
  }

  /** Records a watched value that is complete and held. */
  #watched(name: string, start: number, values: number): void {
    const message = this.message;
    if (message.discarded) return;
    const range = { name, path: this.position.path(message), start, end: message.size, values };
    if (message.record(message.ranges, range)) this.#options.handler.closed?.(range, message);
  }

  /** Keeps the armed string in the message. */
  #disarm(): void {
    const message = this.message;
    this.armed = undefined;
    if (message.pendingBytes === 0) return;
    for (const piece of message.takePending()) message.append(piece, 0, piece.length);
  }

  /** Turns the armed string, now long enough, into a cut. @param escaped the byte at `at` is escaped */
  divert(at: number, escaped: boolean): void {
    const message = this.message;
    const name = this.armed as string;
    this.flush(this.#armedFrom);
    this.armed = undefined;
    this.#escaped = escaped;
    const pending = message.takePending();
    const path = message.discarded ? [] : this.position.path(message);
    this.slot = { slot: name, path, offset: message.size, length: 0, complete: false };
    this.#sink = undefined;
    if (message.record(message.slots, this.slot, lengthOf(path))) {
      this.#sink = this.#options.handler.slot?.(this.slot, message);
    }
    for (const piece of pending) this.#deliver(piece, 0, piece.length);
    this.#deliver(this.chunk, this.#armedFrom, at);
    this.#from = at;
  }

  /**
   * Passes on a cut string's bytes up to its closing quote. It searches for quotes only; the backslashes before a quote
   * show whether it is escaped.
   * @returns the position after the quote, or `end` when the string goes on (`slot` is then still set)
   */
  slotBytes(at: number, end: number): number {
    const chunk = this.chunk;
    for (let from = at; ; ) {
      const quote = Math.min(this.runs.quoteFrom(from), end);
      let back = quote;
      while (back > at && chunk[back - 1] === BACKSLASH) back--;
      const escaped = ((quote - back) & 1) === (back === at && this.#escaped ? 0 : 1);
      if (quote === end) {
        this.#deliver(chunk, at, end);
        this.#escaped = escaped;
        this.#from = end;
        return end;
      }
      if (!escaped) {
        this.#deliver(chunk, at, quote);
        this.#from = quote;
        this.#endSlot();
        return quote + 1;
      }
      from = quote + 1;
    }
  }

  #deliver(chunk: Buffer, start: number, end: number): void {
    if (end <= start) return;
    const slot = this.slot as SlotValue;
    slot.length += end - start;
    if (!this.message.discarded) this.#sink?.write(chunk, start, end);
  }

  #endSlot(): void {
    const slot = this.slot as SlotValue;
    this.slot = undefined;
    if (this.message.discarded) return;
    slot.complete = true;
    this.#sink?.end();
    this.#sink = undefined;
  }
}

/** Characters of the keys in a path. A key of megabytes with a hundred strings below it is kept a hundred times. */
function lengthOf(path: Path): number {
  return path.reduce<number>((sum, key) => sum + (typeof key === 'string' ? key.length : 0), 0);
}
