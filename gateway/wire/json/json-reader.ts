import { WireError } from '../errors.js';
import { isSpace } from './chars.js';
import { ReaderBase } from './reader-base.js';

/** A JSON body: one value, or several with whitespace between them, which some servers stream. */
export class JsonReader extends ReaderBase {
  /** A value has just ended and whitespace must follow: `[][]` is neither one JSON text nor two. */
  #spaceDue = false;

  protected read(chunk: Buffer): number {
    let at = 0;
    while (at < chunk.length && this.mayDeliver > 0) {
      if (!this.message) {
        const start = at;
        while (at < chunk.length && isSpace(chunk[at] as number)) at++;
        if (at > start) {
          this.#spaceDue = false;
          this.options.handler.space?.(chunk.subarray(start, at));
        }
        if (at === chunk.length) return at;
        this.begin();
        if (this.#spaceDue) this.tokenizer.fail('no whitespace between two values', 0);
      }
      at = this.tokenizer.push(at, chunk.length);
      if (this.tokenizer.done) {
        this.#spaceDue = true;
        this.deliver();
      }
    }
    return at;
  }

  protected finish(): void {
    const { message } = this;
    if (!message) return;
    if (!message.malformed) {
      this.tokenizer.finish();
      if (message.malformed) throw new WireError('truncated', 'the body ends inside a value', this.consumed);
    }
    this.deliver();
  }
}
