import { isSpace } from './chars.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const U = 0x75;
/** Characters of an escape of four digits behind its backslash. */
const UNICODE_REST = 5;
/** `[` and `{` differ in this bit only; so do `]` and `}`. */
const CURLY = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const OPEN_ARRAY = 0x5b;

/**
 * `JSON.parse`, for texts of peers.
 *
 * V8 from Node 24 on misreads an escaped key: it compares the key's raw text with the key that objects of this shape have
 * had at this place, so that after one message with the key `n\\u0` (a backslash in it) the key `n\u0061me` is read as
 * that one, and a caller could hide a tool's name from Wharf and not from its server (nodejs/node#63785). So a text with
 * an escaped key is read here. Other texts, nearly all, are V8's: where a key has no escape, its raw text is the key.
 * @throws SyntaxError V8's, which quotes the text
 */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return text.includes('\\') && hasEscapedKey(text) ? built(text, JSON.parse) : value;
}

/** As old as the oldest Node that Wharf runs on, but not yet in the types. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/** Only such numbers are not the same in every spelling: very long ones, very large or small ones, and minus zero. */
const MAY_BE_LOSSY = /\d[\d.]{15}|\de|-0/i;

/**
 * As `parseJson`, for a value that is written again: a number that a double does not hold, such as a 64-bit id, becomes an
 * object which `JSON.stringify` writes as the number was.
 * @throws SyntaxError V8's, which quotes the text
 */
export function parseExactly(text: string): unknown {
  if (!MAY_BE_LOSSY.test(text)) return parseJson(text);
  JSON.parse(text);
  return built(text, scalar);
}

function scalar(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'number' || (digitsIn(text) === digitsIn(String(value)) && !Object.is(value, -0))) return value;
  return rawJSON(text);
}

/** The digits that count: without zeros at either end, for which there is the exponent. */
function digitsIn(number: string): string {
  const [digits = ''] = number.split(/e/i);
  const all = digits.replaceAll(/[-.]/g, '').replace(/^0+/, '');
  let end = all.length;
  // a pattern for zeros at the end looks from each zero, which is quadratic where they do not end the text
  while (all[end - 1] === '0') end -= 1;
  return all.slice(0, end);
}

/** @param text valid JSON */
function hasEscapedKey(text: string): boolean {
  for (let at = text.indexOf('"'); at >= 0; ) {
    const start = at + 1;
    const end = endOfString(text, start);
    at = skipSpace(text, end + 1);
    if (text.charCodeAt(at) === COLON && text.slice(start, end).includes('\\')) return true;
    at = text.indexOf('"', end + 1);
  }
  return false;
}

/** An array or object whose end has not been read. */
interface Opened {
  into: unknown[] | Record<string, unknown>;
  /** The key of the value that comes next. */
  key: string;
}

/** Characters of a text that are read in one step, which takes some milliseconds at most. */
const STEP = 64 * 1024;

/**
 * The value of a text that a reader has found valid, in steps, however long its strings are: between two of them the
 * caller may do something else. Numbers, `true`, `false` and `null` become null.
 */
export function stringsInSteps(text: string): Generator<undefined, unknown> {
  return building(text, () => null);
}

/**
 * The value of a text.
 * @param text valid JSON
 * @param plain reads a number, `true`, `false` or `null`
 */
function built(text: string, plain: (text: string) => unknown): unknown {
  const steps = building(text, plain);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

/** Without recursion, as V8: depth costs memory, not stack. */
function* building(text: string, plain: (text: string) => unknown): Generator<undefined, unknown> {
  const opened: Opened[] = [];
  let at = 0;
  let due = STEP;
  for (;;) {
    if (at >= due) {
      yield;
      due = at + STEP;
    }
    const one = opened.at(-1);
    at = skipSpace(text, at);
    let first = text.charCodeAt(at);
    if (one && !Array.isArray(one.into)) {
      const key = shortString(text, at) ?? (yield* longString(text, at));
      one.key = key.value;
      // behind the colon
      at = skipSpace(text, skipSpace(text, key.end + 1) + 1);
      first = text.charCodeAt(at);
    }
    let value: unknown;
    if ((first | CURLY) === OPEN) {
      const into: Opened['into'] = first === OPEN_ARRAY ? [] : {};
      at = skipSpace(text, at + 1);
      if ((text.charCodeAt(at) | CURLY) !== CLOSE) {
        opened.push({ into, key: '' });
        continue;
      }
      at += 1;
      value = into;
    } else if (first === QUOTE) {
      const string = shortString(text, at) ?? (yield* longString(text, at));
      value = string.value;
      at = string.end + 1;
    } else {
      const start = at;
      at = endOfPlain(text, at);
      value = plain(text.slice(start, at));
    }
    // what ends with it
    for (let around = opened.at(-1); ; around = opened.at(-1)) {
      if (around === undefined) return value;
      put(around, value);
      at = skipSpace(text, at) + 1;
      if (text.charCodeAt(at - 1) === COMMA) break;
      opened.pop();
      value = around.into;
    }
  }
}

/** A string of a text. */
interface Read {
  value: string;
  /** Position of its closing quote. */
  end: number;
}

/** A string that is read in one step; undefined for a longer one. @param start its opening quote */
function shortString(text: string, start: number): Read | undefined {
  const end = endOfString(text, start + 1, start + STEP);
  return text.charCodeAt(end) === QUOTE ? { value: unescaped(text.slice(start + 1, end)), end } : undefined;
}

/** A string that is read in steps. @param start its opening quote */
function* longString(text: string, start: number): Generator<undefined, Read> {
  const pieces: string[] = [];
  for (let from = start + 1; ; ) {
    const end = endOfString(text, from, from + STEP);
    pieces.push(unescaped(text.slice(from, end)));
    if (text.charCodeAt(end) === QUOTE) return { value: pieces.join(''), end };
    yield;
    from = end;
  }
}

function unescaped(raw: string): string {
  return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
}

function put({ into, key }: Opened, value: unknown): void {
  if (Array.isArray(into)) into.push(value);
  // a member like any other in JSON, while assigning it would set the prototype
  else if (key === '__proto__')
    Object.defineProperty(into, key, { value, writable: true, enumerable: true, configurable: true });
  else into[key] = value;
}

/**
 * Position of the closing quote, or of the first character that is no longer read.
 * @param start after the opening quote, or after a character of the string
 * @param most position from which no character is read, except of an escape that begins before it
 */
function endOfString(text: string, start: number, most = Number.POSITIVE_INFINITY): number {
  for (let at = start; ; at++) {
    if (at >= most) return at;
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at += text.charCodeAt(at + 1) === U ? UNICODE_REST : 1;
  }
}

/** Position after a number, `true`, `false` or `null`. */
function endOfPlain(text: string, at: number): number {
  for (let end = at; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === COMMA || (code | CURLY) === CLOSE || isSpace(code)) return end;
  }
  return text.length;
}

function skipSpace(text: string, at: number): number {
  let next = at;
  while (isSpace(text.charCodeAt(next))) next += 1;
  return next;
}
