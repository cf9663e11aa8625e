import type { Edits } from '../../json/edit.js';
import { RANGE } from '../../mcp/ranges.js';
import { plainText } from '../../wire/json/plain-text.js';
import type { HeldMessage, WatchRange } from '../../wire/json/reader.js';

/** One client's request on a channel shared with other clients. */
export interface Mapping {
  /** The client's own id, as JSON text. */
  id: string;
  /** The client's own progress token, as JSON text, if there is one. */
  progressToken: string | undefined;
}

/** The client's own names for the request with this channel id; undefined when they are the same. */
type Names = (id: string) => Mapping | undefined;

/**
 * Restores the client's own id, token and subscription id in a message from the shared channel.
 * @returns the bytes by which the message becomes longer
 */
export function namesBack(message: HeldMessage, edits: Edits, names: Names): number {
  let longer = 0;
  // a server may write the key `id` many times
  const isCall = message.captured('method') !== undefined;
  for (const range of message.ranges) {
    const text = replacement(message, range, names, isCall);
    if (text === undefined) continue;
    edits.replace(range, text);
    longer += Buffer.byteLength(text) - (range.end - range.start);
  }
  return longer;
}

function replacement(message: HeldMessage, range: WatchRange, names: Names, isCall: boolean): string | undefined {
  const mapping = () => names(plainText(message.slice(range.start, range.end).toString('utf8')));
  switch (range.name) {
    case RANGE.id:
      return isCall ? undefined : mapping()?.id;
    case RANGE.progressToken:
      return mapping()?.progressToken;
    case RANGE.subscriptionId:
    case RANGE.requestId:
      return mapping()?.id;
    default:
      return undefined;
  }
}

const COMMA = 0x2c;
const CLOSE_OBJECT = 0x7d;
const ID_KEY = Buffer.from('"id":');
const SUBSCRIPTION = Buffer.from('subscriptionId');
/** What stands before or behind the id of a message itself, in the answers of the official SDKs. */
const BEFORE_ID = ['{', '{"jsonrpc":"2.0",'].map((text) => Buffer.from(text));
const AFTER_ID = ['}', ',"jsonrpc":"2.0"}'].map((text) => Buffer.from(text));

/**
 * A short answer under the client's own id. Undefined where it is not certain, without reading the answer, that this is all
 * that must be renamed in it.
 * @param line valid JSON of one answer
 * @param id by which it answers, as JSON text: a number that Wharf gave
 * @param original the client's own, as JSON text
 */
export function answerBack(line: Buffer, id: string, original: string): Buffer[] | undefined {
  const key = line.indexOf(ID_KEY);
  const start = key + ID_KEY.length;
  const end = start + id.length;
  if (key < 0 || line.toString('latin1', start, end) !== id || line.indexOf(ID_KEY, end) >= 0) return undefined;
  // of a longer number, such as 17.0, it would be the beginning
  if (line[end] !== COMMA && line[end] !== CLOSE_OBJECT) return undefined;
  const isOwn =
    BEFORE_ID.some((text) => text.length === key && line.compare(text, 0, key, 0, key) === 0) ||
    AFTER_ID.some((text) => text.length === line.length - end && line.compare(text, 0, text.length, end) === 0);
  if (!isOwn || line.includes(SUBSCRIPTION)) return undefined;
  return [line.subarray(0, start), Buffer.from(original), line.subarray(end)];
}
