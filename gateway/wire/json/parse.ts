import { isSpace } from './chars.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
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

/**
 * The value of a text. Without recursion, as V8: depth costs memory, not stack.
 * @param text valid JSON
 * @param plain reads a text without members and items
 */
function built(text: string, plain: (text: string) => unknown): unknown {
  const opened: Opened[] = [];
  let at = 0;
  const keyOf = (): string => {
    const start = skipSpace(text, at);
    const end = endOfString(text, start + 1);
    at = skipSpace(text, end + 1) + 1;
    return JSON.parse(text.slice(start, end + 1)) as string;
  };
  for (;;) {
    at = skipSpace(text, at);
    const first = text.charCodeAt(at);
    let value: unknown;
    if ((first | CURLY) === OPEN) {
      const one: Opened = { into: first === OPEN_ARRAY ? [] : {}, key: '' };
      at = skipSpace(text, at + 1);
      if ((text.charCodeAt(at) | CURLY) === CLOSE) {
        at += 1;
        value = one.into;
      } else {
        if (first === OPEN) one.key = keyOf();
        opened.push(one);
        continue;
      }
    } else {
      const start = at;
      at = first === QUOTE ? endOfString(text, at + 1) + 1 : endOfPlain(text, at);
      value = plain(text.slice(start, at));
    }
    for (;;) {
      const one = opened.at(-1);
      if (one === undefined) return value;
      put(one, value);
      at = skipSpace(text, at);
      const isLast = text.charCodeAt(at) !== COMMA;
      at += 1;
      if (!isLast) {
        if (!Array.isArray(one.into)) one.key = keyOf();
        break;
      }
      opened.pop();
      value = one.into;
    }
  }
}

function put({ into, key }: Opened, value: unknown): void {
  if (Array.isArray(into)) into.push(value);
  // a member like any other in JSON, while assigning it would set the prototype
  else if (key === '__proto__')
    Object.defineProperty(into, key, { value, writable: true, enumerable: true, configurable: true });
  else into[key] = value;
}

/** Position of the closing quote. @param at after the opening one */
function endOfString(text: string, at: number): number {
  for (let end = at; ; end++) {
    const code = text.charCodeAt(end);
    if (code === QUOTE) return end;
    if (code === BACKSLASH) end += 1;
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
