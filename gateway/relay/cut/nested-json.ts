import { StringDecoder } from 'node:string_decoder';
import { breathe } from '../../budget/turn.js';
import type { JsonValue } from '../../ports/json.js';
import type { Owner } from '../../ports/owner.js';
import { WireError } from '../../wire/errors.js';
import { stringsInSteps } from '../../wire/json/parse.js';
import { createReader, type HeldMessage, type MessageReader } from '../../wire/json/reader.js';
import { compileWatchTree } from '../../wire/json/watch-tree.js';
import type { WeightLimits } from '../../wire/json/weigh.js';

/** Raw bytes of a text that are read in one step, which takes some milliseconds at most. */
const STEP = 64 * 1024;

const BACKSLASH = 0x5c;
const U = 0x75;
/** Of `\u005c`, the longest escape. */
const LONGEST_ESCAPE = 6;

const NOTHING = compileWatchTree({});

/** Of a text that is JSON, or begins as JSON, but is too large or too deep to be parsed. */
export const TOO_LARGE = Symbol('too large');

/**
 * The objects, lists and strings of a text that is JSON in a JSON string, without its numbers. In one step, a text of
 * 15 MB took up to 400 ms: its two levels of escapes alone more than half of that.
 * @param raw the text as its message spells it, without quotes
 * @param owner whose text it is
 * @returns undefined when it is not JSON
 */
export async function nestedJson(
  raw: readonly Buffer[],
  limits: WeightLimits,
  owner: Owner,
): Promise<JsonValue | typeof TOO_LARGE | undefined> {
  const check = new Check(limits);
  const text: string[] = [];
  try {
    for await (const piece of unescaped(raw, owner)) {
      check.read(piece);
      text.push(piece);
    }
  } catch (error) {
    // it may well be JSON, of which a program may want the base64
    return error instanceof WireError && error.code === 'depth' ? TOO_LARGE : undefined;
  }
  if (!check.isJson()) return undefined;
  if (check.isTooLarge()) return TOO_LARGE;
  const steps = stringsInSteps(text.join(''));
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value as JsonValue;
    await breathe(owner);
  }
}

/** The text, piece by piece, without the escapes of the string around it. @throws SyntaxError */
async function* unescaped(raw: readonly Buffer[], owner: Owner): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for (const piece of raw) {
    for (let at = 0; at < piece.length; at += STEP) {
      await breathe(owner);
      const known = rest + decoder.write(piece.subarray(at, at + STEP));
      const end = wholeUntil(known);
      rest = known.slice(end);
      yield JSON.parse(`"${known.slice(0, end)}"`) as string;
    }
  }
  yield JSON.parse(`"${rest}${decoder.end()}"`) as string;
}

/** How far a raw string goes before an escape that may not be complete. @param raw it begins between two characters */
function wholeUntil(raw: string): number {
  const last = raw.lastIndexOf('\\');
  if (last < raw.length - LONGEST_ESCAPE) return raw.length;
  let first = last;
  while (first > 0 && raw.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  // each two of them are one character
  if ((last - first) % 2 === 1) return raw.length;
  const length = raw.charCodeAt(last + 1) === U ? LONGEST_ESCAPE : 2;
  return last + length <= raw.length ? raw.length : last;
}

/** Reads a text in pieces, to know whether it is one JSON value and within limits. */
class Check {
  readonly #most: number;
  readonly #reader: MessageReader;
  #value: HeldMessage | undefined;

  constructor({ depth, values }: WeightLimits) {
    this.#most = values;
    const message = (value: HeldMessage) => {
      if (this.#value) throw new SyntaxError('a second value follows');
      this.#value = value;
    };
    this.#reader = createReader('json', { tree: NOTHING, holds: false, maxDepth: depth, handler: { message } });
  }

  /** @throws SyntaxError, and WireError when it is too deep */
  read(text: string): void {
    this.#reader.feed(Buffer.from(text));
  }

  isJson(): boolean {
    return this.#value !== undefined && !this.#reader.inMessage && !this.#value.malformed;
  }

  isTooLarge(): boolean {
    // the value counts too
    return this.#value !== undefined && this.#value.values + 1 > this.#most;
  }
}
