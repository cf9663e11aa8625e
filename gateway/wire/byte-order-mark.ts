/** The UTF-8 mark. RFC 8259 §8.1: senders must not add one to a JSON text, parsers may ignore one. */
const MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const NOTHING = Buffer.alloc(0);

/** Removes the byte order mark that some writers put before a body. */
export function withoutMark(body: Buffer): Buffer {
  return body.length >= MARK.length && body.subarray(0, MARK.length).equals(MARK) ? body.subarray(MARK.length) : body;
}

/** Removes the byte order mark from a body that arrives in chunks, which may split the mark anywhere. */
export class MarkFilter {
  /** Bytes of the mark seen so far. */
  #seen = 0;
  /** True when nothing that follows can be part of the mark. */
  isOver = false;

  /** @returns what is not part of the mark */
  filter(chunk: Buffer): Buffer {
    let at = 0;
    while (at < chunk.length && this.#seen < MARK.length && chunk[at] === MARK[this.#seen]) {
      at++;
      this.#seen++;
    }
    if (this.#seen === MARK.length) {
      this.isOver = true;
      return chunk.subarray(at);
    }
    if (at === chunk.length) return NOTHING;
    const begun = this.end();
    return begun.length === 0 ? chunk : Buffer.concat([begun, chunk.subarray(at)]);
  }

  /** Ends the body. @returns bytes held back because they looked like the beginning of a mark */
  end(): Buffer {
    const begun = this.isOver ? NOTHING : MARK.subarray(0, this.#seen);
    this.isOver = true;
    return begun;
  }
}
