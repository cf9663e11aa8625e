import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ObjectStore } from '../../../gateway/ports/object-store.js';
import { close, listen } from '../../helpers/loopback.js';
import { openStore } from './s3-buckets.js';

const NEVER = new AbortController().signal;
const BYTES = Buffer.from('0123456789');

describe('an S3 that answers otherwise than it should', () => {
  let server: Server;
  let objects: ObjectStore;
  let answer: (response: ServerResponse) => void;
  /** Bytes of a body without an end that were sent. */
  let sent: number;

  beforeEach(async () => {
    sent = 0;
    server = createServer((request, response) => {
      request.resume();
      response.on('error', () => undefined);
      answer(response);
    });
    objects = await openStore('odd-answers', { endpoint: `http://127.0.0.1:${await listen(server)}` });
  });
  afterEach(async () => {
    await objects.close();
    await close(server);
  });

  const OF_S3 = { etag: '"1"', 'content-length': BYTES.length };
  const whole = (response: ServerResponse) => response.writeHead(200, OF_S3).end(BYTES);
  const endless = (response: ServerResponse, status: number) => {
    response.writeHead(status, { 'content-type': 'application/xml' });
    const more = Buffer.alloc(64 * 1024, 'x');
    const go = () => {
      while (!response.destroyed) {
        sent += more.length;
        if (!response.write(more)) return void response.once('drain', go);
      }
    };
    go();
  };
  const read = async (range?: { start: number; end: number }) => {
    const found = await objects.get('f/x', { signal: NEVER, ...(range && { range }) });
    return found.kind === 'found' ? { ...found.stat, text: (await buffer(found.body)).toString() } : found;
  };

  it.each([
    [{ start: 0, end: 3 }, '0123'],
    [{ start: 4, end: 6 }, '456'],
    [{ start: 7, end: 100 }, '789'],
    [{ start: 0, end: 9 }, '0123456789'],
  ])('as one that ignores ranges: only the bytes of %j are read', async (range, text) => {
    answer = whole;
    expect(await read(range)).toMatchObject({ size: 10, text });
  });

  it('with its page for every path, as a console does: the store is not well, before a file is lost', async () => {
    const page = { 'content-type': 'text/html; charset=utf-8', 'content-length': 612 };
    answer = (response) => response.writeHead(200, page).end();
    const error = { code: 'store_unavailable', facts: { refused: true }, cause: { name: 'NotS3' } };
    await expect(objects.check()).rejects.toMatchObject(error);
    await expect(objects.prepare()).rejects.toThrow(/ cannot be reached: .*text\/html.*\. /);
  });

  it.each([
    ['BucketAlreadyExists', 200, true],
    ['OperationAborted', 200, true],
    ['BucketAlreadyExists', 403, false],
  ])(
    'that a bucket cannot be made (%s), and to a look with %i: it is there for a second replica, unless it is of another account',
    async (code, status, isOurs) => {
      const statuses = [404, 409, status];
      answer = (response) => {
        const now = statuses.shift();
        response.writeHead(now ?? 500).end(now === 409 ? `<Error><Code>${code}</Code></Error>` : undefined);
      };
      if (isOurs) await objects.prepare();
      else await expect(objects.prepare()).rejects.toThrow(`cannot be created: ${code}, HTTP 409`);
    },
  );

  it('with the type of a page and no body to the look at the bucket, as stores on some frameworks do: the store is well', async () => {
    answer = (response) => response.writeHead(200, { 'content-type': 'text/html', 'content-length': 0 }).end();
    await objects.check();
  });

  it.each([
    ['retry-after', '10'],
    ['x-amz-retry-after', '10000'],
  ])('as one that asks for pauses longer than a step (%s): it is not called silent', async (name, pause) => {
    const hasty = await openStore(
      'odd-answers',
      { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
      9000,
    );
    const text = '<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>';
    answer = (response) => response.writeHead(503, { 'content-type': 'application/xml', [name]: pause }).end(text);
    await expect(hasty.remove('f/x')).rejects.toMatchObject({ code: 'store_unavailable', cause: { name: 'SlowDown' } });
    await hasty.close();
  });

  it('as one that ignores ranges: no range begins behind the end', async () => {
    answer = whole;
    expect(await read({ start: 10, end: 12 })).toEqual({ kind: 'range-not-satisfiable', size: 10 });
  });

  it.each(['bytes 1-4/10', 'bytes 0-3/*', 'bytes 0-4/10', 'nonsense'])(
    'with the range "%s": a failure',
    async (range) => {
      answer = (response) =>
        response.writeHead(206, { ...OF_S3, 'content-range': range, 'content-length': 4 }).end('0123');
      await expect(read({ start: 0, end: 3 })).rejects.toMatchObject({ code: 'store_unavailable' });
      await expect(read()).rejects.toMatchObject({ code: 'store_unavailable' });
    },
  );

  it.each([
    ['in another coding', { ...OF_S3, 'content-encoding': 'gzip' }],
    ['without an ETag, as a page of a proxy', { 'content-length': BYTES.length }],
    ['without a length', { etag: '"1"' }],
  ])('%s: a failure, and never a file, an empty one or none', async (_, head) => {
    answer = (response) => response.writeHead(200, head).end(BYTES);
    const asked = [
      () => read(),
      () => read({ start: 0, end: 3 }),
      () => objects.getWhole('f/x', BYTES.length, NEVER),
      () => objects.head('f/x'),
    ];
    for (const ask of asked) await expect(ask()).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it('with an object of no announced length: a failure at its first bytes', async () => {
    answer = (response) => endless(response, 200);
    await expect(read()).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it.each([
    ['an error', 500, () => objects.get('f/x', { signal: NEVER })],
    ['a listing', 200, () => objects.keysAfter('f/', '', 10)],
  ])('with %s without an end: it is given up', async (_, status, ask) => {
    answer = (response) => endless(response, status);
    await expect(ask()).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  it('with an error of 100 KB: it is not parsed, but given up after 64 KiB', async () => {
    answer = (response) => response.writeHead(400).end(`<Error>${'<a/>'.repeat(25_000)}</Error>`);
    const failure = await objects.get('f/x', { signal: NEVER }).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'store_unavailable',
      cause: { message: expect.stringContaining('longer than 65536 bytes') },
    });
  });

  it.each([
    ['a page of a proxy', 200, '<html>Back soon.</html>'],
    ['an error', 200, '<Error><Code>InternalError</Code><Message>no</Message></Error>'],
    ['nothing', 204, ''],
  ])('to a PUT with success and %s: nothing counts as stored', async (_, status, text) => {
    answer = (response) => response.writeHead(status).end(text);
    const writer = await objects.create('f/x', NEVER);
    await expect(writer.writeLast(BYTES)).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it.each([301, 307])(
    'with a redirect (%i): it is not followed, and the region that it names is told',
    async (status) => {
      let followed = 0;
      const inside = createServer((_, response) => {
        followed += 1;
        response.end();
      });
      const location = `http://127.0.0.1:${await listen(inside)}/secret`;
      const refusal = '<Error><Code>PermanentRedirect</Code><Message>Elsewhere.</Message></Error>';
      answer = (response) =>
        response
          .writeHead(status, { location, 'x-amz-bucket-region': 'eu-central-1', 'content-type': 'application/xml' })
          .end(response.req.method === 'HEAD' ? undefined : refusal);
      await expect(objects.prepare()).rejects.toThrow(
        `cannot be reached: PermanentRedirect, HTTP ${status}. The bucket is in another region than "us-east-1": set objects.region to "eu-central-1".`,
      );
      await expect(objects.get('f/x', { signal: NEVER })).rejects.toMatchObject({ code: 'store_unavailable' });
      const writer = await objects.create('f/x', NEVER);
      await expect(writer.writeLast(BYTES)).rejects.toMatchObject({ code: 'store_unavailable' });
      expect(followed).toBe(0);
      await close(inside);
    },
  );

  it('to the end of an upload with success and a page of a proxy: nothing counts as stored', async () => {
    const begun = '<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>';
    const answers: [RegExp, (response: ServerResponse) => void][] = [
      [/^HEAD/, (response) => response.writeHead(404).end()],
      [/[?]uploads/, (response) => response.end(begun)],
      [/^PUT/, (response) => response.writeHead(200, { etag: '"1"' }).end()],
      [/^POST/, (response) => response.end('<html>Back soon.</html>')],
    ];
    answer = (response) => {
      const { method, url } = response.req;
      answers.find(([request]) => request.test(`${method} ${url}`))?.[1](response);
    };
    const writer = await objects.create('f/x', NEVER);
    await writer.write(BYTES);
    await expect(writer.commit()).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it('with the same page of a listing again: a failure instead of asking for ever', async () => {
    const page = '<IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>';
    answer = (response) =>
      response
        .writeHead(200, { 'content-type': 'application/xml' })
        .end(`<ListBucketResult>${page}</ListBucketResult>`);
    const all = async () => {
      for await (const { key } of objects.list('f/')) expect(key).toBeDefined();
    };
    await expect(all()).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});
