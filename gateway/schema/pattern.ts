import type { Truth } from './truth.js';

/** Longer patterns are not read. */
const MAX_PATTERN = 1000;

/** How often a pattern that is run at all may try a character: some milliseconds. */
const MAX_TRIES = 400_000;

/** Counted repetitions are unrolled by engines. */
const MAX_REPEAT = 1000;

/** What a part of a pattern says of itself. */
interface Part {
  /** It matches where there is no character left. */
  empty: Truth;
  /** It is made of characters, classes and their repetitions only. */
  plain: boolean;
  /** Repetitions whose number the text decides: each multiplies the tries by the text's length. */
  loops: number;
}

/** A character, or a class of them. */
const ONE: Part = { empty: false, plain: true, loops: 0 };
const BORDER: Part = { empty: true, plain: true, loops: 0 };
const UNKNOWN: Part = { empty: undefined, plain: false, loops: 0 };

/**
 * The patterns of one schema. They are their server's: one that a text could keep busy for long is never run, and then
 * it cannot be told whether the text has it.
 */
export class Patterns {
  readonly #known = new Map<string, { part: Part; expression: RegExp } | undefined>();

  /**
   * Whether a pattern is found in a text.
   * @param look told how many characters are tried; false: that would be too many
   */
  has(pattern: string, text: string, look: (tries: number) => boolean): Truth {
    if (!this.#known.has(pattern)) this.#known.set(pattern, look(pattern.length) ? read(pattern) : undefined);
    const known = this.#known.get(pattern);
    if (!known) return undefined;
    const { part, expression } = known;
    if (text === '') return part.empty;
    const tries = text.length ** (part.loops + (pattern.startsWith('^') ? 0 : 1));
    return part.plain && tries <= MAX_TRIES && look(tries) ? expression.test(text) : undefined;
  }
}

function read(pattern: string): { part: Part; expression: RegExp } | undefined {
  const part = new PatternReader(pattern).read();
  if (!part) return undefined;
  try {
    // made of what is not plain too, which only tells whether it is a pattern at all
    return { part, expression: new RegExp(pattern, 'u') };
  } catch {
    return undefined;
  }
}

/** Reads a pattern (ECMA-262 with the u flag), as far as that is needed to tell what it does with no text at all. */
class PatternReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** @returns undefined for what is no such pattern, or is read in several ways */
  read(): Part | undefined {
    if (this.#text.length > MAX_PATTERN) return undefined;
    try {
      const part = this.#alternatives();
      return this.#at === this.#text.length ? part : undefined;
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  #alternatives(): Part {
    let part = this.#sequence();
    while (this.#take('|')) {
      const other = this.#sequence();
      const isEmpty = part.empty === true || other.empty === true;
      const isNever = part.empty === false && other.empty === false;
      part = { empty: isEmpty ? true : isNever ? false : undefined, plain: false, loops: 0 };
    }
    return part;
  }

  #sequence(): Part {
    let empty: Truth = true;
    let plain = true;
    let loops = 0;
    while (this.#at < this.#text.length && this.#next !== '|' && this.#next !== ')') {
      const part = this.#repeated(this.#atom());
      if (part.empty === false) empty = false;
      else if (part.empty === undefined && empty === true) empty = undefined;
      plain &&= part.plain;
      loops += part.loops;
    }
    return { empty, plain, loops };
  }

  #atom(): Part {
    const char = this.#text[this.#at++] as string;
    switch (char) {
      case '^':
      case '$':
        return BORDER;
      case '(':
        return this.#group();
      case '[':
        return this.#class();
      case '\\':
        return this.#escape();
      case ')':
      case ']':
      case '{':
      case '}':
      case '*':
      case '+':
      case '?':
        throw new SyntaxError(char);
      default:
        return ONE;
    }
  }

  #repeated(atom: Part): Part {
    const range = this.#quantifier();
    if (!range) return atom;
    this.#take('?');
    // some engines read a second one as something else
    if (this.#next === '+' || this.#next === '*' || this.#next === '?') throw new SyntaxError('quantifier');
    // a border cannot be repeated
    if (atom === BORDER) throw new SyntaxError('quantifier');
    if (atom === UNKNOWN) return UNKNOWN;
    const { least, most } = range;
    return {
      empty: least === 0 ? true : atom.empty,
      plain: atom.plain && least <= MAX_REPEAT && (most <= MAX_REPEAT || most === Number.POSITIVE_INFINITY),
      loops: atom.loops + (least === most ? 0 : 1),
    };
  }

  #quantifier(): { least: number; most: number } | undefined {
    if (this.#take('*')) return { least: 0, most: Number.POSITIVE_INFINITY };
    if (this.#take('+')) return { least: 1, most: Number.POSITIVE_INFINITY };
    if (this.#take('?')) return { least: 0, most: 1 };
    if (this.#next !== '{') return undefined;
    const found = /^\{(\d{1,9})(?:(,)(\d{1,9})?)?\}/.exec(this.#text.slice(this.#at, this.#at + 24));
    if (!found) throw new SyntaxError('{');
    this.#at += found[0].length;
    const least = Number(found[1]);
    if (found[2] === undefined) return { least, most: least };
    return { least, most: found[3] === undefined ? Number.POSITIVE_INFINITY : Number(found[3]) };
  }

  #group(): Part {
    let isLook = false;
    if (this.#take('?')) {
      if (this.#take('<')) {
        isLook = this.#take('=') || this.#take('!');
        if (!isLook) this.#skipPast('>');
      } else if (!this.#take(':')) {
        isLook = this.#take('=') || this.#take('!');
        if (!isLook) throw new SyntaxError('group');
      }
    }
    const { empty } = this.#alternatives();
    if (!this.#take(')')) throw new SyntaxError('(');
    return isLook ? UNKNOWN : { empty, plain: false, loops: 0 };
  }

  #class(): Part {
    this.#take('^');
    // to some the bracket is a member, to others the end
    if (this.#next === ']') throw new SyntaxError('[]');
    for (; this.#at < this.#text.length; this.#at++) {
      if (this.#next === ']') {
        this.#at += 1;
        return ONE;
      }
      if (this.#next === '\\') this.#at += 1;
    }
    throw new SyntaxError('[');
  }

  #escape(): Part {
    const char = this.#text[this.#at++];
    if (char === undefined) throw new SyntaxError('\\');
    // references, borders, and what is something else in each engine
    if (/[1-9kbBAZzGKQEXR]/.test(char)) return UNKNOWN;
    if (/[pPu]/.test(char) && this.#next === '{') this.#skipPast('}');
    else if (char === 'u') this.#at += 4;
    else if (char === 'x') this.#at += 2;
    else if (char === 'c') this.#at += 1;
    else if (/[pPN]/.test(char)) throw new SyntaxError(char);
    return ONE;
  }

  #skipPast(char: string): void {
    const end = this.#text.indexOf(char, this.#at);
    if (end < 0) throw new SyntaxError(char);
    this.#at = end + 1;
  }

  get #next(): string | undefined {
    return this.#text[this.#at];
  }

  #take(char: string): boolean {
    if (this.#next !== char) return false;
    this.#at += 1;
    return true;
  }
}
