/** More bytes are needed. */
export const PENDING = -1;
/** A quote that begins or ends a string of the JSON inside. */
export const BOUNDARY = -2;

const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const U = 0x75;
const CONTROLS: Readonly<Record<number, number>> = { 98: 0x08, 102: 0x0c, 110: 0x0a, 114: 0x0d, 116: 0x09 };
const UNICODE_LENGTH = 6;

/** The escapes of one level of JSON, one byte at a time. Invalid escapes give an arbitrary character. */
class Escapes {
  /** Characters of an escape seen so far; 0 outside. */
  #seen = 0;
  #code = 0;

  get open(): boolean {
    return this.#seen > 0;
  }

  /** Continues after a backslash. */
  begin(): void {
    this.#seen = 1;
  }

  push(char: number): number {
    this.#seen += 1;
    if (this.#seen === 2) {
      this.#code = 0;
      if (char === U) return PENDING;
      this.#seen = 0;
      return CONTROLS[char] ?? char;
    }
    this.#code = this.#code * 16 + (char <= 0x39 ? char - 0x30 : (char | 0x20) - 0x57);
    if (this.#seen < UNICODE_LENGTH) return PENDING;
    this.#seen = 0;
    return this.#code & 0xffff;
  }
}

/** Reads the raw bytes of a JSON string whose text is JSON too: through the escapes of both levels. */
export class NestedChars {
  readonly #outer = new Escapes();
  readonly #inner = new Escapes();

  /** True when the bytes so far end inside a character. */
  get open(): boolean {
    return this.#outer.open || this.#inner.open;
  }

  /** @returns the character that the byte completes, `PENDING` or `BOUNDARY` */
  push(byte: number): number {
    let char = byte;
    if (this.#outer.open) char = this.#outer.push(byte);
    else if (byte === BACKSLASH) {
      this.#outer.begin();
      return PENDING;
    }
    if (char === PENDING) return PENDING;
    if (this.#inner.open) return this.#inner.push(char);
    if (char === BACKSLASH) {
      this.#inner.begin();
      return PENDING;
    }
    return char === QUOTE ? BOUNDARY : char;
  }
}
