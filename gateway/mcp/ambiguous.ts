import { isObject } from '../json/value.js';
import { inOneCase, PROTOTYPE, readInC } from '../policy/pattern.js';
import type { JsonObject, JsonValue } from '../ports/json.js';
import { type Asked, repeatedKey, type WrittenObject, writtenObjects } from '../wire/json/members.js';
import { META_CAPABILITIES, META_CLIENT, META_VERSION } from './meta-keys.js';
import { invalid } from './read-message.js';

/** Keys by which Wharf judges a message, in this object and in those below it. */
interface Judged {
  readonly keys: ReadonlySet<string>;
  /** A key in another case has the same length. */
  readonly lengths: ReadonlySet<number>;
  /** Each key by the common form of its spellings in other cases. */
  readonly folded: ReadonlyMap<string, string>;
  readonly inner: Readonly<Record<string, Judged>>;
}

const META_KEYS = ['progressToken', META_VERSION, META_CAPABILITIES, META_CLIENT];
const PARAMS_KEYS = [
  'name',
  'arguments',
  'uri',
  'taskId',
  'requestId',
  'protocolVersion',
  'capabilities',
  'clientInfo',
];
const MESSAGE = judged(['jsonrpc', 'id', 'method', 'params', 'result', 'error'], {
  params: judged(['_meta', ...PARAMS_KEYS], { _meta: judged(META_KEYS) }),
});
const ASKED = askedIn(MESSAGE);

/** With more keys than this, the error does not name the repeated one. */
const MAX_NAMED_AMONG = 10_000;

/** Characters of a key that its error repeats. */
const MAX_SHOWN = 64;

/**
 * Refuses a client's message that its server may read differently from Wharf. The message is forwarded unchanged, but
 * judged by `JSON.parse`, which takes the last of two members with one name. Other parsers take the first, and some
 * (Go's encoding/json) ignore the case of keys, or (cJSON) what is behind a NUL in them, or find members of
 * `__proto__` in the object around it. So another message could pass a check by method, name or version. A
 * server's messages are not refused: the client reads them as Wharf does, and they decide nothing for other clients.
 * @param value the result of `JSON.parse(text)`
 * @throws GatewayError `request_invalid`
 */
export function refuseAmbiguous(text: Buffer, value: JsonValue): void {
  const written = writtenObjects(text, ASKED);
  const messages = Array.isArray(value) ? value.filter(isObject) : [value];
  for (const [index, message] of messages.entries()) {
    const one = written[index];
    if (one && isObject(message)) check(text, one, message, { judged: MESSAGE, where: 'the message' });
  }
}

/** The keys by which Wharf judges a client's message: its own, those of its `params`, and those of their `_meta`. */
export const JUDGED_KEYS = {
  message: [...MESSAGE.keys],
  params: [...(MESSAGE.inner.params?.keys ?? [])],
  meta: META_KEYS,
};

/**
 * Checks one key of a message that is too long to be read as a whole.
 * @param path of the object that has it: empty, `params`, or their `_meta`
 * @throws GatewayError `request_invalid`
 */
export function refuseOtherLetters(key: string, path: readonly string[]): void {
  let at: Judged | undefined = MESSAGE;
  for (const step of path) at = at?.inner[step];
  if (at) refuseKey(key, at, path.at(-1) ?? 'the message');
}

function refuseKey(key: string, { lengths, keys, folded }: Judged, where: string): void {
  if (key === PROTOTYPE)
    throw invalid(`${where} has the key "${PROTOTYPE}", behind which some servers look for others`);
  const read = readInC(key);
  if (!lengths.has(read.length) || keys.has(key)) return;
  const meant = folded.get(inOneCase(read));
  if (meant === undefined) return;
  throw invalid(`${where} has the key ${shown(key)}, which some servers take for "${meant}"`);
}

/** @param where the object's name, for the error */
function check(
  text: Buffer,
  written: WrittenObject,
  value: JsonObject,
  { judged, where }: { judged: Judged; where: string },
): void {
  const keys = Object.keys(value);
  if (written.members !== keys.length) {
    const key = written.members > MAX_NAMED_AMONG ? undefined : repeatedKey(text, written.start);
    throw invalid(`${where} names ${shown(key)} twice, and servers differ in which of them counts`);
  }
  for (const key of keys) refuseKey(key, judged, where);
  for (const { key, object } of written.inner) {
    const below = value[key];
    const deeper = judged.inner[key];
    if (deeper && isObject(below)) check(text, object, below, { judged: deeper, where: key });
  }
}

function judged(keys: readonly string[], inner: Judged['inner'] = {}): Judged {
  const lengths = new Set(keys.map(({ length }) => length));
  return { keys: new Set(keys), lengths, folded: new Map(keys.map((key) => [inOneCase(key), key])), inner };
}

function askedIn({ inner }: Judged): Asked[] {
  return Object.entries(inner).map(([key, below]) => ({ key, inner: askedIn(below) }));
}

function shown(key: string | undefined): string {
  if (key === undefined) return 'a key';
  return JSON.stringify(key.length > MAX_SHOWN ? `${key.slice(0, MAX_SHOWN)}…` : key);
}
