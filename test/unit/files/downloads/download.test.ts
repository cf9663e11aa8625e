import { describe, expect, it } from '@jest/globals';
import { type DownloadRequest, decideDownload } from '../../../../gateway/files/downloads/download.js';

const record = {
  name: 'report.pdf',
  mimeType: 'application/pdf',
  size: 1000,
  digest: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg',
};
const ETAG = `"${record.digest}"`;
const decide = (request: Partial<DownloadRequest> = {}, size = record.size) =>
  decideDownload({ ...record, size }, { method: 'GET', ...request });

describe('a download', () => {
  it('of the whole file says what it is and how to check it', () => {
    expect(decide()).toEqual({
      status: 200,
      headers: {
        'accept-ranges': 'bytes',
        'cache-control': 'no-store, no-transform',
        'content-disposition': 'inline; filename=report.pdf',
        'content-length': '1000',
        'content-type': 'application/pdf',
        etag: ETAG,
        'repr-digest': 'sha-256=:n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=:',
      },
      body: {},
    });
  });

  it.each([
    ...['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/avif', 'application/pdf'],
    ...['audio/mpeg', 'audio/wav', 'video/mp4', 'video/webm'],
  ])('of %s opens in the tab, and is saved if that is asked for', (mimeType) => {
    const headersOf = (isSaved: boolean) => decideDownload({ ...record, mimeType }, { method: 'GET', isSaved }).headers;
    expect(headersOf(false)).toMatchObject({
      'content-disposition': 'inline; filename=report.pdf',
      'content-type': mimeType,
    });
    expect(headersOf(true)).toMatchObject({
      'content-disposition': 'attachment; filename=report.pdf',
      'content-type': mimeType,
    });
  });

  it.each(['text/plain', 'text/markdown'])('of %s opens as UTF-8, because browsers guess otherwise', (mimeType) => {
    const { headers } = decideDownload({ ...record, mimeType }, { method: 'GET' });
    expect(headers).toMatchObject({
      'content-disposition': 'inline; filename=report.pdf',
      'content-type': 'text/plain; charset=utf-8',
    });
  });

  it.each(['text/plain', 'text/markdown'])(
    'of %s opens as what its browser takes it for, if it is not UTF-8',
    (mimeType) => {
      const { headers } = decideDownload({ ...record, mimeType, notUtf8: true }, { method: 'GET' });
      expect(headers).toMatchObject({
        'content-disposition': 'inline; filename=report.pdf',
        'content-type': 'text/plain',
      });
    },
  );

  it.each([
    ...['text/html', 'application/xhtml+xml', 'image/svg+xml', 'text/xml', 'application/xml', 'text/javascript'],
    ...[
      'application/javascript',
      'text/css',
      'text/csv',
      'application/json',
      'application/octet-stream',
      'message/rfc822',
    ],
    ...[
      'multipart/related',
      'application/x-mimearchive',
      'application/vnd.apple.mpegurl',
      'audio/mpegurl',
      'image/bmp',
    ],
    ...[
      'IMAGE/SVG+XML',
      'image/png+xml',
      'text/plain+html',
      'video/x-unknown',
      'application/zip',
      '',
      'no type at all',
    ],
  ])('of %s is only ever saved', (mimeType) => {
    const { headers } = decideDownload({ ...record, mimeType }, { method: 'GET' });
    expect(headers['content-disposition']).toBe('attachment; filename=report.pdf');
    expect(headers['content-type']).not.toMatch(/html|svg|xml|script|css|multipart|message|mime/i);
  });

  it('of a part says which', () => {
    expect(decide({ range: 'bytes=100-199' })).toMatchObject({
      status: 206,
      headers: { 'content-range': 'bytes 100-199/1000', 'content-length': '100', etag: ETAG },
      body: { range: { start: 100, end: 199 } },
    });
  });

  it('of an empty file is empty and complete', () => {
    expect(decide({}, 0)).toMatchObject({ status: 200, headers: { 'content-length': '0' }, body: {} });
    expect(decide({ range: 'bytes=0-' }, 0)).toMatchObject({ status: 416, headers: { 'content-range': 'bytes */0' } });
  });

  it('refuses a part that is not there, with the size', () => {
    const decision = decide({ range: 'bytes=1000-' });
    expect(decision).toMatchObject({ status: 416, headers: { 'content-range': 'bytes */1000' } });
    expect(decision.body).toBeUndefined();
  });

  it('answers HEAD as GET without its body, and without a range', () => {
    const head = decide({ method: 'HEAD', range: 'bytes=0-1' });
    expect(head).toMatchObject({ status: 200, headers: { 'content-length': '1000' } });
    expect(head.body).toBeUndefined();
  });

  it.each([
    ['its own tag', ETAG, 206],
    ['another tag', '"x"', 200],
    ['a weak tag', `W/${ETAG}`, 200],
    ['a date', 'Wed, 21 Oct 2015 07:28:00 GMT', 200],
  ])('honours a range under If-Range with %s', (_what, ifRange, status) => {
    expect(decide({ range: 'bytes=0-1', ifRange }).status).toBe(status);
  });

  it.each([
    ['its tag', ETAG, 304],
    ['its tag, weak', `W/${ETAG}`, 304],
    ['a list with its tag', `"a", ${ETAG}`, 304],
    ['anything', '*', 304],
    ['another tag', '"a"', 200],
    ['nonsense', 'a,,', 200],
  ])('is not sent again to a client that has %s', (_what, ifNoneMatch, status) => {
    expect(decide({ ifNoneMatch }).status).toBe(status);
  });

  it('prefers If-None-Match to Range', () => {
    const decision = decide({ ifNoneMatch: ETAG, range: 'bytes=5000-' });
    expect(decision).toEqual({ status: 304, headers: { etag: ETAG } });
  });

  it.each([
    [ETAG, 200],
    ['*', 200],
    ['"a"', 412],
    [`W/${ETAG}`, 412],
  ])('under If-Match %s is %i', (ifMatch, status) => {
    expect(decide({ ifMatch }).status).toBe(status);
  });

  it.each(['text/html', 'image/svg+xml', 'application/xhtml+xml', 'a/b\r\nX-Evil: 1'])(
    'of a file recorded as %j is served as nothing that runs',
    (mimeType) => {
      const { headers } = decideDownload({ ...record, mimeType }, { method: 'GET' });
      expect(headers['content-type']).toMatch(/^(text\/plain|application\/octet-stream)$/);
      expect(headers['content-disposition']).toMatch(/^attachment;/);
    },
  );
});
