import type { JsonValue } from '../ports/json.js';
import { parseJson } from '../wire/json/parse.js';

/** Deeper values overflow the stack where they are written again. */
const MAX_DEPTH = 256;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `[` and `{` differ in this bit only; so do `]` and `}`. */
const CURLY = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** The JSON value that a person or a program has written; undefined where the text is not JSON, or nests too deep. */
export function jsonIn(text: string): JsonValue | undefined {
  if (isTooDeep(text)) return undefined;
  try {
    return parseJson(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isString) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) isString = false;
    } else if (code === QUOTE) isString = true;
    else if ((code | CURLY) === OPEN) {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if ((code | CURLY) === CLOSE) depth -= 1;
  }
  return false;
}
