import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { F1, F2, F4, inTurn, type Lab, lab, type Row, sends } from './recording-lab.js';
import {
  authorizeDownload,
  authorizeUpload,
  digestValue,
  reasonOf,
  SPEAKS,
  sendForm,
  shown,
  upload,
} from './sep-2631-lab.js';

const TOOL = {
  name: 'read',
  inputSchema: {
    type: 'object',
    properties: {
      any: { type: 'string' },
      image: { type: 'string' },
      small: { type: 'string' },
      many: { type: 'array', items: { type: 'string' } },
      huge: { type: 'string', 'x-mcp-header': 'Huge' },
      note: { type: 'string' },
    },
  },
};
const FILES = {
  any: { encoding: 'base64' },
  image: { encoding: 'dataUri', accept: ['image/png'] },
  small: { encoding: 'base64', maxSize: 12 },
  'many[]': { encoding: 'base64' },
  huge: { encoding: 'base64', maxSize: '50MiB' },
};

describe('file arguments of clients that speak SEP-2631', () => {
  let reader: Lab;
  let client: RawClient;

  beforeAll(async () => {
    reader = await lab([TOOL], { server: { tools: { read: { files: FILES } } }, version: '2025-11-25', about: SPEAKS });
    ({ client } = reader);
  });

  afterAll(() => reader?.stop());

  it('each is shown as a URI string with the keyword and its modes (2631-02, 2631-04, 2631-23)', async () => {
    expect(await shown(client, 'image')).toMatchObject({
      type: 'string',
      format: 'uri',
      'x-mcp-file': { accept: ['image/png'], maxSize: expect.any(Number), transferModes: ['inline', 'upload'] },
    });
    expect(await shown(client, 'small')).toMatchObject({ 'x-mcp-file': { maxSize: 12 } });
    expect(await shown(client, 'note')).toEqual({ type: 'string' });
  });

  it('the size it may have is the least of all that limits it', async () => {
    const { maxSize } = (await shown(client, 'huge'))['x-mcp-file'] as { maxSize: number };
    // a server over HTTP takes messages of 4 MiB, and base64 grows
    expect(maxSize).toBeGreaterThan(3_000_000);
    expect(maxSize).toBeLessThan(4_194_304 * 0.75);
  });

  it('no header repeats a file (BR-17)', async () => {
    expect(await shown(client, 'huge')).not.toHaveProperty('x-mcp-header');
  });

  it('of an array the keyword stands on the items (2631-22)', async () => {
    const many = await shown(client, 'many');
    expect(many).not.toHaveProperty('x-mcp-file');
    expect(many.items).toMatchObject({ type: 'string', 'x-mcp-file': { transferModes: ['inline', 'upload'] } });
  });

  it('an uploaded file goes into any argument that takes files (2631-13, 2631-18)', async () => {
    const uri = await upload(client, F2, 'a.png', 'image/png');
    const base64 = F2.toString('base64');
    expect(await reader.sent('read', { any: uri, image: uri, many: [uri, uri] })).toEqual({
      any: base64,
      image: `data:image/png;base64,${base64}`,
      many: [base64, base64],
    });
  });

  it('and what the server has seen are its own methods only (BR-01, P3)', async () => {
    await reader.sent('read', { any: await upload(client, F2) });
    expect(reader.upstream.requests.filter(({ method }) => method?.startsWith('files/'))).toEqual([]);
  });

  it.each<Row>([
    [
      'a data: URI needs no call before it (2631-12, 2631-14, 2631-40)',
      sends('read', { any: 'data:text/plain;base64,SGVsbG8gd29ybGQh' }, { any: 'SGVsbG8gd29ybGQh' }),
    ],
    [
      'what a model typed goes on as those very bytes (2631-63)',
      sends('read', { image: `data:image/png;base64,${F2.toString('base64')}` }),
    ],
  ])('%s', (_sentence, ...calls) => inTurn(calls, reader));

  it('an argument that has its value causes no question (2631-03)', async () => {
    const { answer } = await client.call('read', { any: 'data:,x' });
    expect(answer.messages.filter(({ method }) => method !== undefined)).toEqual([]);
  });

  it.each([
    ['13 bytes uploaded for 12 (2631-24)', () => upload(client, Buffer.alloc(13)), 'maxSizeExceeded'],
    ['13 bytes inline for 12 (2631-24)', async () => `data:,${'x'.repeat(13)}`, 'maxSizeExceeded'],
    ['a malformed handle (2631-19)', async () => 'mcp-file://', 'fileNotFound'],
    ['one with a query (2631-19)', async () => `${await upload(client, F1)}?x=1`, 'fileNotFound'],
    ['a path (2631-41)', async () => '/tmp/x', 'schemeNotAllowed'],
    ['an address of a store (2631-41)', async () => 's3://b/k', 'schemeNotAllowed'],
    ['a file id of another service (2631-41)', async () => 'file-abc', 'malformedUri'],
    ['nothing uploaded yet (2631-69)', async () => (await authorizeUpload(client)).file.uri, 'uploadIncomplete'],
  ])('%s is refused before the server is asked', async (_what, value, reason) => {
    expect(await reader.refused('read', { small: await value() })).toMatchObject({ reason });
  });

  it('a type that the argument does not take is refused at the call', async () => {
    const uri = await upload(client, F1, 'a.txt', 'text/plain');
    expect(reasonOf(await client.call('read', { image: uri }))).toBe('mimeTypeNotAccepted');
  });

  it('inside a call a file has its own limit (2631-64)', async () => {
    const any = `data:application/octet-stream;base64,${Buffer.alloc(4_300_000).toString('base64')}`;
    expect(reasonOf(await client.call('read', { any }))).toBe('maxSizeExceeded');
  });

  it.each([
    ['other bytes than announced (2631-36)', { digest: digestValue(F1) }, F4, 422, 'digestMismatch'],
    ['too few (2631-37)', { size: 12 }, F4, 422, 'sizeMismatch'],
    ['too many (2631-37)', { size: 6 }, F1, 422, 'sizeMismatch'],
    [
      'a picture announced, a document sent (2631-60)',
      { mimeType: 'image/png' },
      Buffer.from('%PDF-1.7\n%âãÏÓ\n'),
      415,
      'mimeTypeNotAccepted',
    ],
  ])(
    '%s is refused by the address of the upload, and the handle stays unusable',
    async (_what, params, bytes, status, reason) => {
      const { file, upload: descriptor } = await authorizeUpload(client, params);
      const response = await sendForm(descriptor, bytes);
      expect(response.status).toBe(status);
      expect(await response.json()).toMatchObject({ error: { reason } });
      expect(reasonOf(await client.call('read', { any: file.uri }))).toBe('uploadIncomplete');
    },
  );

  it('a client of other transports is shown the same, and gets no handles in results (2631-08)', async () => {
    const quic = await RawClient.connect(reader.wharf.mcp, '2025-11-25', {
      capabilities: { files: { upload: true, download: true, transports: ['quic'] } },
    });
    expect(await shown(quic, 'any')).toMatchObject({ 'x-mcp-file': { transferModes: ['inline', 'upload'] } });
  });

  it.each([
    ['text', { text: 'Hello world!' }],
    ['blob', { blob: 'SGVsbG8gd29ybGQh' }],
  ])('an object of the first revisions, with %s (2631o-05)', async (_what, content) => {
    const any = { type: 'file', name: 't.txt', mimeType: 'text/plain', content };
    expect(await reader.sent('read', { any })).toEqual({ any: F1.toString('base64') });
  });

  it('and one with a handle, wherever it stood (2631o-05)', async () => {
    const uri = await upload(client, F4);
    for (const value of [
      { type: 'file', content: { uri } },
      { type: 'file', content: { file: { type: 'file', uri, source: 'upload' } } },
      { type: 'file', file: { uri, name: 'x' } },
      { uri, name: 'x', size: 6 },
    ]) {
      expect(await reader.sent('read', { any: value })).toEqual({ any: F4.toString('base64') });
    }
  });

  it('and one with a link, as other clients find it in a result (HO-02)', async () => {
    const { file, download } = await authorizeDownload(client, await upload(client, F4));
    const any = { uri: download.url, name: file.name };
    expect(await reader.sent('read', { any, many: [any] })).toEqual({
      any: F4.toString('base64'),
      many: [F4.toString('base64')],
    });
  });

  it('but not one with an address that is not of Wharf', async () => {
    const any = { uri: 'https://example.com/a', name: 'a' };
    expect(await reader.sent('read', { any })).toEqual({ any });
  });

  it.each([
    ['from a source that is none (2631o-07)', { file: { type: 'file', uri: 'mcp-file://wharf/f_x', source: 'disk' } }],
    ['without a type (2631o-07)', { file: { uri: 'mcp-file://wharf/f_x', source: 'upload' } }],
    ['of nothing', {}],
  ])('an object %s is refused', async (_what, content) => {
    expect(reasonOf(await client.call('read', { any: { type: 'file', content } }))).toBe('malformedUri');
  });

  it.each([{ upload: true }, { inputTransfer: true, output: true }, { input: true }])(
    '%j is understood as what it is called today (2631o-04)',
    async (files) => {
      const older = await RawClient.connect(reader.wharf.mcp, '2025-06-18', { capabilities: { files } });
      const uri = await upload(older, F4);
      await older.call('read', { any: uri });
      expect(reader.upstream.lastArguments).toEqual({ any: F4.toString('base64') });
    },
  );
});
