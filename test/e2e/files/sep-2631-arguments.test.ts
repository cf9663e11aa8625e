import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { authorizeUpload, digestValue, F1, F2, F4, reasonOf, SPEAKS, sendForm, shown, upload } from './sep-2631-lab.js';

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
  let server: RecordingUpstream;
  let wharf: Wharf;
  let client: RawClient;

  beforeAll(async () => {
    server = await RecordingUpstream.start({ tools: [TOOL] });
    wharf = await startWharf({
      servers: { reader: { url: server.url, transport: 'streamable-http', tools: { read: { files: FILES } } } },
    });
    client = await RawClient.connect(wharf.mcp, '2025-11-25', SPEAKS);
  });

  afterAll(async () => {
    await wharf?.stop();
    await server?.stop();
  });

  it('2631-02, 2631-04, 2631-23, X-29: each is shown as a URI string with the keyword and its modes', async () => {
    expect(await shown(client, 'image')).toMatchObject({
      type: 'string',
      format: 'uri',
      'x-mcp-file': { accept: ['image/png'], maxSize: expect.any(Number), transferModes: ['inline', 'upload'] },
    });
    expect(await shown(client, 'small')).toMatchObject({ 'x-mcp-file': { maxSize: 12 } });
    expect(await shown(client, 'note')).toEqual({ type: 'string' });
  });

  it('X-20: the size it may have is the least of all that limits it', async () => {
    const { maxSize } = (await shown(client, 'huge'))['x-mcp-file'] as { maxSize: number };
    // a server over HTTP takes messages of 4 MiB, and base64 grows
    expect(maxSize).toBeGreaterThan(3_000_000);
    expect(maxSize).toBeLessThan(4_194_304 * 0.75);
  });

  it('BR-17: X-32: no header repeats a file', async () => {
    expect(await shown(client, 'huge')).not.toHaveProperty('x-mcp-header');
  });

  it('2631-22: of an array the keyword stands on the items', async () => {
    const many = await shown(client, 'many');
    expect(many).not.toHaveProperty('x-mcp-file');
    expect(many.items).toMatchObject({ type: 'string', 'x-mcp-file': { transferModes: ['inline', 'upload'] } });
  });

  it('2631-13, 2631-18: an uploaded file goes into any argument that takes files', async () => {
    const uri = await upload(client, F2, 'a.png', 'image/png');
    await client.call('read', { any: uri, image: uri, many: [uri, uri] });
    const base64 = F2.toString('base64');
    expect(server.lastArguments).toEqual({
      any: base64,
      image: `data:image/png;base64,${base64}`,
      many: [base64, base64],
    });
  });

  it('BR-01, P3: and what the server has seen are its own methods only', () => {
    expect(server.requests.filter(({ method }) => method?.startsWith('files/'))).toEqual([]);
  });

  it('2631-12, 2631-14, 2631-40: a data: URI needs no call before it', async () => {
    await client.call('read', { any: 'data:text/plain;base64,SGVsbG8gd29ybGQh' });
    expect(server.lastArguments).toEqual({ any: 'SGVsbG8gd29ybGQh' });
  });

  it('2631-63: what a model typed goes on as those very bytes', async () => {
    const typed = `data:image/png;base64,${F2.toString('base64')}`;
    await client.call('read', { image: typed });
    expect(server.lastArguments).toEqual({ image: typed });
  });

  it('2631-03: an argument that has its value causes no question', async () => {
    const { answer } = await client.call('read', { any: 'data:,x' });
    expect(answer.messages.filter(({ method }) => method !== undefined)).toEqual([]);
  });

  it.each([
    ['2631-24: 13 bytes uploaded for 12', () => upload(client, Buffer.alloc(13)), 'maxSizeExceeded'],
    ['2631-24: 13 bytes inline for 12', async () => `data:,${'x'.repeat(13)}`, 'maxSizeExceeded'],
    ['2631-19: a malformed handle', async () => 'mcp-file://', 'fileNotFound'],
    ['2631-19: one with a query', async () => `${await upload(client, F1)}?x=1`, 'fileNotFound'],
    ['2631-41: a path', async () => '/tmp/x', 'schemeNotAllowed'],
    ['2631-41: an address of a store', async () => 's3://b/k', 'schemeNotAllowed'],
    ['2631-41: somebody’s file id', async () => 'file-abc', 'malformedUri'],
    ['2631-69: nothing uploaded yet', async () => (await authorizeUpload(client)).file.uri, 'uploadIncomplete'],
  ])('%s is refused before the server is asked', async (_what, value, reason) => {
    const before = server.with('tools/call').length;
    expect(reasonOf(await client.call('read', { small: await value() }))).toBe(reason);
    expect(server.with('tools/call')).toHaveLength(before);
  });

  it('X-21: a type that the argument does not take is refused at the call', async () => {
    const uri = await upload(client, F1, 'a.txt', 'text/plain');
    expect(reasonOf(await client.call('read', { image: uri }))).toBe('mimeTypeNotAccepted');
  });

  it('2631-64: inside a call a file has its own limit', async () => {
    const any = `data:application/octet-stream;base64,${Buffer.alloc(4_300_000).toString('base64')}`;
    expect(reasonOf(await client.call('read', { any }))).toBe('maxSizeExceeded');
  });

  it.each([
    ['2631-36: other bytes than announced', { digest: digestValue(F1) }, F4, 422, 'digestMismatch'],
    ['2631-37: too few', { size: 12 }, F4, 422, 'sizeMismatch'],
    ['2631-37: too many', { size: 6 }, F1, 422, 'sizeMismatch'],
    [
      '2631-60: a picture announced, a document sent',
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

  it('2631-08: a client of other transports is shown the same, and gets no handles in results', async () => {
    const quic = await RawClient.connect(wharf.mcp, '2025-11-25', {
      capabilities: { files: { upload: true, download: true, transports: ['quic'] } },
    });
    expect(await shown(quic, 'any')).toMatchObject({ 'x-mcp-file': { transferModes: ['inline', 'upload'] } });
  });

  it.each([
    ['text', { text: 'Hello world!' }],
    ['blob', { blob: 'SGVsbG8gd29ybGQh' }],
  ])('2631o-05: an object of the first revisions, with %s', async (_what, content) => {
    await client.call('read', { any: { type: 'file', name: 't.txt', mimeType: 'text/plain', content } });
    expect(server.lastArguments).toEqual({ any: F1.toString('base64') });
  });

  it('2631o-05: and one with a handle, wherever it stood', async () => {
    const uri = await upload(client, F4);
    for (const value of [
      { type: 'file', content: { uri } },
      { type: 'file', content: { file: { type: 'file', uri, source: 'upload' } } },
      { type: 'file', file: { uri, name: 'x' } },
      { uri, name: 'x', size: 6 },
    ]) {
      await client.call('read', { any: value });
      expect(server.lastArguments).toEqual({ any: F4.toString('base64') });
    }
  });

  it.each([
    ['2631o-07: from a source that is none', { file: { type: 'file', uri: 'mcp-file://wharf/f_x', source: 'disk' } }],
    ['2631o-07: without a type', { file: { uri: 'mcp-file://wharf/f_x', source: 'upload' } }],
    ['of nothing', {}],
  ])('an object %s is refused', async (_what, content) => {
    expect(reasonOf(await client.call('read', { any: { type: 'file', content } }))).toBe('malformedUri');
  });

  it.each([{ upload: true }, { inputTransfer: true, output: true }, { input: true }])(
    '2631o-04: %j is understood as what it is called today',
    async (files) => {
      const older = await RawClient.connect(wharf.mcp, '2025-06-18', { capabilities: { files } });
      const uri = await upload(older, F4);
      await older.call('read', { any: uri });
      expect(server.lastArguments).toEqual({ any: F4.toString('base64') });
    },
  );
});
