import { createHash, randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sha256Url } from '../../helpers/bytes.js';
import { PIXEL } from '../../helpers/pixel.js';
import { startUploadServer, type UploadServer } from '../../helpers/upload-server.js';
import { until } from '../../helpers/wait.js';
import { STORES } from '../../helpers/wharf.js';

const LIMIT = 20_000_000;
const OCTETS = 'application/offset+octet-stream';

type Headers = Record<string, string>;

async function send(url: string, method: string, headers: Headers = {}, body?: Buffer): Promise<Response> {
  const all = { 'Tus-Resumable': '1.0.0', ...(body && { 'Content-Type': OCTETS }), ...headers };
  return fetch(url, { method, headers: all, ...(body && { body: new Uint8Array(body) }) });
}

/** Begins an upload; the address that it then has. */
async function begin(url: string, length: number, headers: Headers = {}): Promise<string> {
  const answer = await send(url, 'POST', { 'Upload-Length': String(length), ...headers });
  expect(answer.status).toBe(201);
  expect(answer.headers.get('tus-resumable')).toBe('1.0.0');
  return new URL(answer.headers.get('location') as string, url).href;
}

const patch = (url: string, offset: number | string, body: Buffer, headers: Headers = {}) =>
  send(url, 'PATCH', { 'Upload-Offset': String(offset), ...headers }, body);

const base64 = (text: string) => Buffer.from(text).toString('base64');

async function offsetOf(url: string): Promise<string | null> {
  const answer = await send(url, 'HEAD');
  return answer.status === 200 ? answer.headers.get('upload-offset') : `${answer.status}`;
}

async function refusal(answer: Response): Promise<[number, string]> {
  const { error } = (await answer.json()) as { error: { reason: string } };
  expect(answer.headers.get('tus-resumable')).toBe('1.0.0');
  return [answer.status, error.reason];
}

/** Sends some of a body that it announced as longer, and ends the connection behind its last byte. */
function breakOff(url: string, offset: number, bytes: Buffer, announced: number): Promise<void> {
  return new Promise((resolve) => {
    const request = httpRequest(url, {
      method: 'PATCH',
      headers: {
        'Tus-Resumable': '1.0.0',
        'Content-Type': OCTETS,
        'Upload-Offset': offset,
        'Content-Length': announced,
      },
    });
    // an answer to half a body, if there is one, is not read
    request.on('error', () => resolve());
    request.on('close', () => resolve());
    request.write(bytes, () => request.socket?.end());
  });
}

describe.each(STORES)('uploads by tus into %s', (stores) => {
  let server: UploadServer;

  beforeAll(async () => {
    server = await startUploadServer({ stores, fileLimit: LIMIT });
  });

  // what other tests have begun, so that each sees what itself leaves
  beforeEach(() => server.objects.removeUnfinished(Date.now() + 60_000));

  afterAll(() => server?.stop());

  it('go on where they were, request by request, whatever the sizes', async () => {
    const bytes = randomBytes(12_345_678);
    const { url, uri } = await server.authorize({ digest: sha256Url(bytes) });
    const metadata = `filename ${base64('résumé.bin')},filetype ${base64('application/x-thing')},empty`;
    const location = await begin(url, bytes.length, { 'Upload-Metadata': metadata });
    expect(new URL(location).pathname).toBe(new URL(url).pathname);
    let offset = 0;
    for (const size of [1, 1_000_000, 5_242_879, 5_242_880, 12_345_678]) {
      const chunk = bytes.subarray(offset, offset + size);
      const answer = await patch(location, offset, chunk);
      expect(answer.status).toBe(204);
      offset += chunk.length;
      expect(answer.headers.get('upload-offset')).toBe(String(offset));
      const head = await send(location, 'HEAD');
      expect(head.headers.get('upload-offset')).toBe(String(offset));
      expect(head.headers.get('upload-length')).toBe(String(bytes.length));
      expect(head.headers.get('cache-control')).toBe('no-store');
      expect(await server.digestOf(uri)).toBe(offset === bytes.length ? sha256Url(bytes) : undefined);
      expect(head.headers.get('upload-metadata')).toBe(metadata);
      if (offset < bytes.length) {
        expect(Date.parse(answer.headers.get('upload-expires') as string)).toBeGreaterThan(Date.now());
      } else expect(answer.headers.get('wharf-file-uri')).toBe(uri);
    }
    expect(await server.digestOf(uri)).toBe(sha256Url(bytes));
    const [key, ...others] = (await server.keys()).filter((one) => one.includes(uri.slice(-22)));
    expect([key !== undefined, others]).toEqual([true, []]);
  });

  it('keep what came before a connection broke, to the byte', async () => {
    const bytes = randomBytes(9_000_000);
    const { url, uri } = await server.authorize();
    const location = await begin(url, bytes.length);
    await breakOff(location, 0, bytes.subarray(0, 7_654_321), bytes.length);
    await until(async () => (await offsetOf(location)) === '7654321');
    expect((await patch(location, 7_654_321, bytes.subarray(7_654_321))).status).toBe(204);
    expect(await server.digestOf(uri)).toBe(sha256Url(bytes));
  });

  it.each([0, 1, 700_000, 6_000_000])('take all %i bytes with the creation', async (size) => {
    const bytes = randomBytes(size);
    const { url, uri } = await server.authorize();
    const answer = await send(url, 'POST', { 'Upload-Length': String(size) }, size > 0 ? bytes : undefined);
    expect([answer.status, answer.headers.get('upload-offset')]).toEqual([201, String(size)]);
    expect(await server.digestOf(uri)).toBe(sha256Url(bytes));
    expect(await offsetOf(url)).toBe(String(size));
  });

  it('say at their creation until when they go on', async () => {
    const { url } = await server.authorize();
    const answer = await send(url, 'POST', { 'Upload-Length': '10' });
    expect(Date.parse(answer.headers.get('upload-expires') ?? '')).toBeGreaterThan(Date.now());
  });

  it('say what they can do', async () => {
    const { url } = await server.authorize({ maxSize: 1234 });
    const answer = await fetch(url, { method: 'OPTIONS' });
    expect(answer.status).toBe(204);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'tus-version': '1.0.0',
      'tus-extension': 'creation,creation-with-upload,expiration,checksum,termination',
      'tus-max-size': '1234',
      'tus-checksum-algorithm': 'sha1,sha256,sha384,sha512',
    });
  });

  it('drop bytes whose checksum is another one, and take them when it is theirs', async () => {
    const bytes = randomBytes(7_000_000);
    const { url, uri } = await server.authorize();
    const location = await begin(url, bytes.length);
    const sum = (algorithm: string, data: Buffer) =>
      `${algorithm} ${createHash(algorithm).update(data).digest('base64')}`;
    const first = bytes.subarray(0, 6_000_000);
    const rest = bytes.subarray(6_000_000);
    const wrong = await patch(location, 0, first, { 'Upload-Checksum': sum('sha1', rest) });
    expect(await refusal(wrong)).toEqual([460, 'checksumMismatch']);
    expect(await offsetOf(location)).toBe('0');
    const unknown = await patch(location, 0, first, { 'Upload-Checksum': 'crc1 AAAA' });
    expect(await refusal(unknown)).toEqual([400, 'unsupportedDigestAlgorithm']);
    expect((await patch(location, 0, first, { 'Upload-Checksum': sum('sha1', first) })).status).toBe(204);
    expect(await refusal(await patch(location, 6_000_000, rest, { 'Upload-Checksum': sum('sha256', first) }))).toEqual([
      460,
      'checksumMismatch',
    ]);
    expect(await offsetOf(location)).toBe('6000000');
    expect((await patch(location, 6_000_000, rest, { 'Upload-Checksum': sum('sha256', rest) })).status).toBe(204);
    expect(await server.digestOf(uri)).toBe(sha256Url(bytes));
  });

  it('leave nothing of bytes whose checksum was another one, once they are complete', async () => {
    const bytes = randomBytes(6_000_000);
    const { url, uri } = await server.authorize();
    const location = await begin(url, bytes.length);
    await patch(location, 0, bytes.subarray(0, 1000));
    const headers = { 'Upload-Checksum': `sha1 ${createHash('sha1').digest('base64')}` };
    expect((await patch(location, 1000, bytes.subarray(1000), headers)).status).toBe(460);
    expect((await patch(location, 1000, bytes.subarray(1000))).status).toBe(204);
    expect(await server.digestOf(uri)).toBe(sha256Url(bytes));
    await server.keys();
    expect(await server.objects.removeUnfinished(Date.now() + 60_000)).toBe(0);
  });

  it('end when they are told to, and their ticket is free again', async () => {
    const { url, uri } = await server.authorize();
    const location = await begin(url, 6_000_000);
    await patch(location, 0, randomBytes(5_500_000));
    expect((await send(location, 'DELETE')).status).toBe(204);
    expect(await offsetOf(location)).toBe('404');
    expect(await refusal(await patch(location, 5_500_000, randomBytes(1)))).toEqual([404, 'uploadNotFound']);
    expect((await server.keys()).filter((key) => key.includes(uri.slice(-22)))).toEqual([]);
    expect(await server.objects.removeUnfinished(Date.now() + 60_000)).toBe(0);
    const again = await begin(url, 5);
    expect((await patch(again, 0, Buffer.from('hello'))).status).toBe(204);
    expect(await refusal(await send(again, 'DELETE'))).toEqual([409, 'alreadyUploaded']);
    expect(await server.digestOf(uri)).toBe(sha256Url(Buffer.from('hello')));
  });

  it('are over when another one is begun on their ticket', async () => {
    const { url, uri } = await server.authorize();
    const first = await begin(url, 5);
    await patch(first, 0, Buffer.from('he'));
    const second = await begin(url, 5);
    expect(await offsetOf(first)).toBe('404');
    expect(await refusal(await patch(first, 2, Buffer.from('llo')))).toEqual([404, 'uploadNotFound']);
    expect((await patch(second, 0, Buffer.from('world'))).status).toBe(204);
    expect(await server.digestOf(uri)).toBe(sha256Url(Buffer.from('world')));
    expect([await offsetOf(second), await offsetOf(url)]).toEqual(['5', '5']);
    // its client would take the other's file, of the same size, for its own
    expect(await offsetOf(first)).toBe('404');
  });

  it('are over, and not complete, when the file comes in another way', async () => {
    const { url } = await server.authorize();
    const location = await begin(url, 5);
    expect((await fetch(url, { method: 'PUT', body: 'world' })).status).toBe(201);
    expect([await offsetOf(location), await offsetOf(url)]).toEqual(['404', '5']);
  });

  it.each<[string, object, Headers, number, string]>([
    ['a length over limits.file', {}, { 'Upload-Length': String(LIMIT + 1) }, 413, 'maxSizeExceeded'],
    ['a length of 2^63', {}, { 'Upload-Length': '9223372036854775808' }, 413, 'maxSizeExceeded'],
    ['a length over the most of the argument', { maxSize: 9 }, { 'Upload-Length': '10' }, 413, 'maxSizeExceeded'],
    ['another length than announced', { size: 9 }, { 'Upload-Length': '8' }, 422, 'sizeMismatch'],
    ['a negative length', {}, { 'Upload-Length': '-1' }, 400, 'malformedRequest'],
    ['a length in words', {}, { 'Upload-Length': '1e3' }, 400, 'malformedRequest'],
    ['no length', {}, {}, 400, 'malformedRequest'],
    ['a length to come', {}, { 'Upload-Defer-Length': '1' }, 400, 'malformedRequest'],
    ['a part of several', {}, { 'Upload-Length': '5', 'Upload-Concat': 'partial' }, 400, 'malformedRequest'],
    [
      'a key without a value in base64',
      {},
      { 'Upload-Length': '5', 'Upload-Metadata': 'a ?' },
      400,
      'malformedRequest',
    ],
    ['a key twice', {}, { 'Upload-Length': '5', 'Upload-Metadata': 'a,a' }, 400, 'malformedRequest'],
    [
      'a name that is not UTF-8',
      {},
      { 'Upload-Length': '5', 'Upload-Metadata': 'filename /w==' },
      400,
      'malformedRequest',
    ],
    [
      'too much metadata',
      {},
      { 'Upload-Length': '5', 'Upload-Metadata': `a ${'A'.repeat(4096)}` },
      400,
      'malformedRequest',
    ],
    [
      'a type that the argument does not take',
      { accept: ['image/png'] },
      { 'Upload-Length': '5', 'Upload-Metadata': `filetype ${base64('application/pdf')}` },
      415,
      'mimeTypeNotAccepted',
    ],
    ['another version', {}, { 'Upload-Length': '5', 'Tus-Resumable': '0.2.2' }, 412, 'tusVersionUnsupported'],
  ])('are refused at their creation: %s', async (_, intent, headers, status, reason) => {
    const { url } = await server.authorize(intent);
    const answer = await send(url, 'POST', headers);
    expect(await refusal(answer)).toEqual([status, reason]);
    expect(answer.headers.get('tus-version')).toBe(status === 412 ? '1.0.0' : null);
    expect(await offsetOf(url)).toBe('404');
  });

  it.each([
    ['1e29', 'Upload-Length must be a number of bytes, in at most 30 digits, and is "1e29"'],
    ['9'.repeat(31), `Upload-Length must be a number of bytes, in at most 30 digits, and is "${'9'.repeat(31)}"`],
    [`1${'0'.repeat(29)}`, '(more than 9 PB)'],
  ])('say what is wrong with a length of %s', async (length, text) => {
    const { url } = await server.authorize();
    const answer = await send(url, 'POST', { 'Upload-Length': length });
    expect(JSON.parse(await answer.text()).error.message).toContain(text);
  });

  it.each<[string, Headers, number, string]>([
    ['a wrong offset', { 'Upload-Offset': '3' }, 409, 'offsetMismatch'],
    ['an offset of 2^63', { 'Upload-Offset': '9223372036854775808' }, 413, 'maxSizeExceeded'],
    ['a negative offset', { 'Upload-Offset': '-1' }, 400, 'malformedRequest'],
    ['another type', { 'Upload-Offset': '2', 'Content-Type': 'text/plain' }, 415, 'unsupportedMediaType'],
    ['a coding', { 'Upload-Offset': '2', 'Content-Encoding': 'gzip' }, 415, 'unsupportedCoding'],
    ['more than is left', { 'Upload-Offset': '6' }, 413, 'maxSizeExceeded'],
  ])('refuse bytes with %s, and stay as they are', async (_, headers, status, reason) => {
    const { url } = await server.authorize();
    const location = await begin(url, 9);
    await patch(location, 0, Buffer.from('ab'));
    expect(await refusal(await send(location, 'PATCH', headers, Buffer.from('cdef')))).toEqual([status, reason]);
    expect(await offsetOf(location)).toBe('2');
  });

  it('refuse more bytes than announced where only their end tells', async () => {
    const { url } = await server.authorize();
    const location = await begin(url, 9);
    const body = ReadableStream.from([new Uint8Array(6), new Uint8Array(6)]);
    const headers = { 'Tus-Resumable': '1.0.0', 'Upload-Offset': '0', 'Content-Type': OCTETS };
    const answer = await fetch(location, { method: 'PATCH', headers, body, duplex: 'half' } as RequestInit);
    expect(await refusal(answer)).toEqual([413, 'maxSizeExceeded']);
    expect(Number(await offsetOf(location))).toBeLessThan(9);
  });

  it('judge a file by its bytes when they are complete, and leave nothing of one that is refused', async () => {
    const { url, uri } = await server.authorize({ accept: ['image/png'] });
    const location = await begin(url, 9, { 'Upload-Metadata': `filename ${base64('a.png')}` });
    await patch(location, 0, Buffer.from('%PDF-'));
    expect(await refusal(await patch(location, 5, Buffer.from('1.7\n')))).toEqual([415, 'mimeTypeNotAccepted']);
    expect(await offsetOf(location)).toBe('404');
    expect((await server.keys()).filter((key) => key.includes(uri.slice(-22)))).toEqual([]);
    const again = await begin(url, PIXEL.length);
    await patch(again, 0, PIXEL.subarray(0, 3));
    expect((await patch(again, 3, PIXEL.subarray(3))).status).toBe(204);
    expect(await server.digestOf(uri)).toBe(sha256Url(PIXEL));
  });

  it('are nothing to those without their ticket, and nothing without a beginning', async () => {
    const unknown = `${server.url}/u/${'A'.repeat(43)}`;
    expect(await refusal(await send(unknown, 'POST', { 'Upload-Length': '5' }))).toEqual([404, 'fileNotFound']);
    expect(await refusal(await patch(unknown, 0, Buffer.from('hello')))).toEqual([404, 'fileNotFound']);
    expect(await offsetOf(unknown)).toBe('404');
    const { url } = await server.authorize();
    expect(await refusal(await patch(url, 0, Buffer.from('hello')))).toEqual([404, 'uploadNotFound']);
  });

  it('of two requests at once let one win, whole (G37)', async () => {
    const { url, uri } = await server.authorize();
    const location = await begin(url, 8_000_000);
    const files = [randomBytes(8_000_000), randomBytes(8_000_000)];
    const answers = await Promise.all(files.map((bytes) => patch(location, 0, bytes)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 204).length).toBeLessThanOrEqual(1);
    expect(statuses.filter((status) => status !== 204 && status !== 409)).toEqual([]);
    if (statuses.includes(204))
      expect(await server.digestOf(uri)).toBe(sha256Url(files[statuses.indexOf(204)] as Buffer));
  });

  it('of very small requests end where the store would do too much again for them, and nowhere else', async () => {
    const { url } = await server.authorize();
    const location = await begin(url, 10_000_000);
    let offset = 4_000_000;
    expect((await patch(location, 0, randomBytes(offset))).status).toBe(204);
    let answer: Response;
    do {
      answer = await patch(location, offset, Buffer.from('x'));
      offset += 1;
    } while (answer.status === 204 && offset < 4_000_060);
    if (stores === 's3+redis') expect(await refusal(answer)).toEqual([400, 'piecesTooSmall']);
    else expect(answer.status).toBe(204);
    expect((await send(location, 'DELETE')).status).toBe(stores === 's3+redis' ? 404 : 204);
    expect(server.budget.used).toBe(0);
  });

  it('refuse everything after their completion', async () => {
    const { url } = await server.authorize();
    const location = await begin(url, 5);
    await patch(location, 0, Buffer.from('hello'));
    expect(await refusal(await patch(location, 5, Buffer.from('!')))).toEqual([409, 'alreadyUploaded']);
    expect(await refusal(await send(url, 'POST', { 'Upload-Length': '5' }))).toEqual([409, 'alreadyUploaded']);
    expect(await offsetOf(location)).toBe('5');
  });

  it('leave a form, a raw body and a method in another header as they are', async () => {
    const { url, uri } = await server.authorize();
    const location = await begin(url, 5);
    expect((await patch(location, 0, Buffer.from('he'))).status).toBe(204);
    const override = { 'X-HTTP-Method-Override': 'PATCH', 'Upload-Offset': '2' };
    expect((await send(location, 'POST', override, Buffer.from('l'))).status).toBe(204);
    expect((await fetch(url, { method: 'PUT', body: 'raw' })).status).toBe(201);
    expect(await server.digestOf(uri)).toBe(sha256Url(Buffer.from('raw')));
    expect(await refusal(await patch(location, 3, Buffer.from('lo')))).toEqual([409, 'alreadyUploaded']);
    expect((await fetch(url, { method: 'PATCH' })).status).toBe(405);
  });
});
