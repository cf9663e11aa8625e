import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../../errors.js';
import type { Announced } from '../../files/uploads/resumable/resumable-uploads.js';
import { malformed } from '../multipart-head.js';

/** The supported version of tus: https://tus.io/protocols/resumable-upload */
export const TUS_VERSION = '1.0.0';

/** The checksum algorithms that a client may use; every server must support "sha1". */
export const CHECKSUMS: readonly string[] = ['sha1', 'sha256', 'sha384', 'sha512'];

/** "All PATCH requests MUST use Content-Type: application/offset+octet-stream" */
const CONTENT_TYPE = 'application/offset+octet-stream';

/** Most bytes of a client's metadata about its file: names, types, and anything else it wants returned. */
const MAX_METADATA = 4096;
const MAX_TEXT = 1024;

/** A key, and its value in base64, which may be empty. */
const PAIR = /^([\x21-\x2b\x2d-\x7e]+)(?: ((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?))?$/;
const NUMBER = /^\d{1,30}$/;

/** Characters of what is not a number, in its refusal. */
const MAX_SHOWN = 40;

/**
 * True for a request of this protocol. OPTIONS counts too, unless a browser asks by it whether a page may call.
 */
export function speaksTus({ method, headers }: IncomingMessage): boolean {
  const isQuestion = method === 'OPTIONS' && headers['access-control-request-method'] === undefined;
  return isQuestion || headers['tus-resumable'] !== undefined;
}

/** "The actual method of the request MUST be ignored", when the header names another one. */
export function methodOf({ method = '', headers }: IncomingMessage): string {
  const named = headers['x-http-method-override'];
  return typeof named === 'string' ? named.toUpperCase() : method;
}

/** @throws GatewayError `tus_version_unsupported` */
export function checkVersion({ headers }: IncomingMessage): void {
  const requested = String(headers['tus-resumable']).slice(0, 20);
  if (requested !== TUS_VERSION)
    throw new GatewayError('tus_version_unsupported', { requested, supported: TUS_VERSION });
}

/** The declaration of a new upload. @throws GatewayError `upload_malformed` */
export function announcedIn(request: IncomingMessage): Announced {
  if (request.headers['upload-defer-length'] !== undefined)
    throw malformed('its length must be known when it begins', 'malformedRequest');
  if (request.headers['upload-concat'] !== undefined)
    throw malformed('a file cannot be put together from several uploads', 'malformedRequest');
  const length = numberIn(request, 'upload-length');
  const metadata = request.headers['upload-metadata'];
  if (typeof metadata !== 'string' || metadata === '') return { length };
  const values = readMetadata(metadata);
  // clients differ: the tus documents use "filename", Uppy also "name" and "type"
  const name = textIn(values, 'filename') ?? textIn(values, 'name');
  const mimeType = textIn(values, 'filetype') ?? textIn(values, 'type');
  return { length, metadata, name, mimeType };
}

/** The offset of a request's bytes. @throws GatewayError `upload_malformed` */
export function offsetIn(request: IncomingMessage): number {
  return numberIn(request, 'upload-offset');
}

/** True when the request has a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** @throws GatewayError `unsupported_media_type` */
export function checkContentType({ headers }: IncomingMessage): void {
  if (headers['content-type']?.trim().toLowerCase() !== CONTENT_TYPE)
    throw new GatewayError('unsupported_media_type', { expected: CONTENT_TYPE });
}

/** The declared checksum of a request's bytes. @throws GatewayError `upload_malformed` */
export function checksumIn({ headers }: IncomingMessage): Checksum | undefined {
  const header = headers['upload-checksum'];
  if (header === undefined) return undefined;
  const [, algorithm = '', value = ''] = /^([a-z0-9-]+) ([A-Za-z0-9+/]+={0,2})$/.exec(String(header)) ?? [];
  if (!CHECKSUMS.includes(algorithm)) {
    const detail = `Upload-Checksum must name one of ${CHECKSUMS.join(', ')}, and a value in base64`;
    throw malformed(detail, 'unsupportedDigestAlgorithm');
  }
  return new Checksum(algorithm, Buffer.from(value, 'base64'));
}

/** Computes and checks a checksum. */
class Checksum {
  readonly #hash;
  readonly #said: Buffer;

  constructor(algorithm: string, said: Buffer) {
    this.#hash = createHash(algorithm);
    this.#said = said;
  }

  async *over(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of bytes) {
      this.#hash.update(chunk);
      yield chunk;
    }
  }

  /** @throws GatewayError `upload_checksum_differs` */
  check(): void {
    if (!this.#hash.digest().equals(this.#said))
      throw new GatewayError('upload_checksum_differs', { reason: 'checksumMismatch' });
  }
}

function numberIn({ headers }: IncomingMessage, name: 'upload-length' | 'upload-offset'): number {
  const value = String(headers[name] ?? '');
  if (!NUMBER.test(value)) {
    const title = name === 'upload-length' ? 'Upload-Length' : 'Upload-Offset';
    const actual = value === '' ? 'missing' : JSON.stringify(value.slice(0, MAX_SHOWN));
    throw malformed(`${title} must be a number of bytes, in at most 30 digits, and is ${actual}`, 'malformedRequest');
  }
  return Number(value);
}

/** A client's metadata about its file, by key, from base64. @throws GatewayError `upload_malformed` */
export function readMetadata(header: string): Map<string, string> {
  if (header.length > MAX_METADATA)
    throw malformed(`Upload-Metadata is longer than ${MAX_METADATA} characters`, 'malformedRequest');
  const values = new Map<string, string>();
  for (const pair of header.split(',')) {
    const [, key, value = ''] = PAIR.exec(pair.trim()) ?? [];
    if (key === undefined || values.has(key))
      throw malformed('Upload-Metadata must hold keys, each once, with values in base64', 'malformedRequest');
    values.set(key, value);
  }
  return values;
}

function textIn(values: Map<string, string>, key: string): string | undefined {
  const value = values.get(key);
  if (value === undefined || value === '') return undefined;
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'base64'));
  } catch {
    throw malformed(`the ${key} in Upload-Metadata is not UTF-8`, 'malformedRequest');
  }
  if (text.length > MAX_TEXT)
    throw malformed(`the ${key} in Upload-Metadata is longer than ${MAX_TEXT} characters`, 'malformedRequest');
  return text;
}
