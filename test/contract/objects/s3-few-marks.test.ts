import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ObjectStore } from '../../../gateway/ports/object-store.js';
import { close, listen } from '../../helpers/loopback.js';
import { fetchBytes, keysOf, store } from '../object-store.contract.js';
import { openStore } from './s3-buckets.js';

const NEVER = new AbortController().signal;
const UNAVAILABLE = { code: 'store_unavailable' };
const BUCKET = 'few-marks';

const tagOf = (bytes: Buffer) => `"${createHash('md5').update(bytes).digest('hex')}"`;

/** A store as its author may have written it for other clients: every answer is right, and says as little as it may. */
class ShortSpokenS3 {
  readonly objects = new Map<string, Buffer>();
  readonly parts = new Map<number, Buffer>();
  /** Headers of answers that give an object, or tell of one. */
  found = (bytes: Buffer): Record<string, string> => ({ etag: tagOf(bytes) });
  /** Answers in the place of the store. */
  instead: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await buffer(request);
    if (this.instead(request, response)) return;
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://s3');
    const key = pathname.slice(`/${BUCKET}/`.length);
    const number = searchParams.get('partNumber');
    const object = this.objects.get(key);
    switch (true) {
      case key === '':
        return void response.end(this.#list(searchParams));
      case request.method === 'POST' && searchParams.has('uploads'):
        return void response.end('<Result><UploadId>u</UploadId></Result>');
      case request.method === 'POST':
        return void this.#complete(key, bytes.toString(), response);
      case number !== null:
        this.parts.set(Number(number), bytes);
        return void response.end();
      case request.method === 'PUT':
        this.objects.set(key, bytes);
        return void response.end();
      case searchParams.has('uploadId'): {
        const parts = [...this.parts].map(
          ([at, part]) =>
            `<Part><PartNumber>${at}</PartNumber><ETag>${tagOf(part)}</ETag><Size>${part.length}</Size></Part>`,
        );
        return void response.end(`<List><UploadId>u</UploadId>${parts.join('')}</List>`);
      }
      case object === undefined:
        return void response.writeHead(404).end();
      default:
        response.writeHead(200, { ...this.found(object as Buffer), 'content-length': (object as Buffer).length });
        return void response.end(request.method === 'HEAD' ? undefined : object);
    }
  }

  #list(query: URLSearchParams): string {
    if (query.has('uploads')) return `<List><Bucket>${BUCKET}</Bucket></List>`;
    const keys = [...this.objects.keys()].sort().filter((key) => key > (query.get('start-after') ?? ''));
    const page = keys.slice(0, Number(query.get('max-keys')));
    return `<List><Name>${BUCKET}</Name>${page.map((key) => `<Contents><Key>${key}</Key></Contents>`).join('')}</List>`;
  }

  #complete(key: string, text: string, response: ServerResponse): void {
    const parts = [...this.parts.values()];
    const told = [...text.matchAll(/<ETag>(?:&quot;|")(\w+)/g)].map(([, tag]) => `"${tag}"`);
    if (told.join() !== parts.map(tagOf).join())
      return void response.writeHead(400).end('<Error><Code>InvalidPart</Code></Error>');
    this.objects.set(key, Buffer.concat(parts));
    response.end('<Result><Location>here</Location></Result>');
  }
}

describe('an S3 that says little', () => {
  let server: Server;
  let s3: ShortSpokenS3;
  let objects: ObjectStore;

  beforeEach(async () => {
    s3 = new ShortSpokenS3();
    server = createServer((request, response) => void s3.answer(request, response));
    objects = await openStore(BUCKET, { endpoint: `http://127.0.0.1:${await listen(server)}` });
  });
  afterEach(async () => {
    await objects.close();
    await close(server);
  });

  const isPart = ({ url = '' }: IncomingMessage, number: number) => url.includes(`partNumber=${number}&`);
  const isPut = ({ method }: IncomingMessage) => method === 'PUT';
  /** As of a web server that shows a file in the place of what it cannot reach. */
  const page = (when: (request: IncomingMessage) => boolean) => {
    s3.instead = (request, response) => {
      if (!when(request)) return false;
      response.writeHead(200, { etag: '"5e1c"', 'content-length': 4 }).end('Soon');
      return true;
    };
  };

  it.each([
    ['no bytes', 0],
    ['a few bytes', 10],
    ['two parts and a bit', 2 * 5 * 1024 * 1024 + 1],
  ])('and tells no ETag of what it has stored keeps an object of %s', async (_, size) => {
    const bytes = Buffer.alloc(size, 'abcdefg');
    const mark = await store(objects, 'f/x', bytes);
    expect((await fetchBytes(objects, 'f/x')).equals(bytes)).toBe(true);
    expect(await objects.head('f/x')).toMatchObject({ size, mark });
  });

  it('and knows no ETags at all, but gives each request an id, is read', async () => {
    s3.found = () => ({ 'x-amz-request-id': 'tx1' });
    s3.objects.set('f/x', Buffer.from('0123'));
    expect((await fetchBytes(objects, 'f/x')).toString()).toBe('0123');
    expect((await objects.getWhole('f/x', 4, NEVER))?.toString()).toBe('0123');
    expect(await objects.head('f/x')).toEqual({ key: 'f/x', size: 4, modifiedAt: 0 });
  });

  it('and whose ETag a proxy has weakened, as for bytes that it may pack, gives the object the same mark', async () => {
    const mark = await store(objects, 'f/x', Buffer.from('0123'));
    s3.found = (bytes) => ({ etag: `W/${tagOf(bytes)}` });
    expect(await objects.head('f/x')).toMatchObject({ mark });
  });

  it('and says whether there is more only where there is: lists are read', async () => {
    for (const key of ['f/a', 'f/b', 'f/c']) s3.objects.set(key, Buffer.alloc(0));
    expect(await keysOf(objects, 'f/')).toEqual(['f/a', 'f/b', 'f/c']);
    expect(await objects.removeUnfinished(Date.now())).toBe(0);
  });

  it('and never says whether there is more: a full page is a failure, because it may not be all', async () => {
    for (let at = 0; at < 250; at += 1) s3.objects.set(`f/${String(at).padStart(3, '0')}`, Buffer.alloc(0));
    await expect(keysOf(objects, 'f/')).rejects.toMatchObject(UNAVAILABLE);
  });

  it('and lists parts without an end: a write goes on', async () => {
    const begun = await objects.resumable?.begin('f/x', NEVER);
    const part = Buffer.alloc(objects.partSize, 'a');
    const place = (await begun?.save(part)) as string;
    const resumed = await objects.resumable?.resume('f/x', place, NEVER);
    await resumed?.writer.finish(Buffer.from('end'));
    expect((await fetchBytes(objects, 'f/x')).length).toBe(part.length + 3);
  });

  it.each<[string, (request: IncomingMessage) => boolean]>([
    ['PUT', isPut],
    ['PUT and to a look', (request) => isPut(request) || request.method === 'HEAD'],
  ])('and a page with an ETag in the place of its answer to %s: nothing counts as stored', async (_, when) => {
    page(when);
    await expect(store(objects, 'f/x', Buffer.from('0123456789'))).rejects.toMatchObject(UNAVAILABLE);
  });

  it('and such a page in the place of its answer to a part: nothing counts as stored', async () => {
    page((request) => isPart(request, 2));
    await expect(store(objects, 'f/x', Buffer.alloc(objects.partSize + 9, 'a'))).rejects.toMatchObject(UNAVAILABLE);
    expect(s3.objects.size).toBe(0);
  });

  it('and such a page once: the bytes are sent again, and stored', async () => {
    let pages = 0;
    page((request) => isPut(request) && pages++ === 0);
    await store(objects, 'f/x', Buffer.from('0123456789'));
    expect((await fetchBytes(objects, 'f/x')).toString()).toBe('0123456789');
  });
});
