import { afterEach, describe, expect, it } from '@jest/globals';
import { sha256Url } from '../../helpers/bytes.js';
import { FileServer, type FileServerOptions } from '../../helpers/file-server.js';
import { RawClient } from '../../helpers/raw-client.js';
import { type Handler, RpcError } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { F1, F4, type Json } from './recording-lab.js';
import { download, reasonOf, SPEAKS, shown, upload } from './sep-2631-lab.js';

const KEYWORD = { type: 'string', format: 'uri', 'x-mcp-file': { transferModes: ['upload'] } };
const tool = (property: Json, beside: Json = {}) => ({
  name: 'take',
  inputSchema: { type: 'object', properties: { doc: property } },
  ...beside,
});
const FILE_OBJECT = { type: 'object', properties: { type: { const: 'file' }, content: { type: 'object' } } };
const META = 'modelcontextprotocol.io/fileInputs';

describe('a server that speaks an older revision of SEP-2631', () => {
  let server: FileServer;
  let wharf: Wharf;

  afterEach(async () => {
    await wharf?.stop();
    await server?.stop();
  });

  /** Only the old names are known. @param wrap how the URI of a file stands in it */
  async function open(options: FileServerOptions, wrap = (uri: string): Json => ({ uri })) {
    const prepareUpload: Handler = (params) => {
      const { file, upload: transfer } = server.authorizeUpload(params) as { file: { uri: string }; upload: Json };
      return { file: wrap(file.uri), transfer };
    };
    server = await FileServer.start({
      ...options,
      methods: {
        'files/authorizeUpload': undefined,
        'files/authorizeDownload': undefined,
        'files/prepareUpload': prepareUpload,
        'files/getDownload': ({ uri }) => server.downloadDescriptor(uri),
        ...options.methods,
      },
    });
    wharf = await startWharf({ servers: { s: { url: server.upstream.url, transport: 'streamable-http' } } });
    return RawClient.connect(wharf.mcp, '2025-06-18', SPEAKS);
  }
  const argument = () => server.upstream.lastArguments.doc;
  const asked = (method: string) => server.upstream.with(method).length;

  it('an address that is over is not used (2631-58)', async () => {
    const client = await open({ tools: [tool(KEYWORD)], descriptor: { expiresAt: '2020-01-01T01:00:00.5+01:00' } });
    const refused = await client.call('take', { doc: await upload(client, F4) });
    expect(refused.result?.content?.[0]?.text).toContain('had expired (at 2020-01-01T00:00:00.500Z, and it is 2');
    expect([asked('files/prepareUpload'), asked('files/completeUpload'), asked('tools/call')]).toEqual([2, 0, 0]);
    expect(server.uploads).toHaveLength(0);
  });

  it('the newest name is tried once, the old one works, and both are remembered (2631o-13, P7)', async () => {
    const client = await open({ tools: [tool(KEYWORD)] });
    const uri = await upload(client, F4);
    for (let call = 0; call < 2; call++) {
      await client.call('take', { doc: uri });
      expect(server.files.get(String(argument()))).toEqual(F4);
    }
    expect([asked('files/authorizeUpload'), asked('files/prepareUpload')]).toEqual([1, 2]);
    // its parameters are those it had
    expect(Object.keys(server.upstream.with('files/prepareUpload')[0]?.params ?? {}).sort()).toEqual([
      '_meta',
      'mimeType',
      'name',
      'size',
    ]);
  });

  it('a server that calls every unknown method invalid is asked by its old name as well (2631o-13)', async () => {
    const client = await open({
      tools: [tool(KEYWORD)],
      methods: {
        'files/authorizeUpload': () => {
          throw new RpcError(-32602, 'Invalid request parameters');
        },
      },
    });
    await client.call('take', { doc: await upload(client, F4) });
    expect(server.files.get(String(argument()))).toEqual(F4);
  });

  it('an early one wants to be told when the bytes are there (P8)', async () => {
    const completed: unknown[] = [];
    const client = await open({
      tools: [tool(KEYWORD)],
      methods: {
        'files/completeUpload': ({ uri }) => {
          completed.push([uri, server.files.has(String(uri))]);
          return { file: { uri } };
        },
      },
    });
    await client.call('take', { doc: await upload(client, F4) });
    expect(completed).toEqual([[argument(), true]]);
  });

  it('and refuses the call if they are not (P8)', async () => {
    const client = await open({
      tools: [tool(KEYWORD)],
      methods: {
        'files/completeUpload': () => {
          throw new RpcError(-32602, 'Not there', { reason: 'uploadIncomplete' });
        },
      },
    });
    expect(reasonOf(await client.call('take', { doc: await upload(client, F4) }))).toBe('uploadIncomplete');
    expect(asked('tools/call')).toBe(0);
  });

  it('the first took objects, which it declared in _meta (2631o-06, 2631o-07, 2631o-08, 2631o-09)', async () => {
    const meta = {
      [META]: { doc: { accept: ['text/plain'], maxFileSize: 100, purpose: 'The text to read' } },
      kept: 1,
    };
    const client = await open({ tools: [tool(FILE_OBJECT, { _meta: meta })] }, (uri) => ({
      type: 'file',
      name: 'a',
      content: { file: { type: 'file', uri, source: 'upload' } },
    }));
    const { result } = await client.request('tools/list');
    expect((result?.tools as Json[] | undefined)?.[0]?._meta).toEqual({ kept: 1 });
    expect(await shown(client, 'doc')).toMatchObject({
      type: 'string',
      format: 'uri',
      description: expect.stringContaining('The text to read.'),
      'x-mcp-file': { accept: ['text/plain'], maxSize: 100, transferModes: ['inline', 'upload'] },
    });
    await client.call('take', { doc: await upload(client, F1, 't.txt', 'text/plain') });
    const uri = [...server.files.keys()][0];
    expect(argument()).toEqual({
      type: 'file',
      name: 't.txt',
      mimeType: 'text/plain',
      size: 12,
      content: { file: { type: 'file', uri, source: 'upload' } },
    });
  });

  it('the second took others, declared beside the schema (2631o-06)', async () => {
    const client = await open(
      { tools: [tool({ type: 'array', items: FILE_OBJECT }, { inputFiles: { doc: {} } })] },
      (uri) => ({ type: 'file', content: { uri } }),
    );
    expect((await client.request('tools/list')).answer.text).not.toContain('inputFiles');
    await client.call('take', { doc: [await upload(client, F4, 'x.bin')] });
    const uri = [...server.files.keys()][0];
    expect(argument()).toEqual([
      { type: 'file', name: 'x.bin', mimeType: 'application/octet-stream', size: 6, content: { uri } },
    ]);
  });

  it('what it declared may stand in the call where it knows no uploads (2631o-11)', async () => {
    const client = await open({
      tools: [tool(FILE_OBJECT, { inputFiles: { doc: {} } })],
      methods: { 'files/prepareUpload': undefined },
    });
    await client.call('take', { doc: await upload(client, F4, 'x.bin') });
    expect(argument()).toEqual({
      type: 'file',
      name: 'x.bin',
      mimeType: 'application/octet-stream',
      size: 6,
      content: { blob: F4.toString('base64') },
    });
  });

  it('the third took data: URIs with a name (2631o-12)', async () => {
    const client = await open({
      tools: [tool({ type: 'string', format: 'uri' }, { inputFiles: { doc: { maxFileSize: 1000 } } })],
    });
    await client.call('take', { doc: await upload(client, F4, 'x (1).bin') });
    expect(argument()).toBe('data:application/octet-stream;name=x%20%281%29.bin;base64,AAEC/f7/');
  });

  it('its answer to getDownload may be the bare descriptor (2631o-14, Q7)', async () => {
    const client = await open({
      tools: [{ name: 'make', inputSchema: { type: 'object' } }],
      methods: {
        'tools/call': () => ({ content: [], structuredContent: { out: server.keep(F4, { name: 'x.bin' }) } }),
      },
    });
    const { result } = await client.call('make');
    const out = (result?.structuredContent as { out: { uri: string; name: string } } | undefined)?.out;
    expect(out?.name).toBe('x.bin');
    expect(sha256Url(await download(client, out?.uri ?? ''))).toBe(sha256Url(F4));
    expect([asked('files/authorizeDownload'), asked('files/getDownload')]).toEqual([1, 1]);
  });

  it('files in results had another shape, and get the current one (2631o-15)', async () => {
    const client = await open({
      tools: [{ name: 'make', inputSchema: { type: 'object' } }],
      methods: {
        'tools/call': () => {
          const { uri } = server.keep(F4);
          const file = { type: 'file', name: 'x.bin', content: { uri } };
          return { content: [{ type: 'file', file }], structuredContent: { out: { type: 'file', file } } };
        },
      },
    });
    const { result } = await client.call('make');
    const value = {
      uri: expect.stringMatching(/^mcp-file:\/\/wharf\/f_/),
      name: 'x.bin',
      mimeType: 'application/octet-stream',
      size: 6,
      digest: server.digestOf(F4),
    };
    expect(result?.content?.at(-1)).toEqual({ type: 'file', file: value });
    expect(result?.structuredContent).toEqual({ out: value });
  });
});
