import { afterEach, describe, expect, it } from '@jest/globals';
import { sha256Url } from '../../helpers/bytes.js';
import { FileServer, type FileServerOptions } from '../../helpers/file-server.js';
import type { RawClient } from '../../helpers/raw-client.js';
import { RpcError } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { connect, F1, F4 } from './recording-lab.js';
import { digestValue, reasonOf, SPEAKS, shown, upload } from './sep-2631-lab.js';

const tool = (keyword: Record<string, unknown>) => ({
  name: 'take',
  inputSchema: {
    type: 'object',
    properties: { doc: { type: 'string', format: 'uri', 'x-mcp-file': keyword }, note: { type: 'string' } },
  },
});

const UPLOAD_ONLY = tool({ transferModes: ['upload'] });

describe('a server that speaks SEP-2631', () => {
  let server: FileServer;
  let wharf: Wharf;

  afterEach(async () => {
    await wharf?.stop();
    await server?.stop();
  });

  async function open(
    options: FileServerOptions = {},
    about: { capabilities?: Record<string, unknown> } = SPEAKS,
    version = '2025-11-25',
  ) {
    server = await FileServer.start({ tools: [UPLOAD_ONLY], ...options });
    wharf = await startWharf({ servers: { s: { url: server.upstream.url, transport: 'streamable-http' } } });
    return connect(wharf.mcp, version, about);
  }
  /** Uploads a file and calls the tool with its handle. */
  const take = async (client: RawClient, bytes = F4) => client.call('take', { doc: await upload(client, bytes) });
  const argument = () => server.upstream.lastArguments.doc;
  const asked = (method: string) => server.upstream.with(method).length;

  it('gets the file at its own address, and its own URI in the call (BR-02, 2631-28, P6)', async () => {
    const client = await open();
    const uri = await upload(client, F4, 'x.bin', 'application/octet-stream');
    const { result } = await client.call('take', { doc: uri, note: 'n' });
    expect(result?.isError).toBeUndefined();
    expect(argument()).not.toBe(uri);
    expect(sha256Url(server.files.get(String(argument())) ?? Buffer.alloc(0))).toBe(sha256Url(F4));
    const { _meta, ...params } = server.upstream.with('files/authorizeUpload')[0]?.params ?? {};
    expect(params).toEqual({
      name: 'x.bin',
      mimeType: 'application/octet-stream',
      size: 6,
      digest: digestValue(F4),
    });
    expect(_meta).toEqual({
      'io.modelcontextprotocol/clientCapabilities': { files: { upload: true, download: true, transports: ['https'] } },
    });
  });

  it('in 2026 each of its requests says what Wharf can, beside what the client can (2631-06)', async () => {
    const client = await open({}, { capabilities: { sampling: {} } }, '2026-07-28');
    await take(client);
    for (const method of ['tools/call', 'files/authorizeUpload']) {
      expect(server.upstream.with(method)[0]?.params._meta).toMatchObject({
        'io.modelcontextprotocol/clientCapabilities': { sampling: {}, files: { upload: true, download: true } },
      });
    }
    expect(server.upstream.with('files/authorizeUpload')[0]?.headers['mcp-method']).toBe('files/authorizeUpload');
  });

  it('a request of 2026 that says nothing of its client gets nothing said for it: it is the server’s to refuse', async () => {
    const client = await open({}, {}, '2026-07-28');
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    for (const method of ['server/discover', 'tools/list']) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: { _meta } });
      await client.post(body, { 'mcp-method': method });
      expect(server.upstream.with(method).at(-1)?.body.toString()).toBe(body);
    }
  });

  it('what it wants uploaded is shown so, and refused inside a call (BR-03)', async () => {
    const client = await open();
    const doc = await shown(client, 'doc');
    expect(doc).toMatchObject({ 'x-mcp-file': { transferModes: ['upload'] } });
    expect(doc.description).toMatch(/Pass a file handle/);
    expect(doc.description).not.toMatch(/data: URI/);
    const refused = await client.call('take', { doc: 'data:text/plain,x' });
    expect(reasonOf(refused)).toBe('transferModeNotAllowed');
    expect(asked('tools/call') + asked('files/authorizeUpload')).toBe(0);
    expect(refused.result?.content?.[0]?.text).toMatch(/^Argument 'doc' takes no file inside the call.*\n1\. Upload/);
    expect(refused.result?._meta).toMatchObject({ 'dev.wharf/uploadRequired': { argument: 'doc' } });
  });

  it('a header that repeats the argument has what stands there now (BR-17)', async () => {
    const doc = { type: 'string', 'x-mcp-header': 'Doc', 'x-mcp-file': { transferModes: ['upload'] } };
    const tools = [{ name: 'take', inputSchema: { type: 'object', properties: { doc } } }];
    const client = await open({ tools }, SPEAKS, '2026-07-28');
    await take(client);
    expect(server.upstream.with('tools/call')[0]?.headers['mcp-param-doc']).toBe(argument());
  });

  it('and never sent inside one (2631-16)', async () => {
    const client = await open();
    await take(client, F1);
    expect(String(argument())).toMatch(/^mcp-file:/);
  });

  it('what it wants inside is uploaded to Wharf all the same, which puts it there (2631-15, 2631-23)', async () => {
    const client = await open({ tools: [tool({ transferModes: ['inline'], accept: ['text/plain'], maxSize: 20 })] });
    expect(await shown(client, 'doc')).toMatchObject({
      format: 'uri',
      'x-mcp-file': { transferModes: ['inline', 'upload'], accept: ['text/plain'], maxSize: 20 },
    });
    await client.call('take', { doc: await upload(client, F1, 'a.txt', 'text/plain') });
    expect(argument()).toBe('data:text/plain;base64,SGVsbG8gd29ybGQh');
    expect(asked('files/authorizeUpload')).toBe(0);
    expect(
      reasonOf(await client.call('take', { doc: await upload(client, Buffer.alloc(21, 97), 'a.txt', 'text/plain') })),
    ).toBe('maxSizeExceeded');
  });

  it('where both will do, a small file goes inside and a large one is uploaded (2631-14)', async () => {
    const client = await open({ tools: [tool({ transferModes: ['inline', 'upload'] })] });
    await client.call('take', { doc: await upload(client, F1, 'a.txt', 'text/plain') });
    expect(String(argument())).toMatch(/^data:/);
    const large = Buffer.alloc(5_000_000, 7);
    await take(client, large);
    expect(sha256Url(server.files.get(String(argument())) ?? Buffer.alloc(0))).toBe(sha256Url(large));
  });

  it('modes of the future are ignored (2631-17)', async () => {
    const client = await open({ tools: [tool({ transferModes: ['upload', 'future'] })] });
    expect(await shown(client, 'doc')).toMatchObject({ 'x-mcp-file': { transferModes: ['upload'] } });
  });

  it('an argument with no other mode is left as it is: Wharf knows no way to bring a file there (2631-17)', async () => {
    const declared = tool({ transferModes: ['future'] });
    const client = await open({ tools: [declared] });
    expect(await shown(client, 'doc')).toEqual(declared.inputSchema.properties.doc);
    await client.call('take', { doc: 'data:text/plain;base64,SGVsbG8=' });
    expect(argument()).toBe('data:text/plain;base64,SGVsbG8=');
    expect(asked('files/authorizeUpload')).toBe(0);
  });

  it.each([
    ['a raw PUT', {}, 'PUT'],
    [
      'a raw POST with headers',
      { method: 'POST', headers: { 'X-Ms-Blob-Type': 'BlockBlob', Authorization: 'Bearer t' } },
      'POST',
    ],
  ])('%s (2631-31, 2631-34)', async (_what, descriptor, method) => {
    const client = await open({ descriptor });
    await take(client);
    const [received] = server.uploads;
    expect(received?.method).toBe(method);
    expect(received?.body).toEqual(F4);
    const headers: Record<string, string> = 'headers' in descriptor ? descriptor.headers : {};
    expect(received?.headers['x-ms-blob-type']).toBe(headers['X-Ms-Blob-Type']);
    // nothing of Wharf's own or the client's
    expect(received?.headers.authorization).toBe(headers.Authorization);
    expect(received?.headers.cookie).toBeUndefined();
  });

  it('a form, its fields first and its type with a boundary of our own (2631-31, 2631-32)', async () => {
    const client = await open({
      descriptor: {
        method: 'POST',
        headers: { 'Content-Type': 'multipart/form-data' },
        multipart: { fileField: 'doc', fields: { token: 'abc', key: 'k' } },
      },
    });
    await take(client);
    const [received] = server.uploads;
    expect(received?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(received && FileServer.formOf(received)).toEqual({ names: ['token', 'key', 'doc'], file: F4 });
  });

  it.each([
    'Host',
    'Content-Length',
    'Transfer-Encoding',
    'Connection',
    'Proxy-Authorization',
    'TE',
    'Trailer',
    'Upgrade',
  ])('a descriptor that wants to set %s is refused (2631-33)', async (name) => {
    const client = await open({ descriptor: { headers: { [name]: 'x' } } });
    const { result } = await take(client);
    expect(result?.isError).toBe(true);
    expect(result?.content?.[0]?.text).toContain(name);
    expect(server.uploads.length + asked('tools/call')).toBe(0);
  });

  it.each([
    ['of another host over http', 'http://files.example.com/x'],
    ['with a user name', 'https://user:pw@files.example.com/x'],
    ['in a private network', 'https://10.0.0.8/x'],
    ['of a metadata service', 'https://169.254.169.254/latest'],
  ])('a descriptor %s is refused, and its path not told (2631-59)', async (_what, url) => {
    const client = await open({ descriptor: { url: `${url}?sig=s3cr3t` } });
    const { result } = await take(client);
    expect(result?.isError).toBe(true);
    expect(JSON.stringify(result)).not.toContain('s3cr3t');
    expect(asked('tools/call')).toBe(0);
  });

  it.each([
    ['transport', { transport: 'quic' }],
    ['method', { method: 'PATCH' }],
    ['URL', { url: 7 }],
    ['headers', { headers: { a: 1 } }],
    ['form', { method: 'POST', multipart: 'yes' }],
  ])('a descriptor with another %s is none', async (_what, descriptor) => {
    const client = await open({ descriptor });
    const { result } = await take(client);
    expect(result?.isError).toBe(true);
    expect(server.uploads.length + asked('tools/call')).toBe(0);
  });

  it.each([
    ['another digest (2631-39)', { digest: digestValue(F1) }, 'digestMismatch'],
    ['another size (2631-39)', { size: 7 }, 'sizeMismatch'],
  ])('%s in its answer means another file: nothing is sent', async (_what, wrong, reason) => {
    const client = await open({
      methods: {
        'files/authorizeUpload': (params) => {
          const { file, upload: descriptor } = server.authorizeUpload(params) as { file: object; upload: object };
          return { file: { ...file, ...wrong }, upload: descriptor };
        },
      },
    });
    expect(reasonOf(await take(client))).toBe(reason);
    expect(server.uploads.length + asked('tools/call')).toBe(0);
  });

  it.each([
    [
      'maxSizeExceeded',
      new RpcError(-32602, 'Too large', { reason: 'maxSizeExceeded', maxSize: 5, actualSize: 6 }),
      'maxSizeExceeded',
    ],
    ['mimeTypeNotAccepted', new RpcError(-32602, 'No', { reason: 'mimeTypeNotAccepted' }), 'mimeTypeNotAccepted'],
    [
      'maxFileSizeExceeded (2631o-10)',
      new RpcError(-32602, 'Too large', { reason: 'maxFileSizeExceeded', maxFileSize: 5 }),
      'maxSizeExceeded',
    ],
    ['storeFull', new RpcError(-32603, 'Store full', { reason: 'storeFull' }), 'unreachable'],
  ])('%s of the server is told to the client, with its words', async (_what, error, reason) => {
    const client = await open({
      methods: {
        'files/authorizeUpload': () => {
          throw error;
        },
      },
    });
    const refused = await take(client);
    expect(reasonOf(refused)).toBe(reason);
    expect(refused.result?.content?.[0]?.text).toContain(error.message);
    expect(asked('tools/call') + asked('files/prepareUpload')).toBe(0);
  });

  it.each([401, 408, 409, 413, 422])('HTTP %i at the address of the upload ends the call', async (status) => {
    const client = await open({ refuse: { status, body: { error: { reason: 'digestMismatch' } } } });
    const refused = await take(client);
    expect(reasonOf(refused)).toBe('digestMismatch');
    expect(refused.result?.content?.[0]?.text).toContain(`HTTP ${status}`);
    expect(asked('tools/call')).toBe(0);
  });

  /** When the answer to the nth question says that its address is over: seconds from then. */
  const expiring = (...inSeconds: number[]) => ({
    methods: {
      'files/authorizeUpload': (params: Record<string, unknown>) => {
        const seconds = inSeconds[asked('files/authorizeUpload') - 1] ?? 0;
        const { file, upload: descriptor } = server.authorizeUpload(params) as { file: object; upload: object };
        const expiresAt = new Date(Date.now() + seconds * 1000).toISOString();
        return { file, upload: { ...descriptor, expiresAt } };
      },
    },
  });

  it('an address that is over is not used: another one is asked for (2631-58)', async () => {
    const client = await open(expiring(-600, 600));
    await take(client);
    expect(asked('files/authorizeUpload')).toBe(2);
    expect(server.uploads).toHaveLength(1);
    expect(server.files.get(String(argument()))).toEqual(F4);
  });

  it('once; if that one is over as well, the call is refused and no byte sent (2631-58)', async () => {
    const client = await open(expiring(-600, -600, 600));
    const refused = await take(client);
    expect(reasonOf(refused)).toBe('unreachable');
    expect(refused.result?.content?.[0]?.text).toMatch(
      /^Argument 'doc' could not be uploaded: the server "s" gave an address for it, twice, that had expired \(at 20.*Z\)\./,
    );
    expect(asked('files/authorizeUpload')).toBe(2);
    expect(server.uploads.length + asked('tools/call')).toBe(0);
  });

  it('one that is over only because clocks differ by some seconds is good (2631-58)', async () => {
    const client = await open(expiring(-10));
    await take(client);
    expect(asked('files/authorizeUpload')).toBe(1);
    expect(server.files.get(String(argument()))).toEqual(F4);
  });

  it.each([['soon'], ['2020-01-01'], ['2020-13-01T00:00:00Z'], [1_500_000_000]])(
    'a time that is none does not matter: %j',
    async (expiresAt) => {
      const client = await open({ descriptor: { expiresAt } });
      await take(client);
      expect(asked('files/authorizeUpload')).toBe(1);
      expect(server.files.get(String(argument()))).toEqual(F4);
    },
  );

  it('one that knows no uploads after all is asked once, and the call refused (2631-26, 2631-66)', async () => {
    const client = await open({ methods: { 'files/authorizeUpload': undefined } });
    const uri = await upload(client, F4);
    // listed before, when nothing was known of it
    expect((await shown(client, 'doc')).description).not.toMatch(/takes no uploads/);
    for (const _ of [1, 2]) expect(reasonOf(await client.call('take', { doc: uri }))).toBe('unreachable');
    expect(asked('files/authorizeUpload')).toBe(1);
    expect(asked('files/prepareUpload')).toBe(1);
    expect(asked('tools/call')).toBe(0);
    expect((await shown(client, 'doc')).description).toMatch(
      /^The server wants this file uploaded and takes no uploads/,
    );
  });

  it('a server like printable: no format, deny-unknown, a credential in the headers, http on its own host', async () => {
    const known = new Set(['name', 'mimeType', 'size', 'digest', '_meta']);
    const client = await open({
      tools: [
        {
          name: 'take',
          inputSchema: {
            type: 'object',
            properties: { doc: { type: 'string', 'x-mcp-file': { transferModes: ['upload'] } } },
          },
        },
      ],
      descriptor: { transport: 'http', headers: { Authorization: 'Bearer once' } },
      methods: {
        'files/authorizeUpload': (params) => {
          const unknown = Object.keys(params).find((key) => !known.has(key));
          if (unknown) throw new RpcError(-32602, `unknown field ${unknown}`);
          return server.authorizeUpload(params);
        },
      },
    });
    await take(client);
    expect(server.files.get(String(argument()))).toEqual(F4);
    expect(server.uploads[0]?.headers.authorization).toBe('Bearer once');
  });

  it('a server like mcp-upload: a form, and URIs of a scheme of its own', async () => {
    const client = await open({
      authority: 'upload://store',
      descriptor: { method: 'POST', multipart: { fileField: 'file' } },
    });
    await take(client);
    expect(String(argument())).toMatch(/^upload:\/\/store\//);
    expect(server.files.get(String(argument()))).toEqual(F4);
  });
});
