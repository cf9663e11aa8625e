import { GatewayError } from '../../errors.js';
import type { FileRecord, StoredObject } from '../../files/file.js';
import type { Stored } from '../../files/ingest/ingest.js';
import type { Library } from '../../files/library.js';
import { lightValue } from '../../json/light-value.js';
import { isObject } from '../../json/value.js';
import { RANGE, rangeAt } from '../../mcp/ranges.js';
import type { Limits } from '../../policy/limits.js';
import type { JsonObject, JsonPath } from '../../ports/json.js';
import { Base64Decoder } from '../../wire/base64/decode.js';
import { decodeTolerantBase64 } from '../../wire/base64/decode-text.js';
import { readDataUri } from '../../wire/data-uri.js';
import { pointer } from '../../wire/json/pointer.js';
import type { HeldMessage } from '../../wire/json/reader.js';
import type { Cut } from '../cut/cut.js';
import type { MessageCuts } from '../cut/message-cuts.js';
import { refuseDuplicates } from '../results/duplicates.js';
import { askedIn } from '../results/resource-file.js';

/** Raw base64 decoded in one step. */
const PIECE = 48 * 1024;

/** The content of one resource, wherever its bytes are. */
export interface StreamItem {
  /** As the server declared it. */
  mimeType?: string;
  name?: string;
  /** Bytes, unless they are still arriving. */
  size?: number;
  /** SHA-256, base64url without padding. */
  digest?: string;
  read(signal: AbortSignal): AsyncIterable<Buffer>;
  /** Releases a source that is not read to its end. */
  discard?: () => void;
  /** Bytes of it in memory. */
  held?: number;
  /** Present once the bytes are in the store. */
  stored?: Stored;
  /** Present once they are a file. */
  record?: FileRecord;
}

/** The answer to a `resources/read`, complete. */
interface AnsweredRead {
  message: HeldMessage;
  cuts: MessageCuts;
  /** Its path: empty, or its index in a batch. */
  base: JsonPath;
}

interface ItemDeps {
  library: Library;
  limits: Pick<Limits, 'values'>;
  /** Fetches a file that an item only names; undefined: it names none. */
  named: (item: JsonObject) => Promise<StreamItem | undefined>;
}

/**
 * The content that a `resources/read` requested: of several, the first with that URI.
 * @throws GatewayError `stream_refused`, `file_not_base64`, `file_key_duplicate`, and the error of storing or fetching it
 */
export async function itemOf(
  { message, cuts, base }: AnsweredRead,
  uri: string,
  { library, limits, named }: ItemDeps,
): Promise<StreamItem> {
  const range = rangeAt(message, RANGE.result, [...base, 'result']);
  const result = range && lightValue(message, range, limits);
  const contents = isObject(result) ? result.contents : undefined;
  const index = askedIn(contents, uri);
  const item = Array.isArray(contents) && index !== undefined ? contents[index] : undefined;
  if (!isObject(item)) throw noContent(uri, Array.isArray(contents) ? contents.filter(isObject).length : 0);
  refuseDuplicates(message);
  const elsewhere = typeof item.blob === 'string' ? undefined : await named(item);
  if (elsewhere) return elsewhere;
  const about = {
    ...(typeof item.mimeType === 'string' && { mimeType: item.mimeType }),
    ...(typeof item.name === 'string' && { name: item.name }),
  };
  if (typeof item.text === 'string') {
    return { mimeType: 'text/plain; charset=utf-8', ...about, ...inMemory(Buffer.from(item.text)) };
  }
  if (typeof item.blob !== 'string') throw noContent(uri, 0);
  const path = pointer([...base, 'result', 'contents', index as number, 'blob']);
  const cut = cuts.cuts.find((candidate) => candidate.path === path);
  if (cut) return { ...cut.dataUri, ...about, ...(await contentOf(cut, library)) };
  const uriOf = readDataUri(item.blob);
  const { bytes, ...said } = typeof uriOf === 'object' ? uriOf : { bytes: decodeTolerantBase64(item.blob) };
  if (!bytes) throw new GatewayError('file_not_base64', { path, reason: 'it cannot be decoded' });
  return { ...said, ...about, ...inMemory(bytes) };
}

function inMemory(bytes: Buffer): Pick<StreamItem, 'size' | 'read' | 'held'> {
  return { size: bytes.length, held: bytes.length, read: () => once(bytes) };
}

/** Bytes in the store. @throws GatewayError `file_gone` while reading */
export function inStore(
  file: StoredObject & { digest: string },
  library: Library,
): Pick<StreamItem, 'size' | 'read' | 'digest'> {
  const { size, digest } = file;
  return { size, digest, read: (signal) => readStored(file, library, signal) };
}

/** @param count contents that the server gave: of a folder, for example, those of what is in it */
function noContent(uri: string, count: number): GatewayError {
  const text =
    count === 0
      ? 'The server gave no content for this resource.'
      : `The server gave ${count} contents, and none of them has this URI; resources/read gives all of them.`;
  return new GatewayError('stream_refused', { reason: 'streamNotSupported', uri, text });
}

async function contentOf(cut: Cut, library: Library): Promise<Omit<StreamItem, 'mimeType' | 'name'>> {
  const { path } = cut;
  const known = cut.inspect();
  const body = cut.inlineBody;
  if (known && body) {
    const held = body.reduce((sum, piece) => sum + piece.length, 0);
    return { ...known, held, read: () => decoded(body, path) };
  }
  if (!cut.stored) throw new GatewayError('file_not_base64', { path, reason: cut.fault?.message ?? 'it broke off' });
  return { ...inStore(cut.stored, library), stored: cut.stored };
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  if (bytes.length > 0) yield bytes;
}

async function* decoded(pieces: readonly Buffer[], path: string): AsyncGenerator<Buffer> {
  const decoder = new Base64Decoder({ trackCanonical: false, anyBlanks: true });
  for (const piece of pieces) {
    for (let at = 0; at < piece.length; at += PIECE) yield decode(decoder, piece.subarray(at, at + PIECE), path);
  }
  yield finish(decoder, path);
}

/** @throws GatewayError `file_not_base64` */
export function decode(decoder: Base64Decoder, raw: Buffer, path: string): Buffer {
  const out = Buffer.allocUnsafe(((raw.length * 3) >> 2) + 3);
  try {
    return out.subarray(0, decoder.push(raw, 0, raw.length, out, 0));
  } catch (error) {
    throw new GatewayError('file_not_base64', { path, reason: (error as Error).message }, error);
  }
}

/** The bytes of an unfinished last group. @throws GatewayError `file_not_base64` */
export function finish(decoder: Base64Decoder, path: string): Buffer {
  const out = Buffer.allocUnsafe(3);
  try {
    return out.subarray(0, decoder.finish(out, 0));
  } catch (error) {
    throw new GatewayError('file_not_base64', { path, reason: (error as Error).message }, error);
  }
}

async function* readStored(file: StoredObject, library: Library, signal: AbortSignal): AsyncGenerator<Buffer> {
  const read = await library.read(file, signal);
  if (read.kind !== 'found') throw new GatewayError('file_gone');
  for await (const chunk of read.body) yield chunk as Buffer;
}
