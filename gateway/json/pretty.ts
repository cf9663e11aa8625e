import { inSight } from '../in-sight.js';
import type { JsonValue } from '../ports/json.js';

/** Deeper values are only hinted at. */
const MAX_DEPTH = 64;

/** Most characters of one string, so that a long one hides nothing after it. */
const MAX_STRING = 4096;

/** A value as text for people. */
interface PrettyText {
  text: string;
  /** Something is left out of it. */
  isCut: boolean;
}

/**
 * A value with a line for each of its members. What would hide or turn around the text behind it is written as an escape.
 * @param most characters after which the text is cut, so that what a peer's value costs does not depend on its size
 */
export function prettyJson(value: JsonValue | undefined, most: number): PrettyText {
  const writer = new Writer(most);
  writer.write(value, 0);
  return { text: writer.text, isCut: writer.isCut };
}

class Writer {
  readonly #parts: string[] = [];
  #left: number;
  isCut = false;

  constructor(most: number) {
    this.#left = most;
  }

  get text(): string {
    return this.#parts.join('');
  }

  write(value: JsonValue | undefined, depth: number): void {
    if (typeof value === 'string') this.#string(value);
    else if (typeof value !== 'object' || value === null) this.#add(JSON.stringify(value ?? null));
    else if (Array.isArray(value)) {
      this.#members(
        value.length,
        value,
        (item) => {
          this.write(item, depth + 1);
        },
        { depth, ends: '[]' },
      );
    } else {
      const names = Object.keys(value);
      this.#members(
        names.length,
        names,
        (name) => {
          this.#string(name);
          this.#add(': ');
          this.write(value[name], depth + 1);
        },
        { depth, ends: '{}' },
      );
    }
  }

  #members<Member>(
    count: number,
    members: Iterable<Member>,
    write: (member: Member) => void,
    { depth, ends }: { depth: number; ends: string },
  ): void {
    if (count === 0) {
      this.#add(ends);
      return;
    }
    if (depth >= MAX_DEPTH) {
      this.isCut = true;
      this.#add(`${ends[0]}…${ends[1]}`);
      return;
    }
    this.#add(ends[0] ?? '');
    let before = '\n';
    for (const member of members) {
      if (this.#left <= 0) break;
      this.#add(`${before}${'  '.repeat(depth + 1)}`);
      write(member);
      before = ',\n';
    }
    this.#add(`\n${'  '.repeat(depth)}${ends[1]}`);
  }

  #string(text: string): void {
    if (text.length > MAX_STRING) this.isCut = true;
    const short = text.length > MAX_STRING ? `${text.slice(0, MAX_STRING)}… (${text.length} characters)` : text;
    this.#add(inSight(JSON.stringify(short)));
  }

  #add(text: string): void {
    if (this.#left <= 0) {
      this.isCut = true;
      return;
    }
    if (text.length > this.#left) this.isCut = true;
    this.#parts.push(text.length > this.#left ? text.slice(0, this.#left) : text);
    this.#left -= text.length;
  }
}
