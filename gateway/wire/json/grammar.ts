import { WireError } from '../errors.js';
import { isHex, SIMPLE_ESCAPE } from './chars.js';
import type { Collector } from './collector.js';
import { BEFORE_NUMBER, isNumberEnd, NUMBER_BROKEN, NUMBER_ENDED, NUMBER_STATES } from './number.js';

/** After this many plain bytes of a string `StringRuns` beats the byte loop. */
const SHORT_RUN = 12;
/** Depth for which container kinds have room at first. */
const FIRST_DEPTH = 64;

// Declared here instead of imported: V8 folds a module's own constants, but reads an imported one from memory at every
// use, which cost a third of the speed.
const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** 1 for each byte that is literal in a string. */
const PLAIN = new Uint8Array(256).fill(1, SPACE);
PLAIN[QUOTE] = 0;
PLAIN[BACKSLASH] = 0;

// The token that is due next. Plain numbers: the switch below compiles to a jump table.
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
/** Inside a cut string. */
const SLOT = 13;
// 14 to 21: see number.ts
/** The value is complete; only whitespace may follow. */
const DONE = 22;
/** Malformed: the rest is held without being read. */
const OPAQUE = 23;

/**
 * JSON's grammar as a machine that can stop after any byte. It does not recurse, and where the watch tree has nothing
 * below, a key costs no more than its bytes.
 * @see https://www.rfc-editor.org/rfc/rfc8259
 */
export class Grammar {
  readonly #collector: Collector;
  readonly #maxDepth: number;
  #state = OPAQUE;

  /** Number of open containers, and for each whether it is an object. */
  #depth = 0;
  #kinds = new Uint8Array(FIRST_DEPTH);
  /** The current string is a key. */
  #inKey = false;
  #literal = '';
  #literalAt = 0;

  constructor(collector: Collector, maxDepth: number) {
    this.#collector = collector;
    this.#maxDepth = maxDepth;
  }

  /** The value is complete. */
  get done(): boolean {
    return this.#state === DONE;
  }

  /** The message is not JSON. */
  get opaque(): boolean {
    return this.#state === OPAQUE;
  }

  begin(): void {
    this.#state = VALUE;
    this.#depth = 0;
    this.#inKey = false;
  }

  /** Ends the input. @returns true when this completed a number that could have gone on */
  end(): boolean {
    if (this.#depth > 0 || !isNumberEnd(this.#state)) return false;
    this.#state = DONE;
    return true;
  }

  /** Marks the message as not JSON: from here on its bytes are only held. */
  fail(reason: string, at: number): void {
    const { message, base } = this.#collector;
    message.malformed = { offset: base + at, reason };
    message.empty = false;
    this.#state = OPAQUE;
    this.#collector.drop();
  }

  /**
   * Reads `[start, end)` of the collector's chunk.
   * @returns the position after the value's last byte, or `end`
   * @throws WireError `held`, `depth`
   */
  run(start: number, end: number): number {
    const collector = this.#collector;
    const { chunk, position } = collector;
    const maxDepth = this.#maxDepth;
    let kinds = this.#kinds;
    let state = this.#state;
    let depth = this.#depth;
    let inKey = this.#inKey;
    let at = start;
    /** Where the loop must stop: at the end, or where an armed string becomes a cut. */
    let stop = collector.cutBefore(end);

    for (;;) {
      while (at < stop) {
        let byte = chunk[at] as number;

        if (state === STRING) {
          const near = Math.min(at + SHORT_RUN, stop);
          while (PLAIN[byte] === 1 && ++at < near) byte = chunk[at] as number;
          if (at === near) {
            if (at < stop) at = collector.runs.plainUntil(at, stop);
            if (at === stop) continue;
            byte = chunk[at] as number;
          }
          if (byte === QUOTE) {
            if (inKey) {
              if (collector.keyFrom >= 0) collector.endKey(at);
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
            if (collector.scalar) {
              collector.endString(at);
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
              collector.values++;
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
              if (depth === position.depth) collector.close(at);
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
                collector.keyFrom = at;
                position.keyStart(collector.offset(at));
              } else {
                collector.keyFrom = -1;
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
              if (depth === position.depth && collector.beginScalar(at, true)) {
                stop = collector.cutBefore(end);
              }
              at++;
              continue;
            }
            if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
              if (depth === maxDepth) {
                collector.flush(at);
                this.#tooDeep(at);
                return end;
              }
              collector.values++;
              if (depth === position.depth) collector.open(byte === OPEN_ARRAY, at);
              depth++;
              if (depth === kinds.length) kinds = this.#moreKinds();
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
            const next = NUMBER_STATES[byte] as number;
            if (next !== NUMBER_BROKEN) state = next;
            else if (byte === 0x74) this.#literal = 'true';
            else if (byte === 0x66) this.#literal = 'false';
            else if (byte === 0x6e) this.#literal = 'null';
            else {
              this.fail('no value where one is due', at);
              return end;
            }
            if (next === NUMBER_BROKEN) {
              state = LITERAL;
              this.#literalAt = 1;
            }
            if (depth === position.depth) collector.beginScalar(at, false);
            at++;
            continue;
          }

          case ESCAPE:
            at++;
            if (byte === 0x75) {
              state = HEX_1;
              continue;
            }
            if (SIMPLE_ESCAPE[byte] === 1) {
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

          case SLOT:
            at = collector.slotBytes(at, end);
            if (collector.slot) continue;
            break;

          default: {
            // within a number
            let next = NUMBER_STATES[((state - BEFORE_NUMBER) << 8) | byte] as number;
            while (next === state && ++at < stop) {
              next = NUMBER_STATES[((state - BEFORE_NUMBER) << 8) | (chunk[at] as number)] as number;
            }
            if (at === stop) continue;
            if (next !== NUMBER_ENDED && next !== NUMBER_BROKEN) {
              at++;
              state = next;
              continue;
            }
            if (next === NUMBER_BROKEN || (depth === 0 && !isSpace(chunk[at] as number))) {
              this.fail('malformed number', at);
              return end;
            }
          }
        }

        // a scalar is complete
        if (collector.scalar) collector.endScalar(at);
        state = AFTER_VALUE;
        if (depth === 0) {
          this.#state = DONE;
          return at;
        }
      }
      if (stop === end && !collector.isCutAt(at)) break;
      collector.divert(at, state === ESCAPE);
      state = SLOT;
      stop = end;
    }
    this.#state = state;
    this.#depth = depth;
    this.#inKey = inKey;
    return end;
  }

  #moreKinds(): Uint8Array<ArrayBuffer> {
    const larger = new Uint8Array(this.#kinds.length * 2);
    larger.set(this.#kinds);
    this.#kinds = larger;
    return larger;
  }

  /** @throws WireError `depth` unless the message is discarded */
  #tooDeep(at: number): void {
    const reason = `nested deeper than ${this.#maxDepth}`;
    const { message, base } = this.#collector;
    message.reportLimit(new WireError('depth', reason, base + at));
    this.fail(reason, at);
  }
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === LF || byte === CR || byte === TAB;
}
