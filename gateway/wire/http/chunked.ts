import { WireError } from '../errors.js';

/** Most bytes of all chunk extensions, and of the trailer: node:http's own limits for these. */
const EXTENSION_BYTES = 16 * 1024;
const TRAILER_BYTES = 64 * 1024;

/** A longer size is more than a number holds exactly. */
const SIZE_DIGITS = 13;

const CR = 0x0d;
const LF = 0x0a;
const SEMICOLON = 0x3b;
const TAB = 0x09;
const BLANK = 0x20;

type State = 'size' | 'extension' | 'size end' | 'data' | 'data end' | 'data LF' | 'line' | 'trailer' | 'trailer LF';

/**
 * Takes the chunks of a body apart (RFC 9112 §7.1), fed in any pieces. Lines end with CR LF and nothing else: a reader that
 * takes less sees other bodies than a strict one. Extensions are skipped, and so are the fields of the trailer.
 */
export class Chunked {
  #state: State = 'size';
  #size = 0;
  #digits = 0;
  #extension = 0;
  #trailer = 0;
  #isLast = false;

  /**
   * Reads on from `at`, and calls `take` with each part of the body.
   * @returns where the body has ended in these bytes; -1 while it goes on
   * @throws WireError `syntax`
   */
  feed(bytes: Buffer, at: number, take: (start: number, end: number) => void): number {
    let place = at;
    while (place < bytes.length) {
      if (this.#state === 'data') {
        const end = Math.min(bytes.length, place + this.#size);
        this.#size -= end - place;
        if (this.#size === 0) this.#state = 'data end';
        take(place, end);
        place = end;
      } else {
        this.#step(bytes[place] as number, place);
        place += 1;
        if (this.#isLast && this.#state === 'size') return place;
      }
    }
    return -1;
  }

  #step(byte: number, at: number): void {
    switch (this.#state) {
      case 'size':
        this.#sizeByte(byte, at);
        return;
      case 'extension':
        this.#extension += 1;
        if (this.#extension > EXTENSION_BYTES) throw new WireError('syntax', 'too long chunk extensions', at);
        if (byte === CR) this.#state = 'size end';
        else if (byte < BLANK && byte !== TAB) throw new WireError('syntax', 'a control character', at);
        return;
      case 'size end':
        expect(byte, LF, at);
        this.#isLast = this.#size === 0;
        this.#state = this.#isLast ? 'line' : 'data';
        this.#digits = 0;
        return;
      case 'data end':
        expect(byte, CR, at);
        this.#state = 'data LF';
        return;
      case 'data LF':
        expect(byte, LF, at);
        this.#state = 'size';
        return;
      case 'line':
      case 'trailer':
        this.#trailerByte(byte, at);
        return;
      case 'trailer LF':
        expect(byte, LF, at);
        this.#state = 'line';
        return;
      case 'data':
        return;
    }
  }

  #sizeByte(byte: number, at: number): void {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      this.#digits += 1;
      if (this.#digits > SIZE_DIGITS) throw new WireError('syntax', 'too long a chunk size', at);
      this.#size = this.#size * 16 + digit;
    } else if (this.#digits === 0) throw new WireError('syntax', 'not a chunk size', at);
    else if (byte === CR) this.#state = 'size end';
    else if (byte === SEMICOLON || byte === BLANK || byte === TAB) this.#state = 'extension';
    else throw new WireError('syntax', 'not a chunk size', at);
  }

  /** An empty line ends the body: its CR is in the state `line`, and its LF leads back to `size`. */
  #trailerByte(byte: number, at: number): void {
    this.#trailer += 1;
    if (this.#trailer > TRAILER_BYTES) throw new WireError('syntax', 'too long a trailer', at);
    if (this.#state === 'line' && byte === CR) this.#state = 'data LF';
    else if (byte === CR) this.#state = 'trailer LF';
    else if (byte < BLANK && byte !== TAB) throw new WireError('syntax', 'a control character', at);
    else this.#state = 'trailer';
  }
}

function expect(byte: number, wanted: number, at: number): void {
  if (byte !== wanted) throw new WireError('syntax', 'a line without its end', at);
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
