import { WireError } from '../errors.js';
import { isHex } from './chars.js';
import type { ReaderOptions, SlotSink } from './handler.js';
import type { HeldMessage, SlotValue } from './held-message.js';
import { Position } from './position.js';
import { StringScanner } from './string-scanner.js';
import type { TreeNode } from './watch-tree.js';

/** A captured text is at most this many bytes: ids, methods and tokens are all far below it. */
export const MAX_CAPTURE = 1024;

/** Plain bytes of a string after which the scanner beats the byte loop. */
const SHORT_RUN = 12;
/** The loop's positions must stay small integers: a `stop` of Infinity makes every comparison one of doubles. */
const MAX_SLOT_MIN = 2 ** 30;

const LINE_FEED = Buffer.from('\n');
/** Containers for whose kinds room is made at first. */
const FIRST_DEPTH = 64;

// Declared here and not imported: V8 folds a module's own constants, but reads an imported one from memory at every
// use, which cost a third of the speed.
const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** 1 for each byte that stands for itself in a string. */
const PLAIN = new Uint8Array(256).fill(1, SPACE);
PLAIN[QUOTE] = 0;
PLAIN[BACKSLASH] = 0;

// What is due next. Plain numbers: the switch below is compiled to a jump table.
const VALUE = 0;
const VALUE_OR_END = 1;
const KEY_OR_END = 2;
const KEY = 3;
const AFTER_KEY = 4;
const AFTER_VALUE = 5;
const STRING = 6;
const ESCAPE = 7;
const HEX_1 = 8;
const HEX_2 = 9;
const HEX_3 = 10;
const HEX_4 = 11;
const LITERAL = 12;
const SIGNED = 13;
const ZERO = 14;
const INTEGER = 15;
const POINT = 16;
const FRACTION = 17;
const EXPONENT = 18;
const EXPONENT_SIGNED = 19;
const EXPONENT_DIGITS = 20;
/** Inside a cut string. */
const SLOT = 21;
/** The value is complete; only whitespace may follow. */
const DONE = 22;
/** Malformed: the rest is held as it comes. */
const OPAQUE = 23;

/**
 * Reads one JSON value in any number of pieces, keeps it in a `HeldMessage` and diverts strings at slots to their
 * sinks. Whoever calls it knows where a message begins and ends. There is no recursion, and where the watch tree has
 * nothing below, a key costs no more than its bytes.
 */
export class Tokenizer {
  readonly #options: ReaderOptions;
  readonly #position: Position;
  readonly #scanner = new StringScanner();
  /** -1: nothing is ever cut. */
  readonly #slotMin: number;
  #message: HeldMessage | undefined;
  #state = OPAQUE;

  /** Open containers, and of each whether it is an object. */
  #depth = 0;
  #kinds = new Uint8Array(FIRST_DEPTH);
  /** The string at hand is a key. */
  #inKey = false;
  /** The string at hand is a key on the watch tree: chunk position of its first byte, or -1. */
  #keyFrom = -1;
  #literal = '';
  #literalAt = 0;

  /** The place of the scalar at hand, when something is to be done at its end. */
  #scalar: TreeNode | undefined;
  #scalarStart = 0;
  /** Chunk position from which the scalar's text is still to be copied; -1 when it is not captured. */
  #captureFrom = -1;
  #captured = '';

  /** The slot whose string has not reached `slotMin` yet. */
  #armed: string | undefined;
  /** Raw bytes that are missing to `slotMin`. */
  #room = 0;
  /** Chunk position of the armed string's first byte. */
  #armedFrom = 0;
  #slot: SlotValue | undefined;
  #sink: SlotSink | undefined;
  /** The last slot byte of the previous chunk escapes the first one of this. */
  #escaped = false;

  #chunk: Buffer = Buffer.alloc(0);
  /** Chunk position of the first byte that is not held yet. */
  #from = 0;
  /** Raw bytes of the message before the chunk position 0. */
  #base = 0;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#position = new Position(options.tree);
    this.#slotMin = options.slotMin > MAX_SLOT_MIN ? -1 : Math.ceil(options.slotMin);
  }

  /** The value is complete. */
  get done(): boolean {
    return this.#state === DONE;
  }

  /** Begins a message; the next bytes are its own. */
  begin(message: HeldMessage): void {
    this.#message = message;
    this.#state = VALUE;
    this.#depth = 0;
    this.#base = 0;
    this.#position.reset();
    this.#scalar = undefined;
    this.#captureFrom = -1;
    this.#armed = undefined;
    this.#slot = undefined;
    this.#sink = undefined;
    this.#inKey = false;
    this.#keyFrom = -1;
  }

  /** Must be called before bytes of a new chunk are pushed. */
  use(chunk: Buffer): void {
    this.#chunk = chunk;
    this.#scanner.use(chunk);
  }

  /**
   * Reads `[start, end)` of the chunk.
   * @returns the position after the value's last byte, or `end`
   * @throws WireError `held`, `depth`
   */
  push(start: number, end: number): number {
    if (start >= end) return end;
    if (this.#state === DONE) return start;
    this.#from = start;
    this.#base -= start;
    this.#armedFrom = start;
    if (this.#keyFrom >= 0) this.#keyFrom = start;
    if (this.#captureFrom >= 0) this.#captureFrom = start;
    const at = this.#state === OPAQUE ? end : this.#run(start, end);
    if (this.#state < DONE) this.#suspend(end);
    else this.#flush(at);
    (this.#message as HeldMessage).settle();
    this.#base += at;
    return at;
  }

  /** Holds what follows a complete value inside its frame or line: whitespace, or the message is malformed. */
  pushTrailing(start: number, end: number): void {
    this.#from = start;
    this.#base -= start;
    if (this.#state === DONE) {
      let at = start;
      while (at < end && isSpace(this.#chunk[at] as number)) at++;
      if (at < end) this.fail('something follows the value', at);
    }
    this.#flush(end);
    (this.#message as HeldMessage).settle();
    this.#base += end;
  }

  /** Between the data lines of a frame stands a line feed that is in no chunk. */
  pushLineFeed(): void {
    if (this.#slot) {
      this.#deliver(LINE_FEED, 0, 1);
      this.#escaped = false;
      this.#base += 1;
      return;
    }
    // the scanner keeps what it knows of the chunk at hand: a line feed ends or fails any state before it is asked
    const chunk = this.#chunk;
    this.#chunk = LINE_FEED;
    if (this.#state === DONE) this.pushTrailing(0, 1);
    else this.push(0, 1);
    this.#chunk = chunk;
  }

  /** The message ends here: a number that could have gone on is complete, any other unfinished value is malformed. */
  finish(): void {
    if (this.#state >= DONE) return;
    const { empty } = this.#message as HeldMessage;
    if (this.#depth === 0 && isNumberEnd(this.#state)) {
      // the number's bytes are held already: there is no chunk any more
      this.#from = 0;
      if (this.#captureFrom >= 0) this.#captureFrom = 0;
      if (this.#scalar) this.#endScalar(0);
      this.#state = DONE;
    } else if (!empty) {
      this.#from = 0;
      this.fail('the value is incomplete', 0);
    }
  }

  /** The message is not JSON: from here on its bytes are only held. */
  fail(reason: string, at: number): void {
    const message = this.#message as HeldMessage;
    if (this.#armed !== undefined) this.#disarm();
    message.malformed = { offset: this.#base + at, reason };
    message.empty = false;
    this.#state = OPAQUE;
    this.#scalar = undefined;
    this.#slot = undefined;
    this.#sink = undefined;
  }

  #run(start: number, end: number): number {
    const chunk = this.#chunk;
    const position = this.#position;
    const maxDepth = this.#options.maxDepth;
    let kinds = this.#kinds;
    let state = this.#state;
    let depth = this.#depth;
    let inKey = this.#inKey;
    let at = start;
    /** Where the loop must stop: at the end, or where an armed string has grown to a cut. */
    let stop = this.#armed === undefined ? end : start + Math.min(end - start, this.#room);

    for (;;) {
      while (at < stop) {
        let byte = chunk[at] as number;

        if (state === STRING) {
          const near = Math.min(at + SHORT_RUN, stop);
          while (PLAIN[byte] === 1 && ++at < near) byte = chunk[at] as number;
          if (at === near) {
            if (at < stop) at = this.#scanner.plainUntil(at, stop);
            if (at === stop) continue;
            byte = chunk[at] as number;
          }
          if (byte === QUOTE) {
            if (inKey) {
              if (this.#keyFrom >= 0) this.#endKey(at);
              at++;
              if (at < stop && chunk[at] === COLON) {
                at++;
                state = VALUE;
                if (at < stop && depth !== position.depth && chunk[at] === QUOTE) {
                  at++;
                  inKey = false;
                  state = STRING;
                }
              } else state = AFTER_KEY;
              continue;
            }
            if (this.#scalar) {
              this.#endString(at);
              stop = end;
            }
            at++;
            state = AFTER_VALUE;
            if (depth > 0) continue;
            this.#state = DONE;
            return at;
          }
          if (byte === BACKSLASH) {
            at++;
            state = ESCAPE;
            continue;
          }
          this.fail('raw control character in a string', at);
          return end;
        }

        switch (state) {
          case AFTER_VALUE: {
            if (byte === COMMA) {
              at++;
              if (kinds[depth] === 1) {
                state = KEY;
                if (at < stop && depth !== position.depth && chunk[at] === QUOTE) {
                  at++;
                  inKey = true;
                  state = STRING;
                }
              } else {
                state = VALUE;
                if (depth === position.depth) position.nextItem();
              }
              continue;
            }
            const isObject = kinds[depth] === 1;
            if (byte === (isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) {
              at++;
              if (depth === position.depth) this.#close(at);
              depth--;
              if (depth === 0) {
                this.#depth = 0;
                this.#state = DONE;
                return at;
              }
              continue;
            }
            if (isSpace(byte)) {
              at++;
              continue;
            }
            this.fail(isObject ? 'neither "," nor "}" after a value' : 'neither "," nor "]" after a value', at);
            return end;
          }

          case KEY_OR_END:
          case KEY:
            if (byte === QUOTE) {
              at++;
              inKey = true;
              if (depth === position.depth) {
                this.#keyFrom = at;
                position.keyStart(this.#offset(at));
              } else {
                this.#keyFrom = -1;
              }
              state = STRING;
              continue;
            }
            if (isSpace(byte)) {
              at++;
              continue;
            }
            if (byte === CLOSE_OBJECT && state === KEY_OR_END) {
              state = AFTER_VALUE;
              continue;
            }
            this.fail('a key must be a string', at);
            return end;

          case AFTER_KEY:
            if (byte === COLON) {
              at++;
              state = VALUE;
              continue;
            }
            if (isSpace(byte)) {
              at++;
              continue;
            }
            this.fail('no ":" after a key', at);
            return end;

          case VALUE_OR_END:
          case VALUE: {
            if (byte === QUOTE) {
              inKey = false;
              state = STRING;
              if (depth === position.depth && this.#beginScalar(at, true)) {
                stop = at + 1 + Math.min(end - at - 1, this.#room);
              }
              at++;
              continue;
            }
            if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
              if (depth === maxDepth) {
                this.#flush(at);
                this.#tooDeep(at);
                return end;
              }
              if (depth === position.depth) this.#open(byte === OPEN_ARRAY, at);
              depth++;
              if (depth === kinds.length) {
                kinds = grown(kinds);
                this.#kinds = kinds;
              }
              at++;
              if (byte === OPEN_OBJECT) {
                kinds[depth] = 1;
                state = KEY_OR_END;
              } else {
                kinds[depth] = 0;
                state = VALUE_OR_END;
              }
              continue;
            }
            if (isSpace(byte)) {
              at++;
              continue;
            }
            if (byte === CLOSE_ARRAY && state === VALUE_OR_END) {
              state = AFTER_VALUE;
              continue;
            }
            const next = numberState(byte);
            if (next >= 0) state = next;
            else if (byte === 0x74) this.#literal = 'true';
            else if (byte === 0x66) this.#literal = 'false';
            else if (byte === 0x6e) this.#literal = 'null';
            else {
              this.fail('no value where one is due', at);
              return end;
            }
            if (next < 0) {
              state = LITERAL;
              this.#literalAt = 1;
            }
            if (depth === position.depth) this.#beginScalar(at, false);
            at++;
            continue;
          }

          case ESCAPE:
            at++;
            if (byte === 0x75) {
              state = HEX_1;
              continue;
            }
            if (isSimpleEscape(byte)) {
              state = STRING;
              continue;
            }
            this.fail('unknown escape in a string', at - 1);
            return end;

          case HEX_1:
          case HEX_2:
          case HEX_3:
          case HEX_4:
            if (!isHex(byte)) {
              this.fail('bad unicode escape in a string', at);
              return end;
            }
            at++;
            state = state === HEX_4 ? STRING : state + 1;
            continue;

          case LITERAL:
            if (byte !== this.#literal.charCodeAt(this.#literalAt)) {
              this.fail('unknown literal', at);
              return end;
            }
            at++;
            if (++this.#literalAt < this.#literal.length) continue;
            break;

          case INTEGER:
          case FRACTION:
          case EXPONENT_DIGITS:
          case ZERO:
            while (state !== ZERO && byte >= DIGIT_0 && byte <= DIGIT_9 && ++at < stop) byte = chunk[at] as number;
            if (at === stop) continue;
            if (byte === DOT && (state === INTEGER || state === ZERO)) {
              at++;
              state = POINT;
              continue;
            }
            if ((byte | 0x20) === 0x65 && state !== EXPONENT_DIGITS) {
              at++;
              state = EXPONENT;
              continue;
            }
            if (depth === 0 && !isSpace(byte)) {
              this.fail('malformed number', at);
              return end;
            }
            break;

          case SIGNED:
            if (!isDigit(byte)) {
              this.fail('malformed number', at);
              return end;
            }
            at++;
            state = byte === DIGIT_0 ? ZERO : INTEGER;
            continue;

          case EXPONENT:
          case EXPONENT_SIGNED:
          case POINT:
            if (state === EXPONENT && (byte === PLUS || byte === MINUS)) {
              at++;
              state = EXPONENT_SIGNED;
              continue;
            }
            if (!isDigit(byte)) {
              this.fail('malformed number', at);
              return end;
            }
            at++;
            state = state === POINT ? FRACTION : EXPONENT_DIGITS;
            continue;

          case SLOT:
            at = this.#slotBytes(at, end);
            if (this.#slot) continue;
            break;
        }

        // a scalar is complete
        if (this.#scalar) this.#endScalar(at);
        state = AFTER_VALUE;
        if (depth === 0) {
          this.#state = DONE;
          return at;
        }
      }
      if (stop === end) break;
      this.#divert(at, state === ESCAPE);
      state = SLOT;
      stop = end;
    }
    this.#state = state;
    this.#depth = depth;
    this.#inKey = inKey;
    return end;
  }

  /** Held offset of a chunk position outside of cut strings. */
  #offset(at: number): number {
    return (this.#message as HeldMessage).size + at - this.#from;
  }

  /** Holds everything before `at` that is not held yet. */
  #flush(at: number): void {
    if (at <= this.#from) return;
    (this.#message as HeldMessage).append(this.#chunk, this.#from, at);
    this.#from = at;
  }

  /** The chunk is over in the middle of the value. */
  #suspend(end: number): void {
    if (this.#armed !== undefined) {
      this.#flush(this.#armedFrom);
      (this.#message as HeldMessage).appendPending(this.#chunk, this.#armedFrom, end);
      this.#room -= end - this.#armedFrom;
      this.#from = end;
    } else if (!this.#slot) {
      this.#flush(end);
    }
    if (this.#keyFrom >= 0) this.#position.keyPart(this.#chunk, this.#keyFrom, end);
    if (this.#captureFrom >= 0) this.#capture(end);
  }

  #open(isArray: boolean, at: number): void {
    (this.#message as HeldMessage).empty = false;
    this.#position.open(isArray, this.#offset(at));
  }

  #close(at: number): void {
    const watch = this.#position.close();
    if (!watch) return;
    this.#flush(at);
    this.#watched(watch.name, watch.start);
  }

  #endKey(at: number): void {
    this.#position.keyEnd(this.#chunk, this.#keyFrom, at, this.#offset(at), this.#message as HeldMessage);
    this.#keyFrom = -1;
  }

  /** A scalar begins on the tree. @returns true when it is a string that may become a cut */
  #beginScalar(at: number, isString: boolean): boolean {
    (this.#message as HeldMessage).empty = false;
    const { place } = this.#position;
    if (!place) return false;
    if (place.watch !== undefined || place.capture !== undefined) {
      this.#scalar = place;
      this.#scalarStart = this.#offset(at);
      if (place.capture !== undefined) {
        this.#captureFrom = at;
        this.#captured = '';
      }
    }
    if (!isString || place.slot === undefined || this.#slotMin < 0) return false;
    this.#scalar = place;
    this.#armed = place.slot;
    this.#armedFrom = at + 1;
    this.#room = this.#slotMin;
    return true;
  }

  /** A string on the tree ends with the quote at `at`. */
  #endString(at: number): void {
    if (this.#armed !== undefined) this.#disarm();
    this.#endScalar(at + 1);
  }

  /** The scalar's last byte is before `at`. */
  #endScalar(at: number): void {
    const message = this.#message as HeldMessage;
    const place = this.#scalar as TreeNode;
    this.#scalar = undefined;
    if (place.capture !== undefined) {
      this.#capture(at);
      this.#captureFrom = -1;
      if (this.#captured.length > MAX_CAPTURE) message.captureOverlong(place.capture);
      else {
        const text = Buffer.from(this.#captured, 'latin1').toString('utf8');
        message.capture({ name: place.capture, path: this.#position.path(message), text });
      }
    }
    if (place.watch !== undefined) {
      this.#flush(at);
      this.#watched(place.watch, this.#scalarStart);
    }
  }

  /** Copies the captured text of this chunk, one byte more than allowed at most. */
  #capture(until: number): void {
    const end = Math.min(until, this.#captureFrom + MAX_CAPTURE + 1 - this.#captured.length);
    this.#captured += this.#chunk.toString('latin1', this.#captureFrom, end);
  }

  /** A watched value is complete, and held. */
  #watched(name: string, start: number): void {
    const message = this.#message as HeldMessage;
    if (message.discarded) return;
    const range = { name, path: this.#position.path(message), start, end: message.size };
    if (message.record(message.ranges, range)) this.#options.handler.closed?.(range, message);
  }

  /** The armed string stays in the message. */
  #disarm(): void {
    const message = this.#message as HeldMessage;
    this.#armed = undefined;
    if (!message.hasPending) return;
    for (const piece of message.takePending()) message.append(piece, 0, piece.length);
  }

  /** The armed string has become long enough: it is cut. @param escaped the byte at `at` is escaped */
  #divert(at: number, escaped: boolean): void {
    const message = this.#message as HeldMessage;
    const name = this.#armed as string;
    this.#flush(this.#armedFrom);
    this.#armed = undefined;
    this.#escaped = escaped;
    const pending = message.takePending();
    const path = message.discarded ? [] : this.#position.path(message);
    this.#slot = { slot: name, path, offset: message.size, length: 0, complete: false };
    this.#sink = undefined;
    if (message.record(message.slots, this.#slot)) {
      this.#sink = this.#options.handler.slot(this.#slot, message);
    }
    for (const piece of pending) this.#deliver(piece, 0, piece.length);
    this.#deliver(this.#chunk, this.#armedFrom, at);
    this.#from = at;
  }

  /**
   * Passes on a cut string's bytes up to its closing quote. Only quotes are looked for; whether one is escaped is told
   * by the backslashes before it.
   * @returns the position after the quote, or `end` when the string goes on (`#slot` is still set then)
   */
  #slotBytes(at: number, end: number): number {
    const chunk = this.#chunk;
    for (let from = at; ; ) {
      const quote = Math.min(this.#scanner.quoteFrom(from), end);
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
    const slot = this.#slot as SlotValue;
    slot.length += end - start;
    if (!(this.#message as HeldMessage).discarded) this.#sink?.write(chunk, start, end);
  }

  #endSlot(): void {
    const slot = this.#slot as SlotValue;
    this.#slot = undefined;
    if ((this.#message as HeldMessage).discarded) return;
    slot.complete = true;
    this.#sink?.end();
    this.#sink = undefined;
  }

  /** @throws WireError `depth` unless the message is discarded */
  #tooDeep(at: number): void {
    const { maxDepth } = this.#options;
    const reason = `nested deeper than ${maxDepth}`;
    (this.#message as HeldMessage).reportLimit(new WireError('depth', reason, this.#base + at));
    this.fail(reason, at);
  }
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === LF || byte === CR || byte === TAB;
}

function isDigit(byte: number): boolean {
  return byte >= DIGIT_0 && byte <= DIGIT_9;
}

function grown(kinds: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(kinds.length * 2);
  larger.set(kinds);
  return larger;
}

/** The state after a number's first byte; -1 when the byte begins none. */
function numberState(byte: number): number {
  if (byte === DIGIT_0) return ZERO;
  if (isDigit(byte)) return INTEGER;
  return byte === MINUS ? SIGNED : -1;
}

function isNumberEnd(state: number): boolean {
  return state === ZERO || state === INTEGER || state === FRACTION || state === EXPONENT_DIGITS;
}

/** `"`, `\\`, `/`, b, f, n, r, t. */
function isSimpleEscape(byte: number): boolean {
  switch (byte) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return true;
    default:
      return false;
  }
}
