/** A pattern as it is written. */
export type PatternTree =
  /** One character: itself, or of a class or an escape. */
  | { readonly kind: 'one'; readonly source: string; readonly isLiteral: boolean }
  | { readonly kind: 'start' }
  | { readonly kind: 'end' }
  /** A look around, or a border of a word: reads nothing, and what it takes to hold is not told here. */
  | { readonly kind: 'condition' }
  /** What an earlier group has read, or what engines read differently. It may be all texts, as far as told here. */
  | { readonly kind: 'reference' }
  | { readonly kind: 'sequence'; readonly parts: readonly PatternTree[] }
  | { readonly kind: 'either'; readonly branches: readonly PatternTree[] }
  | { readonly kind: 'repeat'; readonly inner: PatternTree; readonly least: number; readonly most: number };

/** Two escapes that are one character to engines. */
const PAIR = /^\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}/;

/** Throws a SyntaxError for an invalid pattern, or one that engines read differently. */
export function treeOf(pattern: string): PatternTree {
  const reader = new PatternReader(pattern);
  const tree = reader.read();
  // it checks what the reader lets pass, such as two groups of one name
  new RegExp(reader.outline, 'u');
  return tree;
}

/** Reads a pattern (ECMA-262 with the u flag). */
class PatternReader {
  readonly #text: string;
  #at = 0;
  /** The pattern up to the last class, with one letter for each: engines take half a millisecond to read `\\p{L}`. */
  #outline = '';
  #isOutlined = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get outline(): string {
    return this.#outline + this.#text.slice(this.#isOutlined);
  }

  read(): PatternTree {
    const tree = this.#alternatives();
    if (this.#at < this.#text.length) throw new SyntaxError(')');
    return tree;
  }

  #alternatives(): PatternTree {
    const first = this.#sequence();
    const branches = [first];
    while (this.#take('|')) branches.push(this.#sequence());
    return branches.length === 1 ? first : { kind: 'either', branches };
  }

  #sequence(): PatternTree {
    const parts: PatternTree[] = [];
    while (this.#at < this.#text.length && this.#next !== '|' && this.#next !== ')') {
      parts.push(this.#repeated(this.#atom()));
    }
    return { kind: 'sequence', parts };
  }

  #atom(): PatternTree {
    const from = this.#at;
    const char = String.fromCodePoint(this.#text.codePointAt(from) as number);
    this.#at += char.length;
    switch (char) {
      case '^':
        return { kind: 'start' };
      case '$':
        return { kind: 'end' };
      case '(':
        return this.#group();
      case '[':
        this.#skipClass();
        return this.#oneFrom(from);
      case '\\':
        return this.#escape(from);
      case '.':
        return this.#oneFrom(from);
      case ')':
      case ']':
      case '{':
      case '}':
      case '*':
      case '+':
      case '?':
        throw new SyntaxError(char);
      default:
        return { kind: 'one', source: char, isLiteral: true };
    }
  }

  #oneFrom(start: number): PatternTree {
    this.#outline += `${this.#text.slice(this.#isOutlined, start)}a`;
    this.#isOutlined = this.#at;
    return { kind: 'one', source: this.#text.slice(start, this.#at), isLiteral: false };
  }

  #repeated(inner: PatternTree): PatternTree {
    const range = this.#quantifier();
    if (!range) return inner;
    this.#take('?');
    // some engines give a second one another meaning
    if (this.#next === '+' || this.#next === '*' || this.#next === '?') throw new SyntaxError('quantifier');
    // a border cannot be repeated
    if (inner.kind === 'start' || inner.kind === 'end') throw new SyntaxError('quantifier');
    return { kind: 'repeat', inner, ...range };
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

  #group(): PatternTree {
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
    const inner = this.#alternatives();
    if (!this.#take(')')) throw new SyntaxError('(');
    return isLook ? { kind: 'condition' } : inner;
  }

  #skipClass(): void {
    this.#take('^');
    // for some engines the bracket is a member, for others the end
    if (this.#next === ']') throw new SyntaxError('[]');
    for (; this.#at < this.#text.length; this.#at++) {
      if (this.#take(']')) return;
      if (this.#next === '\\') this.#at += 1;
    }
    throw new SyntaxError('[');
  }

  #escape(start: number): PatternTree {
    const char = this.#text[this.#at++];
    if (char === undefined) throw new SyntaxError('\\');
    if (char === 'b' || char === 'B') return { kind: 'condition' };
    if (char === 'k') this.#skipPast('>');
    if (/[1-9]/.test(char)) while (/\d/.test(this.#next ?? '')) this.#at += 1;
    // references, and escapes whose meaning differs between engines
    if (/[1-9kAZzGKQEXR]/.test(char)) return { kind: 'reference' };
    if (/[pPu]/.test(char) && this.#next === '{') this.#skipPast('}');
    else if (char === 'u') this.#at += PAIR.test(this.#text.slice(start, start + 12)) ? 10 : 4;
    else if (char === 'x') this.#at += 2;
    else if (char === 'c') this.#at += 1;
    else if (/[pPN]/.test(char)) throw new SyntaxError(char);
    return this.#oneFrom(start);
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
