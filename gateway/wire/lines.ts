import { WireError } from './errors.js';
import { isSpace, LF, OPEN_ARRAY, OPEN_OBJECT } from './json/chars.js';
import { ReaderBase } from './json/reader-base.js';

/** Bytes reported of a line that is not a message: enough to recognise a stray print statement. */
export const MAX_NOISE = 8 * 1024;

/**
 * One message per line, as stdio servers write them. Drops blank lines and whitespace before a value; a message's bytes
 * reach up to the line feed. A value cut short by the end of its line is malformed.
 */
export class LineReader extends ReaderBase {
  /** The beginning of a line that is not a message. */
  #noise: Buffer[] | undefined;
  #noiseBytes = 0;

  protected read(chunk: Buffer): number {
    let at = 0;
    while (at < chunk.length && this.mayDeliver > 0) {
      if (!this.message && !this.#noise) {
        while (at < chunk.length && isSpace(chunk[at] as number)) at++;
        if (at === chunk.length) return at;
        this.#beginLine(chunk[at] as number);
      }
      const lineFeed = chunk.indexOf(LF, at);
      const end = lineFeed < 0 ? chunk.length : lineFeed;
      if (this.message) this.#readValue(at, end);
      else this.#keepNoise(chunk, at, end);
      at = end;
      if (lineFeed >= 0) {
        this.#endLine();
        at++;
      }
    }
    return at;
  }

  protected finish(): void {
    const { message } = this;
    if (message && !message.malformed) {
      this.tokenizer.finish();
      if (message.malformed) throw new WireError('truncated', 'the last line ends inside a value', this.consumed);
    }
    this.#endLine();
  }

  #beginLine(byte: number): void {
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.begin();
    else {
      this.#noise = [];
      this.#noiseBytes = 0;
    }
  }

  #readValue(start: number, end: number): void {
    const at = this.tokenizer.push(start, end);
    if (at < end) this.tokenizer.pushTrailing(at, end);
  }

  #keepNoise(chunk: Buffer, start: number, end: number): void {
    const until = Math.min(end, start + MAX_NOISE - this.#noiseBytes);
    if (until <= start) return;
    // copied: the line may never end, and must not pin the chunk
    this.#noise?.push(Buffer.from(chunk.subarray(start, until)));
    this.#noiseBytes += until - start;
  }

  #endLine(): void {
    if (this.message) {
      this.tokenizer.finish();
      this.deliver();
    } else if (this.#noise) {
      const line = Buffer.concat(this.#noise);
      this.#noise = undefined;
      this.mayDeliver -= 1;
      this.options.handler.noise?.(line);
    }
  }
}
