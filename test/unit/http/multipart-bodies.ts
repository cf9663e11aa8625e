import { readMultipart } from '../../../gateway/http/multipart.js';
import { boundaryOf } from '../../../gateway/http/multipart-head.js';

export const BOUNDARY = 'XbX';
export const CONTENT_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

type Piece = string | Buffer;

export function bytesOf(...pieces: Piece[]): Buffer {
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece as string)));
}

/** A whole body of parts, each `head CRLF CRLF content`. */
export function bodyOf(parts: Piece[], boundary = BOUNDARY): Buffer {
  return bytesOf(...parts.flatMap((part) => [`--${boundary}\r\n`, part, '\r\n']), `--${boundary}--\r\n`);
}

export function part(disposition: string, content: Piece = '', ...headers: string[]): Buffer {
  const head = [`Content-Disposition: form-data; ${disposition}`, ...headers].join('\r\n');
  return bytesOf(head, '\r\n\r\n', content);
}

export const file = (content: Piece, name = 'a.txt') => part(`name="file"; filename="${name}"`, content);
export const field = (name: string, value: Piece = 'v') => part(`name="${name}"`, value);

interface Reading {
  bytes: Buffer;
  name: string | undefined;
  mimeType: string | undefined;
}

/** What a body holds, fed in these chunks. Rejects as the parser does. */
export async function read(chunks: readonly Buffer[], contentType = CONTENT_TYPE): Promise<Reading> {
  const boundary = boundaryOf(contentType);
  if (boundary === undefined) throw new Error('not a form');
  const body = readMultipart(boundary, streamOf(chunks));
  const pieces: Buffer[] = [];
  for await (const piece of body.bytes) pieces.push(Buffer.from(piece));
  const { name, mimeType } = body.claims();
  return { bytes: Buffer.concat(pieces), name, mimeType };
}

async function* streamOf(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks;
}
