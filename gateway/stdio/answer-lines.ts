import { addAll } from '../wire/add-all.js';
import { isBlank, onOneLine } from '../wire/blank.js';
import { NEWLINE } from './output.js';

const LF = 0x0a;
const COLON = 0x3a;
const SPACE = 0x20;
const BLANK = Buffer.from(' ');

/** Turns what the relay writes to a response into lines. `NEWLINE` itself, the very buffer, ends a line. */
export interface AnswerLines {
  write(bytes: Buffer): Buffer[];
  end(): Buffer[];
}

/** A body of one JSON value. Line breaks in it can only stand between tokens, where a blank is as good. */
export class JsonLines implements AnswerLines {
  #hasValue = false;

  write(bytes: Buffer): Buffer[] {
    this.#hasValue ||= !isBlank(bytes);
    return this.#hasValue ? [onOneLine(bytes)] : [];
  }

  end(): Buffer[] {
    return this.#hasValue ? [NEWLINE] : [];
  }
}

/** A body of many JSON values, each on a line already. */
export class ValueLines implements AnswerLines {
  #inLine = false;

  write(bytes: Buffer): Buffer[] {
    const out: Buffer[] = [];
    let at = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, at)) {
      this.#add(out, bytes.subarray(at, end));
      addAll(out, this.end());
      at = end + 1;
    }
    this.#add(out, bytes.subarray(at));
    return out;
  }

  end(): Buffer[] {
    const out = this.#inLine ? [NEWLINE] : [];
    this.#inLine = false;
    return out;
  }

  #add(out: Buffer[], part: Buffer): void {
    if (!this.#inLine && isBlank(part)) return;
    this.#inLine = true;
    out.push(onOneLine(part));
  }
}

/**
 * An event stream as the relay writes it: lines end with LF, and a message is one `data` line for each of its own. A
 * frame of another type than `message` is none for an MCP client.
 */
export class EventLines implements AnswerLines {
  /** Of the last frame that had one: where a stream that broke off can be taken up again. */
  lastEventId: string | undefined;
  retryMs: number | undefined;
  #name = '';
  #value = '';
  #part: 'name' | 'value start' | 'value' = 'name';
  #event = '';
  /** True when the frame at hand has said something. */
  #hasData = false;

  write(bytes: Buffer): Buffer[] {
    const out: Buffer[] = [];
    let at = 0;
    while (at < bytes.length) {
      if (this.#part === 'name') at = this.#readName(bytes, at, out);
      else if (this.#part === 'value start') {
        if (bytes[at] === SPACE) at += 1;
        this.#part = 'value';
      } else at = this.#readValue(bytes, at, out);
    }
    return out;
  }

  end(): Buffer[] {
    return [];
  }

  #readName(bytes: Buffer, start: number, out: Buffer[]): number {
    let at = start;
    while (at < bytes.length && bytes[at] !== COLON && bytes[at] !== LF) at += 1;
    this.#name += bytes.toString('latin1', start, at);
    if (at === bytes.length) return at;
    if (bytes[at] === LF) {
      if (this.#name === '') this.#endFrame(out);
      this.#name = '';
      return at + 1;
    }
    this.#part = 'value start';
    this.#value = '';
    if (this.#name === 'data' && this.#hasData) out.push(BLANK);
    return at + 1;
  }

  #readValue(bytes: Buffer, at: number, out: Buffer[]): number {
    const found = bytes.indexOf(LF, at);
    const end = found === -1 ? bytes.length : found;
    if (this.#name === 'data') this.#addData(bytes.subarray(at, end), out);
    else if (this.#name !== '') this.#value += bytes.toString('utf8', at, end);
    if (found === -1) return end;
    this.#endLine();
    return end + 1;
  }

  #addData(part: Buffer, out: Buffer[]): void {
    if (part.length === 0 || (this.#event !== '' && this.#event !== 'message')) return;
    this.#hasData = true;
    out.push(part);
  }

  #endLine(): void {
    if (this.#name === 'event') this.#event = this.#value;
    else if (this.#name === 'id') this.lastEventId = this.#value;
    else if (this.#name === 'retry') this.retryMs = Number(this.#value);
    this.#name = '';
    this.#part = 'name';
  }

  #endFrame(out: Buffer[]): void {
    if (this.#hasData) out.push(NEWLINE);
    this.#event = '';
    this.#hasData = false;
  }
}
