import { addAll } from '../add-all.js';
import { onOneLine } from '../blank.js';
import type { FrameFields } from './frame.js';

const LF = 0x0a;
const CR = 0x0d;
const NEW_LINE = Buffer.from('\n');
const DATA = Buffer.from('data: ');
const NEXT_DATA = Buffer.from('\ndata: ');

/** The blank line that ends a frame. */
export const FRAME_END = NEW_LINE;

/** The lines before a frame's data, each with its line end. */
export function frameHead(frame: FrameFields): Buffer {
  const lines: Buffer[] = [];
  for (const name of ['event', 'id', 'retry'] as const) {
    const value = frame[name];
    if (value) lines.push(Buffer.from(`${name}: `), value, NEW_LINE);
  }
  return Buffer.concat(lines);
}

/**
 * A comment and a blank line. The blank line ends no frame while none has begun. Line breaks in `text` become spaces.
 */
export function comment(text: string): Buffer {
  return Buffer.from(`:${text.replaceAll(/[\r\n]+/g, ' ')}\n\n`);
}

/** A frame with a whole message as its data. */
export function wholeFrame(pieces: Iterable<Buffer>, frame: FrameFields = {}): Buffer[] {
  return [frameHead(frame), ...writeData(pieces), FRAME_END];
}

/** A whole message as data lines with their line ends. `FRAME_END` must follow. */
export function writeData(pieces: Iterable<Buffer>): Buffer[] {
  const writer = new DataWriter();
  const out: Buffer[] = [];
  for (const piece of pieces) addAll(out, writer.write(piece));
  addAll(out, writer.end());
  return out;
}

/**
 * Most line breaks of one message that begin a data line. A line costs seven bytes, so a message of nothing but line
 * breaks would become seven times as long. Later breaks become blanks, which are equivalent in JSON.
 */
export const MAX_DATA_LINES = 1000;

/**
 * Writes one message as data lines, piece by piece. CR, LF and CRLF begin a new line: outside strings they are
 * whitespace, and an event stream cannot carry a carriage return.
 */
export class DataWriter {
  #begun = false;
  #afterCr = false;
  #lines = 0;

  /** Returns what to send for this piece: the piece itself and the line prefixes between its lines. */
  write(piece: Buffer): Buffer[] {
    const out: Buffer[] = this.#begun ? [] : [DATA];
    this.#begun = true;
    let at = 0;
    if (this.#afterCr && piece.length > 0) {
      this.#afterCr = false;
      if (piece[0] === LF) at = 1;
    }
    let lf = nextOf(piece, LF, at);
    let cr = nextOf(piece, CR, at);
    while (lf < piece.length || cr < piece.length) {
      if (this.#lines === MAX_DATA_LINES) {
        out.push(onOneLine(piece.subarray(at)));
        return out;
      }
      this.#lines++;
      const end = Math.min(lf, cr);
      if (end > at) out.push(piece.subarray(at, end));
      out.push(NEXT_DATA);
      at = end + 1;
      if (end === cr) {
        if (at === piece.length) this.#afterCr = true;
        else if (piece[at] === LF) at++;
        cr = nextOf(piece, CR, at);
      }
      if (lf < at) lf = nextOf(piece, LF, at);
    }
    if (at === 0) out.push(piece);
    else if (at < piece.length) out.push(piece.subarray(at));
    return out;
  }

  /** The end of the last data line. */
  end(): Buffer[] {
    return this.#begun ? [NEW_LINE] : [DATA, NEW_LINE];
  }
}

function nextOf(piece: Buffer, byte: number, start: number): number {
  const found = piece.indexOf(byte, start);
  return found < 0 ? piece.length : found;
}
