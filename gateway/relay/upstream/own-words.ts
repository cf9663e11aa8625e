import { breathe } from '../../budget/turn.js';
import { GatewayError } from '../../errors.js';
import { folded, readInC } from '../../policy/pattern.js';
import type { JsonValue } from '../../ports/json.js';
import type { Owner } from '../../ports/owner.js';
import { parseJson } from '../../wire/json/parse.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import { looks } from '../../wire/looks.js';
import { OWN_TOOL_META_KEY } from '../cut/places.js';

/**
 * Wharf's metadata about files has such keys; programs would believe them to be Wharf's even from a server. Except
 * `OWN_TOOL_META_KEY`: with it a server can only hide its own tool, and the key disappears with the tool.
 */
const OWN = /^dev\.wharf\//i;

/**
 * Members in which such keys have a meaning: a `_meta` anywhere, and the declared capabilities. Readers that ignore the case
 * of a member (Go, C#) find them under other letters too, and those in C before a NUL.
 */
const HOLDERS: ReadonlySet<string> = new Set(['_meta', 'extensions', 'experimental']);

/**
 * Found in every message with such a key, however JSON spells it: a writer escapes a letter or digit only to hide
 * something. Readers that ignore case (Go) accept the key in any case.
 */
const MARK = /dev(?:\.|\\u002e)wharf|\\u00[4-7]/i;
const LONGEST_MARK = 14;

/** Bytes of a message searched in one step. */
const LOOK = 64 * 1024;

// Declared here like those of wire/json/grammar: V8 would read imported ones from memory for every byte.
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const SPACE = 0x20;

/** A cheap test: true when a message may contain Wharf's keys. */
export function maySpeakForWharf(pieces: readonly Buffer[]): boolean {
  for (const part of looks(pieces, LONGEST_MARK)) if (MARK.test(part.toString('latin1'))) return true;
  return false;
}

/**
 * Removes Wharf's keys from a server's message, because programs trust the names, links and digests under them. Blanks
 * replace the bytes, so that nothing else in the message moves.
 * @param message complete
 * @param owner whose message it is
 * @returns true when anything was removed
 * @throws GatewayError `upstream_invalid` when that is impossible: the message is not JSON (some clients read it
 * anyway), or has long strings there
 */
export async function silenceServer(message: HeldMessage, owner: Owner): Promise<boolean> {
  if (message.malformed) {
    const { offset, reason } = message.malformed;
    throw new GatewayError('upstream_invalid', { reason: `${reason} at byte ${offset}` });
  }
  let isChanged = false;
  try {
    // a copy: held bytes may be in use until all of them have been searched
    for (const found of blankOwnWords(Buffer.from(message.skeleton()))) {
      if (found.length > 0) message.blank(found);
      isChanged ||= found.length > 0;
      await breathe(owner);
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new GatewayError('upstream_invalid', { reason: 'a file is under a key of Wharf’s own' }, error);
  }
  return isChanged;
}

/** Removes Wharf's keys from a value that is passed on. */
export function silenced<Value extends JsonValue>(value: Value): Value {
  const text = Buffer.from(JSON.stringify(value));
  const found = [...blankOwnWords(text)].some(({ length }) => length > 0);
  return found ? (parseJson(text.toString('utf8')) as Value) : value;
}

/**
 * Blanks every member of a holder whose key is Wharf's own, together with the superfluous comma.
 * @param json valid JSON; it is changed
 * @returns step by step, the blanked ranges, in order
 */
export function* blankOwnWords(json: Buffer): Generator<readonly { start: number; end: number }[]> {
  let blanked: { start: number; end: number }[] = [];
  let next = LOOK;
  /** For each open container: whether its members are checked. */
  const open: boolean[] = [];
  let isHolder = false;
  /** The member to remove: where it begins, and how many containers are open around it. */
  let going: { start: number; depth: number } | undefined;
  const blank = (start: number, end: number) => {
    json.fill(SPACE, start, end);
    blanked.push({ start, end });
  };
  for (let at = 0; at < json.length; at++) {
    if (at >= next) {
      yield blanked;
      blanked = [];
      next = at + LOOK;
    }
    const byte = json[at];
    if (byte === QUOTE) {
      const end = stringEnd(json, at);
      const isKey = json[nextByte(json, end)] === COLON;
      isHolder = false;
      if (isKey && !going) {
        const key = open.at(-1) ? textOf(json, at, end) : mayBeHolder(json, at, end);
        const isMark = key === OWN_TOOL_META_KEY && isTrueBehind(json, end);
        if (open.at(-1) && OWN.test(key) && !isMark) going = { start: at, depth: open.length };
        else isHolder = HOLDERS.has(key) || HOLDERS.has(folded(readInC(key)));
      }
      at = end - 1;
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      open.push(byte === OPEN_OBJECT && isHolder);
      isHolder = false;
    } else if (byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      if (going?.depth === open.length) {
        // only at the end of an object; otherwise each member would search back over all blanked ones before it
        const before = byte === COMMA ? at : previousByte(json, going.start);
        if (byte === COMMA) blank(going.start, at + 1);
        else blank(json[before] === COMMA ? before : going.start, at);
        going = undefined;
      }
      isHolder = false;
      if (byte !== COMMA) open.pop();
    }
  }
  yield blanked;
}

/** As much of a key is read as the name of a holder takes with each character escaped. */
const MAX_KEY = 1024;

const NUL = '\\u0000';

/** A key as far as it matters for a holder's name: of a long one, what a reader in C takes for all of it. */
function mayBeHolder(json: Buffer, start: number, end: number): string {
  if (end - start <= MAX_KEY) return textOf(json, start, end);
  const length = json.subarray(start, start + MAX_KEY).indexOf(NUL);
  // behind a backslash these may be plain letters, and no holder's name contains a backslash
  if (length < 0 || json[start + length - 1] === BACKSLASH) return '';
  return JSON.parse(`${json.toString('utf8', start, start + length)}"`) as string;
}

function textOf(json: Buffer, start: number, end: number): string {
  return JSON.parse(json.toString('utf8', start, end)) as string;
}

/** Position after the quote that ends the string at `start`. */
function stringEnd(json: Buffer, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

/** True when the value of the member whose key ends there is `true`. */
function isTrueBehind(json: Buffer, key: number): boolean {
  const start = nextByte(json, nextByte(json, key) + 1);
  return json.toString('latin1', start, start + 4) === 'true';
}

function nextByte(json: Buffer, from: number): number {
  let at = from;
  while (at < json.length && (json[at] as number) <= SPACE) at++;
  return at;
}

function previousByte(json: Buffer, from: number): number {
  let at = from - 1;
  while (at > 0 && (json[at] as number) <= SPACE) at--;
  return at;
}
