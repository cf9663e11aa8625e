import { isObject } from '../../../json/value.js';
import { isTextual } from '../../../policy/accept.js';
import type { FileClaims } from '../../../ports/file.js';
import type { Host, HostTextLimit } from '../../../ports/host.js';
import type { JsonObject } from '../../../ports/json.js';

type TextLimit = Pick<HostTextLimit, 'most' | 'unit'>;

/** What a block holds that a host would not show. */
export type Unshown =
  /** Bytes: they become a file. */
  | { kind: 'bytes'; bytes: Buffer; claims: FileClaims }
  /** A text spelled as bytes. */
  | { kind: 'text-resource'; text: string }
  /** A text longer than the host shows. */
  | { kind: 'long-text'; text: string; bytes: Buffer; claims: FileClaims; limit: TextLimit };

const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;

/** The bytes of a block that do not reach the model, or reach it as base64 text. */
export function unshownBytes(block: JsonObject, host: Host | undefined, isError: boolean): Unshown | undefined {
  const { type, data, mimeType, resource } = block;
  const isText = isError && host?.errorImages !== 'keep';
  const claims = typeof mimeType === 'string' ? { mimeType } : {};
  if (type === 'image') {
    const { images, imageTypes } = host ?? {};
    const isShown = imageTypes === undefined || imageTypes.includes(String(mimeType).toLowerCase());
    return images === 'drop' || !isShown || isText ? bytesOf(data, claims) : undefined;
  }
  if (!isText && host?.blobs !== 'drop') return undefined;
  if (type === 'audio') return bytesOf(data, claims);
  if (type !== 'resource' || !isObject(resource)) return undefined;
  const found = bytesOf(resource.blob, claimsOf(resource));
  const text = found && isTextual(found.claims.mimeType ?? '') ? utf8(found.bytes) : undefined;
  return text === undefined ? found : { kind: 'text-resource', text };
}

/** A text block that is longer than the host shows. */
export function unshownText({ type, text }: JsonObject, host: Host | undefined): Unshown | undefined {
  const limit = host?.text;
  if (type !== 'text' || typeof text !== 'string' || typeof limit !== 'object') return undefined;
  const length = limit.unit === 'bytes' ? Buffer.byteLength(text) : text.length;
  if (length <= limit.most) return undefined;
  return { kind: 'long-text', text, bytes: Buffer.from(text), claims: { mimeType: 'text/plain' }, limit };
}

function claimsOf({ mimeType, uri, name }: JsonObject): FileClaims {
  return {
    ...(typeof mimeType === 'string' && { mimeType }),
    ...(typeof uri === 'string' && { uri }),
    ...(typeof name === 'string' && { name }),
  };
}

/** What is not base64 passes, for the client to judge. */
function bytesOf(text: unknown, claims: FileClaims): (Unshown & { kind: 'bytes' }) | undefined {
  if (typeof text !== 'string' || !BASE64.test(text)) return undefined;
  return { kind: 'bytes', bytes: Buffer.from(text, 'base64'), claims };
}

function utf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
