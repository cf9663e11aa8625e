import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sha256 } from '../../helpers/bytes.js';
import type { RawClient } from '../../helpers/raw-client.js';
import {
  ANY,
  BIG,
  blob,
  bytesOf,
  errorOf,
  F1,
  F4,
  F6,
  JSON_ONLY,
  type Lab,
  type Resource,
  resultOf,
  rpc,
  STATELESS,
  startLab,
  stream,
} from './sep-2532-lab.js';

const PDF = 'docs://reports/q1.pdf';
const NAMED = `docs://reports/${encodeURIComponent('Report (v2); final.pdf')}`;
const UNICODE = `docs://reports/${encodeURIComponent('отчёт 文档.pdf')}`;
const LONG = `docs://${'a'.repeat(20_000)}`;
const LONG_UNICODE = `docs://${'漢'.repeat(1000)}`;
const RAW_UNICODE = 'docs://reports/文档.pdf';

const dataUri = (uri: string, bytes: Buffer) => ({
  contents: [{ uri, mimeType: 'image/png', blob: `data:image/jpeg;base64,${bytes.toString('base64')}` }],
});

const RESOURCES: Record<string, Resource> = {
  [PDF]: blob(PDF, F1, 'application/pdf'),
  'docs://big': blob('docs://big', BIG, 'application/pdf'),
  // the type is known only when the bytes have passed
  'docs://late': {
    contents: [{ uri: 'docs://late', blob: BIG.toString('base64'), mimeType: 'image/tiff' }],
  },
  'docs://untyped': blob('docs://untyped', F4),
  'docs://large-untyped': blob('docs://large-untyped', BIG),
  'docs://odd': blob('docs://odd', F4, 'no type\r\nx-evil: 1'),
  'docs://empty': blob('docs://empty', Buffer.alloc(0), 'application/zip'),
  'docs://text': { contents: [{ uri: 'docs://text', mimeType: 'text/markdown', text: '# Überschrift\n' }] },
  'docs://two': {
    contents: [
      { uri: 'docs://other', mimeType: 'text/plain', text: 'another' },
      { uri: 'docs://two', mimeType: 'application/zip', blob: F4.toString('base64') },
      { uri: 'docs://two', mimeType: 'text/plain', text: 'too late' },
    ],
  },
  'docs://foreign': {
    contents: [
      { uri: 'docs://a', text: 'a' },
      { uri: 'docs://b', text: 'b' },
    ],
  },
  'docs://nothing': { contents: [] },
  'docs://json': blob('docs://json', F6, 'application/json'),
  'docs://problem': blob('docs://problem', F6, 'application/problem+json; charset=utf-8'),
  'docs://events': blob('docs://events', Buffer.from('data: x\n\n'), 'text/event-stream'),
  'docs://uri': { contents: [{ uri: 'docs://uri', mimeType: 'image/png', blob: `data:image/png;base64,AAEC/f7/` }] },
  'docs://typed-uri': { contents: [{ uri: 'docs://typed-uri', blob: `data:image/gif;base64,AAEC/f7/` }] },
  'docs://middle-uri': dataUri('docs://middle-uri', BIG.subarray(0, 200_000)),
  'docs://big-uri': dataUri('docs://big-uri', BIG),
  'docs://page': () => ({ contentType: 'text/html', body: '<h1>not for you</h1>' }),
  'docs://failing': () => ({ status: 500, body: 'oops' }),
  'docs://broken': { contents: [{ uri: 'docs://broken', mimeType: 'image/png', blob: '****' }] },
  'docs://lines': {
    contents: [
      {
        uri: 'docs://lines',
        mimeType: 'application/pdf',
        blob: `${BIG.toString('base64').replace(/.{76}/g, '$&\n')}\n`,
      },
    ],
  },
  [NAMED]: blob(NAMED, F1, 'application/pdf'),
  [UNICODE]: blob(UNICODE, F1, 'application/pdf'),
  [LONG]: blob(LONG, F1),
  [LONG_UNICODE]: blob(LONG_UNICODE, F1),
  [RAW_UNICODE]: blob(RAW_UNICODE, F1, 'application/pdf'),
};

describe('resources/stream in front of a server that only has resources/read', () => {
  let lab: Lab;
  let client: RawClient;

  beforeAll(async () => {
    lab = await startLab({ resources: RESOURCES });
    client = await lab.client();
  });
  afterAll(() => lab.close());

  it('the body is the bytes, and the head says what they are (2532-11, 2532-12, 2532-13, 2532-15, 2532-35, 2532-60, BR-07, Q5)', async () => {
    const response = await stream(client, PDF);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/pdf',
      'content-length': '12',
      'content-disposition': 'attachment; filename=q1.pdf',
      'mcp-resource-uri': PDF,
    });
    expect(await bytesOf(response)).toEqual(F1);
  });

  it('nothing on the way stores, sniffs or compresses it (2532-58, 2532-59)', async () => {
    const response = await stream(client, PDF, { ...ANY, 'accept-encoding': 'gzip, br' });
    expect(response.headers.get('cache-control')).toBe('no-store, no-transform');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('content-encoding')).toBeNull();
    expect((await bytesOf(response)).length).toBe(12);
  });

  it('the server is asked for the resource as it knows it, with nothing but its URI (2532-10)', async () => {
    const before = lab.asked('resources/read').length;
    await client.open('resources/stream', { uri: PDF, foo: 1, _meta: { progressToken: 7 } }, ANY);
    expect(lab.asked('resources/read')[before]?.params).toEqual({ uri: PDF, _meta: { progressToken: 7 } });
    expect(lab.asked('resources/stream')).toEqual([]);
  });

  it.each([[undefined], [7], [''], [null]])('%p is not a URI (2532-10)', async (uri) => {
    const error = await errorOf(await client.open('resources/stream', { uri }, ANY));
    expect(error.code).toBe(-32602);
  });

  it.each([
    ['docs://big', BIG, 'application/pdf'],
    ['docs://late', BIG, 'image/tiff'],
    ['docs://large-untyped', BIG, 'application/octet-stream'],
    ['docs://lines', BIG, 'application/pdf'],
    ['docs://untyped', F4, 'application/octet-stream'],
    ['docs://odd', F4, 'application/octet-stream'],
    ['docs://empty', Buffer.alloc(0), 'application/zip'],
    ['docs://text', Buffer.from('# Überschrift\n'), 'text/markdown'],
    ['docs://two', F4, 'application/zip'],
    ['docs://uri', F4, 'image/png'],
    ['docs://typed-uri', F4, 'image/gif'],
    ['docs://middle-uri', BIG.subarray(0, 200_000), 'image/png'],
    ['docs://big-uri', BIG, 'image/png'],
  ])('%s arrives byte for byte (2532-60, 2532-12)', async (uri, bytes, type) => {
    const response = await stream(client, uri);
    expect(response.headers.get('content-type')).toBe(type);
    expect(response.headers.get('x-evil')).toBeNull();
    expect(sha256(await bytesOf(response))).toBe(sha256(bytes));
  });

  it('what went by the store has its length and its digest, what passed by has neither (2532-13, 2532-65)', async () => {
    const late = await stream(client, 'docs://late');
    expect(late.headers.get('content-length')).toBe(String(BIG.length));
    const digest = Buffer.from(sha256(BIG), 'hex');
    expect(late.headers.get('repr-digest')).toBe(`sha-256=:${digest.toString('base64')}:`);
    expect(late.headers.get('etag')).toBe(`"${digest.toString('base64url')}"`);
    await bytesOf(late);
    const live = await stream(client, 'docs://big');
    expect(live.headers.get('content-length')).toBeNull();
    expect(live.headers.get('etag')).toBeNull();
    await bytesOf(live);
  });

  it('the name is quoted, and spelled out where ASCII cannot (2532-14)', async () => {
    const named = await stream(client, NAMED);
    expect(named.headers.get('content-disposition')).toBe('attachment; filename="Report (v2); final.pdf"');
    const unicode = await stream(client, UNICODE);
    expect(unicode.headers.get('content-disposition')).toMatch(
      /^attachment; filename="[\x20-\x7e]+"; filename\*=UTF-8''%D0%BE%D1%82%D1%87%D1%91%D1%82%20%E6%96%87%E6%A1%A3\.pdf$/i,
    );
  });

  it.each([
    ['long', LONG],
    ['long once it is encoded', LONG_UNICODE],
  ])('a URI too %s for a head gets a link, which has it not either (2532-15)', async (_, uri) => {
    const { downloadUrl, ...rest } = await resultOf(await stream(client, uri));
    expect(rest).toMatchObject({ uri, size: F1.length });
    const response = await fetch(String(downloadUrl));
    expect([response.status, response.headers.get('mcp-resource-uri')]).toEqual([200, null]);
    expect(await bytesOf(response)).toEqual(F1);
  });

  it('a URI that no header can hold is percent-encoded (2532-15)', async () => {
    const response = await stream(client, RAW_UNICODE);
    expect(response.headers.get('mcp-resource-uri')).toBe('docs://reports/%E6%96%87%E6%A1%A3.pdf');
    expect(await bytesOf(response)).toEqual(F1);
  });

  it.each([
    ['docs://foreign', 'The server gave 2 contents, and none of them has this URI; resources/read gives all of them.'],
    ['docs://nothing', 'The server gave no content for this resource.'],
  ])('%s has no content of that URI (2532-60, 2532-37)', async (uri, message) => {
    const response = await stream(client, uri);
    expect(response.status).toBe(200);
    const error = await errorOf(response);
    expect(error).toMatchObject({ code: -32003, data: { uri, suggestion: expect.any(String) } });
    expect(JSON.stringify(error)).toContain(message);
  });

  it.each([
    ['docs://page', 200],
    ['docs://failing', 500],
  ])('the body of %s is not JSON-RPC, and is not taken for the resource (2532-39, 2532-16)', async (uri, status) => {
    const response = await stream(client, uri);
    expect(response.status).toBe(200);
    expect(await errorOf(response)).toMatchObject({
      code: -32603,
      message: `The server "scripted" refused the message (HTTP ${status}).`,
    });
  });

  it('a blob that is none is an error', async () => {
    expect(await errorOf(await stream(client, 'docs://broken'))).toMatchObject({
      code: -32603,
      data: { code: 'file_not_base64' },
    });
  });

  it.each([
    ['docs://json', F6, 'application/json'],
    ['docs://problem', F6, 'application/problem+json; charset=utf-8'],
    ['docs://events', Buffer.from('data: x\n\n'), 'text/event-stream'],
  ])('%s is never a body, which clients would take for a message (2532-62)', async (uri, bytes, mimeType) => {
    const response = await stream(client, uri);
    expect(response.headers.get('content-type')).toBe('application/json');
    const result = await resultOf(response);
    expect(result).toMatchObject({ uri, mimeType, size: bytes.length });
    expect(await bytesOf(await fetch(String(result.downloadUrl)))).toEqual(bytes);
  });

  it.each([PDF, 'docs://big', 'docs://late'])(
    'a client that takes no such type gets a link to %s (2532-48, 2532-47)',
    async (uri) => {
      const result = await resultOf(await stream(client, uri, JSON_ONLY));
      expect(Object.keys(result).sort()).toEqual(['downloadUrl', 'mimeType', 'size', 'uri']);
      const bytes = await bytesOf(await fetch(String(result.downloadUrl)));
      expect(bytes.length).toBe(result.size);
    },
  );

  it('the very type, or its family, is enough (2532-47)', async () => {
    for (const accept of ['application/json, application/pdf', 'application/json, application/*;q=0.5']) {
      expect(await bytesOf(await stream(client, PDF, { accept }))).toEqual(F1);
    }
    const refused = await stream(client, PDF, { accept: 'application/json, */*;q=0' });
    expect(await resultOf(refused)).toMatchObject({ uri: PDF });
  });

  it('resources/read is answered as ever (2532-46, 2532-52)', async () => {
    const { answer } = await client.request('resources/read', { uri: PDF });
    expect(answer.text).toContain(F1.toString('base64'));
    expect(answer.headers.get('mcp-resource-uri')).toBeNull();
  });

  it('every stream asks the server anew (2532-53)', async () => {
    let version = 1;
    const changing = await startLab({
      resources: {
        'docs://changing': (message) =>
          rpc(message, {
            result: { contents: [{ uri: 'docs://changing', mimeType: 'text/plain', text: `v${version++}` }] },
          }),
      },
    });
    const reader = await changing.client();
    expect((await bytesOf(await stream(reader, 'docs://changing'))).toString()).toBe('v1');
    expect((await bytesOf(await stream(reader, 'docs://changing'))).toString()).toBe('v2');
    await changing.close();
  });

  it('a 2026-07-28 client is served the same (BASE-01, BASE-04)', async () => {
    const stateless = await lab.client(STATELESS);
    expect(await bytesOf(await stream(stateless, PDF))).toEqual(F1);
    expect(await resultOf(await stream(stateless, 'docs://json'))).toMatchObject({ resultType: 'complete' });
    const [sent] = lab.upstream.requests.filter(({ headers }) => headers['mcp-method'] === 'resources/read');
    expect(sent?.headers['mcp-name']).toBe(PDF);
    const wrong = await stateless.open('resources/stream', { uri: PDF }, { ...ANY, 'mcp-name': 'docs://another' });
    expect(wrong.status).toBe(400);
    expect((await errorOf(wrong)).code).toBe(-32020);
    const declared = JSON.stringify(lab.asked('resources/read').at(-1));
    expect(declared).toContain(`"resourceStreaming":{"maxStreamSize":${100 * 1024 * 1024}}`);
  });
});
