import { createServer, type Server, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ObjectStore } from '../../../gateway/ports/object-store.js';
import { close, listen } from '../../helpers/loopback.js';
import { openStore } from './s3-buckets.js';

const NEVER = new AbortController().signal;
const OLD = '2020-01-01T00:00:00.000Z';
const UNAVAILABLE = { code: 'store_unavailable' };

const entry = (key: string) =>
  `<Contents><Key>${key}</Key><Size>1</Size><LastModified>${OLD}</LastModified></Contents>`;
const upload = (key: string) => `<Upload><Key>${key}</Key><UploadId>u</UploadId><Initiated>${OLD}</Initiated></Upload>`;
const page = (inside: string, next?: string) =>
  `<List><IsTruncated>${next !== undefined}</IsTruncated>${inside}${next ?? ''}</List>`;
const keys = (names: readonly string[], token?: string) =>
  page(names.map(entry).join(''), token && `<NextContinuationToken>${token}</NextContinuationToken>`);

describe('a list of an S3 that', () => {
  let server: Server;
  let objects: ObjectStore;
  let asked: URL[];
  let removed: string[];
  let answer: (query: URLSearchParams, response: ServerResponse) => string | undefined;

  beforeEach(async () => {
    asked = [];
    removed = [];
    server = createServer((request, response) => {
      request.resume();
      const url = new URL(request.url ?? '', 'http://s3');
      if (request.method === 'DELETE') {
        removed.push(url.pathname);
        return void response.writeHead(204).end();
      }
      asked.push(url);
      const text = answer(url.searchParams, response);
      if (text !== undefined) response.writeHead(200, { 'content-type': 'application/xml' }).end(text);
    });
    const endpoint = `http://127.0.0.1:${await listen(server)}`;
    objects = await openStore('lists', { endpoint, prefix: 'own/', lifecycle: true });
  });
  afterEach(async () => {
    await objects.close();
    await close(server);
  });

  const all = async (signal?: AbortSignal) => {
    const found: string[] = [];
    for await (const { key } of objects.list('f/', signal)) found.push(key);
    return found;
  };

  it('has pages: they are read one after the other, and short ones are not the end', async () => {
    const pages: Record<string, string> = {
      '': keys(['own/f/a', 'own/f/b'], 't1'),
      t1: keys([], 't2'),
      t2: keys(['own/f/c']),
    };
    answer = (query) => pages[query.get('continuation-token') ?? ''];
    expect(await all()).toEqual(['f/a', 'f/b', 'f/c']);
    expect(await objects.keysAfter('f/', '', 1000)).toEqual(['f/a', 'f/b', 'f/c']);
    expect(await objects.keysAfter('f/', '', 2)).toEqual(['f/a', 'f/b']);
    expect(Math.max(...asked.map(({ searchParams }) => Number(searchParams.get('max-keys'))))).toBe(250);
  });

  it.each([
    ['lists keys of another prefix', keys(['other/f/a'])],
    ['lists keys above the prefix', keys(['own/a'])],
    ['lists a key again', keys(['own/f/a', 'own/f/a'])],
    ['lists keys in no order', keys(['own/f/b', 'own/f/a'])],
    ['says that there is more, and not where', page('', '')],
    ['answers with a page of a proxy', '<html><body>Log in</body></html>'],
    ['answers with nothing', ''],
  ])('%s: a failure', async (_, text) => {
    answer = () => text;
    await expect(all()).rejects.toMatchObject(UNAVAILABLE);
    await expect(objects.keysAfter('f/', '', 1000)).rejects.toMatchObject(UNAVAILABLE);
  });

  it('lists keys that come before the one it was asked to begin behind: a failure', async () => {
    answer = () => keys(['own/f/a']);
    await expect(objects.keysAfter('f/', 'f/b', 1000)).rejects.toMatchObject(UNAVAILABLE);
  });

  it.each([
    ['with the same keys', 'own/f/a', 10],
    ['without keys', undefined, 300],
  ])('names ever new pages %s: a failure instead of asking for ever', async (_, key, most) => {
    answer = () => keys(key === undefined ? [] : [key], `t${asked.length}`);
    await expect(all()).rejects.toMatchObject(UNAVAILABLE);
    expect(asked.length).toBeLessThan(most);
  });

  it('has no end: it is left as soon as it is no longer wanted', async () => {
    const wanted = new AbortController();
    answer = () => {
      if (asked.length === 20) wanted.abort(new Error('the gateway ends'));
      return keys([`own/f/${String(asked.length).padStart(9, '0')}`], `t${asked.length}`);
    };
    await expect(all(wanted.signal)).rejects.toThrow('the gateway ends');
    expect(asked.length).toBeLessThan(30);
  });

  it('is longer than a page can be: it is not parsed, which would hold up every call', async () => {
    answer = () => `<List ${'a="" '.repeat(60_000)}><IsTruncated>false</IsTruncated></List>`;
    await expect(all()).rejects.toMatchObject({
      cause: { message: expect.stringContaining('longer than 262144 bytes') },
    });
  });

  it('lists uploads of another prefix: they are not ended', async () => {
    answer = () => page(upload('other/f/a'));
    await expect(objects.removeUnfinished(Date.now())).rejects.toMatchObject(UNAVAILABLE);
    expect(removed).toEqual([]);
  });

  it.each([
    [
      'on the same page',
      (count: number) =>
        `<NextKeyMarker>own/f/a</NextKeyMarker><NextUploadIdMarker>${count && 'u'}</NextUploadIdMarker>`,
    ],
    [
      'on ever new pages',
      (count: number) => `<NextKeyMarker>own/f/a</NextKeyMarker><NextUploadIdMarker>${count}</NextUploadIdMarker>`,
    ],
    ['on pages without a name', () => ''],
  ])('lists uploads %s: a failure instead of asking for ever', async (_, next) => {
    answer = () => page('', next(asked.length));
    await expect(objects.removeUnfinished(Date.now())).rejects.toMatchObject(UNAVAILABLE);
    expect(asked.length).toBeLessThan(300);
  });

  it('answers with a page of a proxy to the question for parts: the write is not gone', async () => {
    answer = () => '<html><body>Log in</body></html>';
    const place = JSON.stringify({ uploadId: 'u', parts: 1 });
    await expect(objects.resumable?.resume('f/x', place, NEVER)).rejects.toMatchObject(UNAVAILABLE);
  });

  it("answers with a page of a proxy to the question for the bucket's rules: they are not replaced", async () => {
    const put: string[] = [];
    answer = ({ size }, response) => {
      if (response.req.method === 'PUT') put.push(response.req.url ?? '');
      return size === 0 ? '' : '<html><body>Log in</body></html>';
    };
    await expect(objects.prepare()).rejects.toThrow(/does not take a lifecycle rule.*not a list of rules/);
    expect(put).toEqual([]);
  });
});
