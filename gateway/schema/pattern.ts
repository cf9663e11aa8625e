import type { Truth } from './truth.js';

/** Longer patterns are not read. */
const MAX_PATTERN = 1000;

/** Limit on the character attempts of a pattern that is run: some milliseconds. */
const MAX_TRIES = 400_000;

/** Characters that one attempt may read in a row: a pattern that reads more in each has fewer attempts. */
const FREE_WIDTH = 32;

/** Of them, so many take the time of one attempt that fails at once. */
const WIDTH_OF_TRY = 5;

/** What one character of a pattern takes to compile, and one class by a property of Unicode, in attempts. */
const TRIES_TO_COMPILE = 100;
const TRIES_OF_PROPERTY = 10_000;

/** Engines unroll counted repetitions. */
const MAX_REPEAT = 1000;

/** Properties of a part of a pattern. */
interface Part {
  /** It matches the empty text. */
  empty: Truth;
  /** It consists only of characters, classes and their repetitions. */
  plain: boolean;
  /** Repetitions whose number depends on the text: each multiplies the attempts. To compile them takes their cube. */
  loops: number;
  /** Characters that one attempt reads besides. */
  width: number;
}

/** A character, or a class of them. */
const ONE: Part = { empty: false, plain: true, loops: 0, width: 1 };
const BORDER: Part = { empty: true, plain: true, loops: 0, width: 0 };
const UNKNOWN: Part = { empty: undefined, plain: false, loops: 0, width: 0 };

/**
 * The patterns of one schema. Their server chose them, so a pattern that a text could keep busy for long is never run;
 * its result is then unknown.
 */
export class Patterns {
  readonly #known = new Map<string, { part: Part; expression: RegExp } | undefined>();

  /**
   * True when a text contains a match of the pattern.
   * @param look called with the number of attempts; returns false when that is too many
   */
  has(pattern: string, text: string, look: (tries: number) => boolean): Truth {
    if (!this.#known.has(pattern)) {
      // not kept: the next text may come with more attempts
      if (!look(triesToCompile(pattern))) return undefined;
      this.#known.set(pattern, read(pattern));
    }
    const known = this.#known.get(pattern);
    if (!known) return undefined;
    const { part, expression } = known;
    if (text === '') return part.empty;
    // each loop can take any number of the text's characters, also none
    const tries = (text.length + 1) ** (part.loops + (pattern.startsWith('^') ? 0 : 1));
    const width = Math.min(part.width, text.length);
    const isShort = tries * Math.ceil(width / FREE_WIDTH) <= MAX_TRIES;
    return part.plain && isShort && look(tries * Math.ceil(width / WIDTH_OF_TRY)) ? expression.test(text) : undefined;
  }
}

function triesToCompile(pattern: string): number {
  const properties = pattern.length > MAX_PATTERN ? 0 : pattern.split(/\\[pP]/).length - 1;
  return Math.min(pattern.length, MAX_PATTERN) * TRIES_TO_COMPILE + properties * TRIES_OF_PROPERTY;
}

function read(pattern: string): { part: Part; expression: RegExp } | undefined {
  const part = new PatternReader(pattern).read();
  if (!part) return undefined;
  try {
    // also for parts that are not plain, to check that it is a valid pattern
    return { part, expression: new RegExp(pattern, 'u') };
  } catch {
    return undefined;
  }
}

/** Reads a pattern (ECMA-262 with the u flag), as far as needed to tell whether it matches the empty text. */
class PatternReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** @returns undefined for an invalid pattern, or one that engines read differently */
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
      part = { empty: isEmpty ? true : isNever ? false : undefined, plain: false, loops: 0, width: 0 };
    }
    return part;
  }

  #sequence(): Part {
    let empty: Truth = true;
    let plain = true;
    let loops = 0;
    let width = 0;
    while (this.#at < this.#text.length && this.#next !== '|' && this.#next !== ')') {
      const part = this.#repeated(this.#atom());
      if (part.empty === false) empty = false;
      else if (part.empty === undefined && empty === true) empty = undefined;
      plain &&= part.plain;
      loops += part.loops;
      width += part.width;
    }
    return { empty, plain, loops, width };
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
    // some engines give a second one another meaning
    if (this.#next === '+' || this.#next === '*' || this.#next === '?') throw new SyntaxError('quantifier');
    // a border cannot be repeated
    if (atom === BORDER) throw new SyntaxError('quantifier');
    if (atom === UNKNOWN) return UNKNOWN;
    const { least, most } = range;
    return {
      empty: least === 0 ? true : atom.empty,
      plain: atom.plain && least <= MAX_REPEAT && (most <= MAX_REPEAT || most === Number.POSITIVE_INFINITY),
      loops: atom.loops + (least === most ? 0 : 1),
      width: atom.width * Math.max(least, 1),
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
    return isLook ? UNKNOWN : { empty, plain: false, loops: 0, width: 0 };
  }

  #class(): Part {
    this.#take('^');
    // for some engines the bracket is a member, for others the end
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
    // references, borders, and escapes whose meaning differs between engines
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
