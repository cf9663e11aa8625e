import { BOUNDARY } from './nested-chars.js';

const OPEN_OBJECT = 0x7b;
const OPEN_ARRAY = 0x5b;
const CLOSE_OBJECT = 0x7d;
const CLOSE_ARRAY = 0x5d;
const COMMA = 0x2c;
const BLANKS: readonly number[] = [0x20, 0x09, 0x0a, 0x0d];

/** What a number, `true`, `false` and `null` begin with, and what they are. */
const LITERAL_BEGIN = /[-\dtfn]/;
const LITERAL = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
/** A longer one is a number, if it is anything. */
const MOST_LITERAL = 64;
const LONG_NUMBER = /^-?\d[\d.eE+-]*$/;

/**
 * Says by the first characters of a text whether it may be JSON with a file in it: `[1, …` may be. Not so `![`, `[INFO]`, the
 * date of `[2026-11-28] …`, a link such as `[figure.png](…)`, and `[1] …`, of which the JSON is over.
 */
export class JsonBegin {
  #bracket = 0;
  #literal = '';
  #isOver = false;

  /** @returns undefined while it takes more characters to say */
  push(char: number): boolean | undefined {
    if (this.#literal !== '' && !this.#isOver) return this.#inLiteral(char);
    if (BLANKS.includes(char)) return undefined;
    if (this.#isOver) return false;
    return this.#bracket === 0 ? this.#open(char) : this.#afterBracket(char);
  }

  #open(char: number): undefined | false {
    if (char !== OPEN_OBJECT && char !== OPEN_ARRAY) return false;
    this.#bracket = char;
    return undefined;
  }

  #afterBracket(char: number): boolean | undefined {
    if (char === BOUNDARY) return true;
    if (char === (this.#bracket === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY)) {
      this.#isOver = true;
      return undefined;
    }
    if (this.#bracket === OPEN_OBJECT) return false;
    if (char === OPEN_OBJECT || char === OPEN_ARRAY) return true;
    this.#literal = String.fromCharCode(char);
    return LITERAL_BEGIN.test(this.#literal) ? undefined : false;
  }

  #inLiteral(char: number): boolean | undefined {
    if (char === COMMA || char === CLOSE_ARRAY || BLANKS.includes(char)) {
      if (!LITERAL.test(this.#literal)) return false;
      if (char !== CLOSE_ARRAY) return true;
      this.#isOver = true;
      return undefined;
    }
    this.#literal += String.fromCharCode(char);
    if (this.#literal.length < MOST_LITERAL) return undefined;
    return LONG_NUMBER.test(this.#literal);
  }
}
