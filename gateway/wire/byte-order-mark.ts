/** UTF-8's. RFC 8259 §8.1: a JSON text must not be sent with one, and who parses it may ignore one. */
const MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const NOTHING = Buffer.alloc(0);

/** A whole body without the byte order mark that some writers put before it. */
export function withoutMark(body: Buffer): Buffer {
  return body.length >= MARK.length && body.subarray(0, MARK.length).equals(MARK) ? body.subarray(MARK.length) : body;
}

/** The same for a body that comes in chunks, which may end anywhere inside of the mark. */
export class MarkFilter {
  /** Bytes of the mark seen so far. */
  #seen = 0;
  /** Nothing that comes can be part of it any more. */
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

  /** Nothing more comes. @returns what looked like the beginning of a mark */
  end(): Buffer {
    const begun = this.isOver ? NOTHING : MARK.subarray(0, this.#seen);
    this.isOver = true;
    return begun;
  }
}
