import { isObject } from '../../json/value.js';
import type { Piece } from '../../json/written.js';
import { contrast, mostText } from '../../policy/amounts.js';
import type { JsonObject, JsonValue } from '../../ports/json.js';
import { parseJson } from '../../wire/json/parse.js';
import { weigh } from '../../wire/json/weigh.js';

/** Questions are short: what is longer is refused. */
const MOST_BYTES = 256 * 1024;
const LIGHT = { depth: 100, values: 5000 };
const MOST = `${mostText(MOST_BYTES)}, ${LIGHT.values} values and ${LIGHT.depth} levels`;

/** What a server says while it works on a call, as far as it is about its own questions. */
type ServerMessage =
  | { kind: 'question'; id: JsonValue; params: JsonObject; size: number }
  | { kind: 'cancelled'; id: JsonValue };

/**
 * Reads a message on its way to a client; undefined for any other, and for a question that is too much to be read.
 * @param isQuestion it is known to be one
 */
export function serverMessage(pieces: readonly Piece[], isQuestion: boolean): ServerMessage | undefined {
  let size = 0;
  for (const piece of pieces) {
    if (!Buffer.isBuffer(piece)) return undefined;
    size += piece.length;
    if (size > MOST_BYTES) return undefined;
  }
  const bytes = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces as readonly Buffer[]);
  if (!isQuestion && !bytes.includes('cancelled"')) return undefined;
  if (weigh(bytes, LIGHT) !== 'light') return undefined;
  try {
    return read(parseJson(bytes.toString('utf8')) as JsonValue, size);
  } catch {
    return undefined;
  }
}

/** What a server is told about a question that is too much to be read. */
export function refusalText(pieces: readonly Piece[]): string {
  return `a question is one message of at most ${MOST}, and this one ${excessIn(pieces)}`;
}

function excessIn(pieces: readonly Piece[]): string {
  const bytes = Buffer.concat(pieces.filter((piece) => Buffer.isBuffer(piece)));
  if (bytes.length > MOST_BYTES) return `is ${contrast(MOST_BYTES, bytes.length).actual} long`;
  const weight = weigh(bytes, LIGHT);
  return weight === 'heavy' ? 'has more values' : weight === 'deep' ? 'has more levels' : 'is not one message';
}

function read(message: JsonValue, size: number): ServerMessage | undefined {
  if (!isObject(message) || !isObject(message.params)) return undefined;
  const { id, method, params } = message;
  if (method === 'elicitation/create' && id !== undefined) return { kind: 'question', id, params, size };
  const { requestId } = params;
  return method === 'notifications/cancelled' && requestId !== undefined
    ? { kind: 'cancelled', id: requestId }
    : undefined;
}
