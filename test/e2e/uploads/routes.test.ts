import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sha256Url } from '../../helpers/bytes.js';
import { PRINCIPAL } from '../../helpers/file-parts.js';
import { startUploadServer, type UploadServer } from '../../helpers/upload-server.js';
import { until } from '../../helpers/wait.js';
import { STORES } from '../../helpers/wharf.js';

const HELLO = Buffer.from('Hello world!');
const HELLO_DIGEST = 'wFNeS-K3n_2TKRMFQ2v4iTFOSj-uwF7P_Lt98xrZ5Ro';
/** As `Content-Digest` writes it, and another one. */
const RIGHT = `sha-256=:${Buffer.from(HELLO_DIGEST, 'base64url').toString('base64')}:`;
const WRONG = `sha-256=:${'A'.repeat(43)}=:`;

/** A form as `fetch` writes it. */
const form = (bytes: Buffer, name = 'a.txt', type = 'text/plain') => {
  const data = new FormData();
  data.set('token', 'ignored');
  data.set('file', new File([new Uint8Array(bytes)], name, { type }));
  data.set('comment', 'after the file');
  return data;
};

describe.each(STORES)('uploads over HTTP into %s', (stores) => {
  let server: UploadServer;

  beforeAll(async () => {
    server = await startUploadServer({ stores, fileLimit: 20_000_000 });
  });

  afterAll(() => server?.stop());

  const reasonOf = async (response: Response) =>
    [response.status, ((await response.json()) as { error: { reason: string } }).error.reason] as const;

  it('answer a form with 201 and the file, without any credential (2631-30, 2631-35)', async () => {
    const { url, uri } = await server.authorize();
    const response = await fetch(url, { method: 'POST', body: form(HELLO) });
    expect(response.status).toBe(201);
    expect(await response.json()).toEqual({
      status: 'completed',
      file: {
        uri,
        name: 'a.txt',
        mimeType: 'text/plain',
        size: 12,
        digest: { algorithm: 'sha-256', value: HELLO_DIGEST },
      },
    });
    expect(await server.digestOf(uri)).toBe(HELLO_DIGEST);
  });

  it.each(['PUT', 'POST'])('take a raw body by %s, of several parts and without a length', async (method) => {
    const bytes = Buffer.alloc(12_345_678, 'wharf');
    const { url, uri } = await server.authorize({ size: bytes.length, digest: sha256Url(bytes), name: 'big.bin' });
    const pieces = async function* () {
      for (let at = 0; at < bytes.length; at += 1_000_000) yield new Uint8Array(bytes.subarray(at, at + 1_000_000));
    };
    const response = await fetch(url, { method, body: ReadableStream.from(pieces()), duplex: 'half' } as RequestInit);
    expect(response.status).toBe(201);
    expect(await server.digestOf(uri)).toBe(sha256Url(bytes));
  });

  it.each([
    ['attachment; filename="sales report.txt"', {}, 'sales report.txt'],
    ['attachment; filename=report.txt', {}, 'report.txt'],
    ['attachment; filename="x.txt"; filename*=UTF-8\'\'%C3%BCber.txt', {}, 'über.txt'],
    [Buffer.from('attachment; filename="über.txt"').toString('latin1'), {}, 'über.txt'],
    ['attachment; filename="../../etc/passwd.txt"', {}, 'passwd.txt'],
    ['attachment; filename="report.txt"', { name: 'asked-for.txt' }, 'asked-for.txt'],
    ['attachment; filename=', {}, 'upload-1.txt'],
  ])('call a raw body by its Content-Disposition: %s', async (header, intent, name) => {
    const { url } = await server.authorize(intent);
    const headers = { 'Content-Type': 'text/plain', 'Content-Disposition': header };
    const response = await fetch(url, { method: 'PUT', body: HELLO, headers });
    expect(await response.json()).toMatchObject({ file: { name } });
  });

  it('409 for a second file, whatever its bytes (2631-05)', async () => {
    const { url, uri } = await server.authorize();
    await fetch(url, { method: 'PUT', body: HELLO });
    expect(await reasonOf(await fetch(url, { method: 'PUT', body: 'other' }))).toEqual([409, 'alreadyUploaded']);
    expect(await reasonOf(await fetch(url, { method: 'POST', body: form(HELLO) }))).toEqual([409, 'alreadyUploaded']);
    expect(await server.digestOf(uri)).toBe(HELLO_DIGEST);
  });

  it.each<[string, object, NonNullable<RequestInit['body']>, number, string]>([
    [
      'other bytes (2631-36)',
      { digest: HELLO_DIGEST },
      Buffer.from([0, 1, 2, 0xfd, 0xfe, 0xff]),
      422,
      'digestMismatch',
    ],
    ['a body that is too short (2631-37)', { size: 13 }, HELLO, 422, 'sizeMismatch'],
    ['a body that is too long (2631-37)', { size: 11 }, form(HELLO), 422, 'sizeMismatch'],
    ['another type than the ticket accepts (2631-38)', { accept: ['image/png'] }, HELLO, 415, 'mimeTypeNotAccepted'],
    [
      'bytes of another type than announced (2631-60)',
      { mimeType: 'image/png' },
      Buffer.from('%PDF-1.7\n'),
      415,
      'mimeTypeNotAccepted',
    ],
    ['a body over the largest size (2631-24)', { maxSize: 11 }, HELLO, 413, 'maxSizeExceeded'],
    ['over limits.file', {}, Buffer.alloc(20_000_001), 413, 'maxSizeExceeded'],
    ['over limits.file, in a form', {}, form(Buffer.alloc(20_000_001)), 413, 'maxSizeExceeded'],
    ['a form without a file', {}, new FormData(), 400, 'missingFilePart'],
  ])(
    '%s: refuse what does not fit, store nothing, and can be tried again',
    async (_row, intent, body, status, reason) => {
      const { url, uri } = await server.authorize(intent);
      const before = await server.keys();
      if (body instanceof FormData && !body.has('file')) body.set('x', 'y');
      expect(await reasonOf(await fetch(url, { method: 'POST', body }))).toEqual([status, reason]);
      expect(await server.keys()).toEqual(before);
      expect(await server.library.resolve(uri, PRINCIPAL)).toEqual({ kind: 'pending' });
      expect(server.budget.used).toBe(0);
    },
  );

  it('429 with a time to try again while four others are under way at one link', async () => {
    const { url } = await server.authorize();
    const others = Array.from({ length: 4 }, () => {
      const other = request(url, { method: 'PUT' });
      other.on('error', () => undefined);
      other.write('begun');
      return other;
    });
    // another digest: what gets in before them ends without a file
    const tried = () => fetch(url, { method: 'PUT', body: HELLO, headers: { 'Content-Digest': WRONG } });
    let refused = await tried();
    await until(async () => {
      if (refused.status !== 429) refused = await tried();
      return refused.status === 429;
    });
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(await reasonOf(refused)).toEqual([429, 'tooManyTries']);
    for (const other of others) other.destroy();
  });

  it('name limit, allowed and actual size (2631-57)', async () => {
    const { url } = await server.authorize({ maxSize: 11 });
    const response = await fetch(url, { method: 'PUT', body: HELLO });
    expect(((await response.json()) as { error: object }).error).toMatchObject({
      code: 'upload_too_large',
      reason: 'maxSizeExceeded',
      limit: 'maxSize',
      maxSize: 11,
      actualSize: 12,
      message: 'The file is larger than the 11 bytes allowed (12 bytes).',
    });
  });

  it.each([
    ['a raw body', HELLO],
    ['a form', form(HELLO)],
  ])('name the list that keeps a type out, of %s', async (_how, body) => {
    const { url } = await server.authorize({ accept: ['image/png'] });
    const refused = await fetch(url, { method: 'POST', body });
    expect(((await refused.json()) as { error: object }).error).toMatchObject({
      code: 'upload_type_refused',
      limit: 'accept',
      accept: ['image/png'],
      actual: 'text/plain',
    });
  });

  it.each([
    [{ maxSize: 11 }, /^The file is larger than the 11 bytes allowed \(\S+ \S+ so far\)\.$/],
    [{ size: 11 }, /^The file has another size than announced: \d+ bytes so far instead of 11\.$/],
  ])('say of a file that was not read to its end that its size is that so far: %j', async (intent, message) => {
    const { url } = await server.authorize(intent);
    const response = await fetch(url, { method: 'POST', body: form(Buffer.alloc(200_000)) });
    expect(((await response.json()) as { error: object }).error).toMatchObject({
      message: expect.stringMatching(message),
    });
  });

  it('404 for a link that never was, 405 for other methods, and no CORS (BASE-13)', async () => {
    const { url } = await server.authorize();
    expect(await reasonOf(await fetch(`${server.url}/u/nothing`, { method: 'PUT', body: HELLO }))).toEqual([
      404,
      'fileNotFound',
    ]);
    const other = await fetch(url, { method: 'OPTIONS', headers: { 'access-control-request-method': 'PUT' } });
    expect(other.status).toBe(405);
    expect(other.headers.get('allow')).toBe('GET, HEAD, POST, PUT');
    expect([...other.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    const foreign = { origin: 'https://evil.example' };
    expect((await fetch(url, { method: 'POST', body: form(HELLO), headers: foreign })).status).toBe(403);
  });

  it.each<[string, Record<string, string>, number, string]>([
    ['compressed', { 'content-encoding': 'gzip' }, 415, 'unsupportedCoding'],
    ['a part of a file', { 'content-range': 'bytes 0-5/12' }, 400, 'rangeNotSupported'],
    ['with a wrong Content-Digest', { 'content-digest': WRONG }, 422, 'digestMismatch'],
    ['with a wrong Repr-Digest', { 'repr-digest': `sha-512=:AA==:, ${WRONG}` }, 422, 'digestMismatch'],
    ['with a right digest before a wrong one', { 'content-digest': `${RIGHT}, ${WRONG}` }, 422, 'digestMismatch'],
    ['with a wrong digest before a right one', { 'content-digest': `${WRONG},${RIGHT}` }, 422, 'digestMismatch'],
    [
      'with a digest that is cut off behind a right one',
      { 'content-digest': `${RIGHT}, sha-256=:AAAA:` },
      400,
      'unsupportedDigestAlgorithm',
    ],
    [
      'with a digest that is not checked',
      { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' },
      400,
      'unsupportedDigestAlgorithm',
    ],
    ['with a checksum of S3', { 'x-amz-checksum-crc32': 'AAAAAA==' }, 400, 'unsupportedDigestAlgorithm'],
    ['of another multipart type', { 'content-type': 'multipart/mixed; boundary=x' }, 415, 'unsupportedMediaType'],
    ['of a form without a boundary', { 'content-type': 'multipart/form-data' }, 400, 'malformedMultipart'],
  ])('refuse a body %s', async (_what, headers, status, reason) => {
    const { url } = await server.authorize();
    expect(await reasonOf(await fetch(url, { method: 'PUT', body: HELLO, headers }))).toEqual([status, reason]);
  });

  it('take a right Content-Digest', async () => {
    const { url } = await server.authorize();
    const headers = { 'content-digest': `${RIGHT}, ${RIGHT}` };
    expect((await fetch(url, { method: 'PUT', body: HELLO, headers })).status).toBe(201);
  });

  it('say nothing of a ticket in an answer', async () => {
    const { url, ticket } = await server.authorize();
    for (const method of ['GET', 'PUT', 'PUT', 'DELETE']) {
      const response = await fetch(url, method === 'PUT' ? { method, body: HELLO } : { method });
      expect(await response.text()).not.toContain(ticket);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(response.headers.get('referrer-policy')).toBe('no-referrer');
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it('are counted', async () => {
    const before = await server.outcomes();
    const [taken, small] = [await server.authorize(), await server.authorize({ maxSize: HELLO.length - 1 })];
    const statuses = [];
    for (const { url } of [taken, taken, small, small]) {
      statuses.push((await fetch(url, { method: 'POST', body: form(HELLO) })).status);
    }
    expect(statuses).toEqual([201, 409, 413, 413]);
    const after = await server.outcomes();
    const added = (outcome: string) => (after[outcome] ?? 0) - (before[outcome] ?? 0);
    expect([added('stored'), added('refused')]).toEqual([1, 3]);
    expect(server.open.count).toBe(0);
  });
});
