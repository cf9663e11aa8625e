import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/**
 * An S3 that counts bytes and throws them away, so that a benchmark measures the gateway and not a disk. Path style,
 * signatures are not looked at. Bodies up to 64 KiB are kept: a start-up check may read back what it wrote. With `keep` as
 * well those of up to 8 MiB, the newest 64 of them: a picture may be read for its preview.
 * `GET /__stats` answers `{objects, bytes, reads, last: {key, size}}`.
 *
 *     node discard-s3.js PORT [keep]
 */

interface Stored {
  size: number;
  body?: Buffer;
}

const SMALL_BYTES = 64 * 1024;
const KEPT_BYTES = process.argv[3] === 'keep' ? 8 * 1024 * 1024 : SMALL_BYTES;
const MOST_KEPT = 64;
const keptBodies: Stored[] = [];
const uploads = new Map<string, { key: string; parts: Map<number, number> }>();
const objects = new Map<string, Stored>();
let received = 0;
let reads = 0;
let last: { key: string; size: number } | undefined;

const xml = (text: string) => `<?xml version="1.0" encoding="UTF-8"?>\n${text}`;
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

function store(key: string, stored: Stored): void {
  objects.set(key, stored);
  if (stored.size > SMALL_BYTES && stored.body && keptBodies.push(stored) > MOST_KEPT) delete keptBodies.shift()?.body;
  last = { key, size: stored.size };
}

function send(response: ServerResponse, status: number, body = ''): void {
  response.writeHead(status, body ? { 'content-type': 'application/xml', etag: '"0"' } : { etag: '"0"' });
  response.end(body);
}

const missing = (response: ServerResponse, code: string) =>
  send(response, 404, xml(`<Error><Code>${code}</Code><Message>not here</Message></Error>`));

/** The payload of an `aws-chunked` body: sizes in hex, each with its chunk behind it. */
function dechunk(body: Buffer): Buffer {
  const out: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const end = body.indexOf('\r\n', at);
    const size = Number.parseInt(body.toString('latin1', at, end), 16);
    if (end < 0 || !(size > 0)) break;
    out.push(body.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
  return Buffer.concat(out);
}

function put(response: ServerResponse, key: string, query: URLSearchParams, size: number, kept?: Buffer): void {
  const upload = uploads.get(query.get('uploadId') ?? '');
  if (upload) upload.parts.set(Number(query.get('partNumber')), size);
  else if (query.has('uploadId')) {
    missing(response, 'NoSuchUpload');
    return;
  } else if (key.includes('/')) store(key, kept ? { size, body: kept } : { size });
  received += size;
  send(response, 200);
}

function post(response: ServerResponse, key: string, query: URLSearchParams): void {
  const bucket = key.split('/')[0] ?? '';
  const id = query.get('uploadId') ?? randomUUID();
  const names = `<Bucket>${bucket}</Bucket><Key>${escaped(key.slice(bucket.length + 1))}</Key>`;
  const upload = uploads.get(id);
  if (query.has('uploads')) {
    uploads.set(id, { key, parts: new Map() });
    const inner = `${names}<UploadId>${id}</UploadId>`;
    send(response, 200, xml(`<InitiateMultipartUploadResult>${inner}</InitiateMultipartUploadResult>`));
  } else if (query.has('delete')) {
    send(response, 200, xml('<DeleteResult/>'));
  } else if (upload) {
    uploads.delete(id);
    store(upload.key, { size: [...upload.parts.values()].reduce((sum, size) => sum + size, 0) });
    const inner = `${names}<ETag>"0"</ETag>`;
    send(response, 200, xml(`<CompleteMultipartUploadResult>${inner}</CompleteMultipartUploadResult>`));
  } else missing(response, 'NoSuchUpload');
}

function listing(bucket: string, prefix: string): string {
  const contents = [...objects]
    .filter(([key]) => key.startsWith(`${bucket}/${prefix}`))
    .slice(0, 1000)
    .map(([key, { size }]) => {
      const name = escaped(key.slice(bucket.length + 1));
      return `<Contents><Key>${name}</Key><Size>${size}</Size><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>`;
    });
  return `<ListBucketResult><Name>${bucket}</Name><IsTruncated>false</IsTruncated>${contents.join('')}</ListBucketResult>`;
}

function get(request: IncomingMessage, response: ServerResponse, key: string, query: URLSearchParams): void {
  const object = objects.get(key);
  if (!key.includes('/')) {
    if (query.has('uploads')) send(response, 200, xml('<ListMultipartUploadsResult/>'));
    else if (query.has('lifecycle')) missing(response, 'NoSuchLifecycleConfiguration');
    else if (request.method === 'HEAD') send(response, 200);
    else send(response, 200, xml(listing(key, query.get('prefix') ?? '')));
  } else if (!object || (request.method === 'GET' && !object.body)) missing(response, 'NoSuchKey');
  else {
    const modified = 'Thu, 01 Jan 2026 00:00:00 GMT';
    if (request.method === 'GET') reads += 1;
    response.writeHead(200, { 'content-length': object.size, etag: '"0"', 'last-modified': modified });
    response.end(request.method === 'GET' ? object.body : undefined);
  }
}

function route(request: IncomingMessage, response: ServerResponse, size: number, body?: Buffer): void {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const key = decodeURIComponent(url.pathname.slice(1)).replace(/\/$/, '');
  const query = url.searchParams;
  response.setHeader('x-amz-request-id', '1');
  if (key === '__stats') response.end(JSON.stringify({ objects: objects.size, bytes: received, reads, last }));
  else if (request.method === 'PUT') put(response, key, query, size, body);
  else if (request.method === 'POST') post(response, key, query);
  else if (request.method === 'DELETE') {
    if (query.has('uploadId')) uploads.delete(query.get('uploadId') ?? '');
    else objects.delete(key);
    send(response, 204);
  } else get(request, response, key, query);
}

const server = createServer({ requestTimeout: 0, keepAliveTimeout: 120_000 }, (request, response) => {
  let size = 0;
  let kept: Buffer[] | undefined = [];
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= KEPT_BYTES) kept?.push(chunk);
    else kept = undefined;
  });
  request.on('end', () => {
    const chunked = /aws-chunked/.test(request.headers['content-encoding'] ?? '');
    const body = kept && Buffer.concat(kept);
    const decoded = Number(request.headers['x-amz-decoded-content-length'] ?? size);
    route(request, response, decoded, body && chunked ? dechunk(body) : body);
  });
});
server.listen(Number(process.argv[2]), '127.0.0.1', 4096);
