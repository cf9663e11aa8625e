import { afterEach, describe, expect, it } from '@jest/globals';
import { sha256Url } from '../../helpers/bytes.js';
import { FileServer } from '../../helpers/file-server.js';
import { RawClient, type RawMessage } from '../../helpers/raw-client.js';
import type { Handler } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { F1, F4, type Json } from './recording-lab.js';
import { digestValue, download, reasonOf, SPEAKS, upload } from './sep-2631-lab.js';

type Linked = { uri: string };

const bytesAt = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());

describe('files that a server of SEP-2631 only names in its results', () => {
  let server: FileServer;
  let wharf: Wharf;

  afterEach(async () => {
    await wharf?.stop();
    await server?.stop();
  });

  interface Opened {
    results?: Record<string, () => Json>;
    methods?: Record<string, Handler | undefined>;
    outputSchema?: Json;
    about?: { capabilities?: Json };
    version?: string;
    config?: Json;
  }

  /** @param results what each tool answers */
  async function open({
    results = {},
    methods = {},
    outputSchema,
    about = {},
    version = '2025-11-25',
    config = {},
  }: Opened) {
    server = await FileServer.start({
      tools: Object.keys(results).map((name) => ({
        name,
        inputSchema: { type: 'object' },
        ...(outputSchema && { outputSchema }),
      })),
      methods: { 'tools/call': ({ name }) => results[String(name)]?.(), ...methods },
    });
    wharf = await startWharf({ servers: { s: { url: server.upstream.url, transport: 'streamable-http' } }, config });
    return RawClient.connect(wharf.mcp, version, about);
  }
  const asked = (method: string) => server.upstream.with(method).length;
  const outOf = ({ result }: RawMessage) => {
    const structured = result?.structuredContent as { out: Json & Linked } | undefined;
    return structured?.out ?? { uri: '' };
  };

  const report = () => ({
    content: [{ type: 'text', text: 'Wrote report.pdf.' }],
    structuredContent: { n: 1, out: server.keep(F4, { name: 'x.bin', mimeType: 'application/x-thing' }) },
  });

  it('a client that speaks it gets a handle of Wharf’s, and all that is known (Q6, 2631-42, 2631-44)', async () => {
    const client = await open({ results: { make: report }, about: SPEAKS });
    const answer = await client.call('make');
    expect(answer.result?.content).toEqual([{ type: 'text', text: 'Wrote report.pdf.' }]);
    expect(outOf(answer)).toEqual({
      uri: expect.stringMatching(/^mcp-file:\/\/wharf\/f_/),
      name: 'x.bin',
      mimeType: 'application/x-thing',
      size: 6,
      digest: digestValue(F4),
    });
    expect(await download(client, outOf(answer).uri)).toEqual(F4);
    // 2631-10
    expect(asked('resources/read')).toBe(0);
    expect(server.downloads[0]?.headers['x-credential']).toBe('c');
  });

  it('any other client gets a link where the handle stood, and the file as any other', async () => {
    const answer = await (await open({ results: { make: report } })).call('make');
    const out = outOf(answer);
    expect(Object.keys(out).sort()).toEqual(['digest', 'mimeType', 'name', 'size', 'uri']);
    expect(await bytesAt(out.uri)).toEqual(F4);
    expect(answer.result?.content?.map(({ type }) => type)).toEqual(['text', 'text', 'resource_link']);
    expect(answer.result?.content?.[1]?.text).toMatch(/^x\.bin · application\/x-thing · 6 bytes\nhttp/);
    expect((answer.result?._meta as Json | undefined)?.['dev.wharf/files']).toEqual([
      expect.objectContaining({ size: 6, pointer: '/out', uri: expect.stringMatching(/^mcp-file:\/\/wharf\//) }),
    ]);
  });

  it('a block of its kind becomes what every client reads, in its place (2631-43)', async () => {
    const client = await open({
      results: {
        make: () => ({
          content: [
            { type: 'text', text: 'before' },
            { type: 'file', file: server.keep(F4, { name: 'x.bin' }), annotations: { priority: 1 } },
            { type: 'text', text: 'after' },
          ],
        }),
      },
    });
    const { result } = await client.call('make');
    expect(result?.content?.map(({ type, text }) => (type === 'text' ? String(text).split('\n')[0] : type))).toEqual([
      'before',
      'x.bin · application/octet-stream · 6 bytes',
      'resource_link',
      'after',
    ]);
    expect(result?.content?.[1]).toMatchObject({ annotations: { priority: 1 } });
    expect(await bytesAt(String(result?.content?.[2]?.uri))).toEqual(F4);
  });

  it('before there were links, a text says all', async () => {
    const results = { make: () => ({ content: [{ type: 'file', file: server.keep(F4) }] }) };
    const { result } = await (await open({ results, version: '2025-03-26' })).call('make');
    expect(result?.content?.map(({ type }) => type)).toEqual(['text']);
  });

  it('what has an outputSchema keeps to it (2631-71)', async () => {
    const schema = {
      type: 'object',
      properties: {
        out: {
          type: 'object',
          properties: { uri: { type: 'string' }, size: { type: 'number' } },
          additionalProperties: false,
        },
      },
    };
    const results = {
      make: () => ({ content: [], structuredContent: { out: { uri: server.keep(F4).uri, size: 6 } } }),
    };
    const answer = await (await open({ results, outputSchema: schema, about: SPEAKS })).call('make');
    expect(outOf(answer)).toEqual({ uri: expect.stringMatching(/^mcp-file:\/\/wharf\//), size: 6 });
  });

  it.each([
    ['of an earlier revision', { name: 'a.bin', mimeType: 'application/octet-stream', size: 6 }],
    ['with a URI alone', {}],
  ])('a FileValue without a digest, of whatever scheme, is asked for: %s (2631-44, Q7)', async (_what, about) => {
    const uri = 'up-7+x:kept';
    const results = { make: () => ({ content: [], structuredContent: { out: { uri, ...about } } }) };
    const client = await open({ results, about: SPEAKS });
    server.files.set(uri, F4);
    const answer = await client.call('make');
    expect(outOf(answer)).toMatchObject({ uri: expect.stringMatching(/^mcp-file:\/\/wharf\//), size: 6 });
    expect(await download(client, outOf(answer).uri)).toEqual(F4);
  });

  it('a handle that a server gives back is the file that it was, and its server is not asked (HO-20)', async () => {
    let handle = '';
    const results = {
      value: () => ({ content: [], structuredContent: { out: { uri: handle, size: 6 } } }),
      block: () => ({ content: [{ type: 'file', file: { uri: handle } }] }),
    };
    const client = await open({ results, about: SPEAKS });
    handle = await upload(client, F4);
    expect(outOf(await client.call('value')).uri).toBe(handle);
    expect((await client.call('block')).result?.content?.find(({ type }) => type === 'file')?.file).toMatchObject({
      uri: handle,
      size: 6,
      digest: digestValue(F4),
    });
    expect(asked('files/authorizeDownload')).toBe(0);
  });

  it('what only looks like one stays as it is, and is asked for once', async () => {
    const structuredContent = {
      list: ['a', 'b'].map((name) => ({ uri: `docs://${name}`, name, mimeType: 'text/plain' })),
      inline: { uri: 'docs://c', mimeType: 'text/plain', text: 'c' },
      bare: { uri: 'docs://d', name: 'd' },
    };
    const client = await open({ results: { make: () => ({ content: [], structuredContent }) }, about: SPEAKS });
    const { result } = await client.call('make');
    expect(result).toEqual({ content: [], structuredContent });
    expect(server.upstream.with('files/authorizeDownload')).toHaveLength(1);
  });

  it('where a text repeats its URI, it is renamed there as well (BR-19)', async () => {
    let uri = '';
    const results = {
      make: () => {
        const out = server.keep(F4);
        uri = out.uri;
        return {
          content: [{ type: 'text', text: JSON.stringify({ out, other: `${uri}x` }) }],
          structuredContent: { out },
        };
      },
    };
    const answer = await (await open({ results, about: SPEAKS })).call('make');
    expect(JSON.parse(String(answer.result?.content?.[0]?.text))).toMatchObject({
      out: { uri: outOf(answer).uri },
      other: `${uri}x`,
    });
  });

  it('a file named twice is fetched once, and is one file (BR-18)', async () => {
    const results = {
      make: () => {
        const file = server.keep(F4);
        return {
          content: [
            { type: 'file', file },
            { type: 'file', file },
          ],
          structuredContent: { a: [file] },
        };
      },
    };
    const { result } = await (await open({ results, about: SPEAKS })).call('make');
    const uris = result?.content?.filter(({ type }) => type === 'file').map(({ file }) => (file as Linked).uri);
    expect(new Set(uris).size).toBe(1);
    expect((result?.structuredContent as { a: Linked[] } | undefined)?.a[0]?.uri).toBe(uris?.[0]);
    expect(server.downloads).toHaveLength(1);
  });

  it('every byte beside the file stays as it was', async () => {
    const results = { make: () => ({ big: 1, content: [], structuredContent: { out: server.keep(F4), e: '1e400' } }) };
    const client = await open({ results, about: SPEAKS });
    const { answer } = await client.call('make');
    expect(answer.text).toMatch(
      /"result":\{.*"big":1,"content":\[\],"structuredContent":\{"out":\{.*\},"e":"1e400"\}\}\}$/,
    );
  });

  /** The server tells one digest everywhere, and its address serves other bytes, as many of them. */
  function altered() {
    const value = server.keep(F4);
    server.digestOf = () => digestValue(F4);
    server.files.set(value.uri, Buffer.from(F4).reverse());
    return value;
  }

  it.each([
    ['other bytes than it said (2631-45)', () => ({ ...server.keep(F4), digest: digestValue(F1) }), 'digestMismatch'],
    ['other bytes than both its result and its address were said to have (2631-45)', altered, 'digestMismatch'],
    ['another size than it said (2631-45)', () => ({ ...server.keep(F4), size: 12 }), 'sizeMismatch'],
    ['a file it no longer has (2631-52)', () => ({ uri: 'mcp-file://server/gone', name: 'gone.txt' }), 'fileNotFound'],
    ['a file larger than any may be', () => server.keep(Buffer.alloc(2000)), 'maxSizeExceeded'],
  ])('%s makes the result an error that keeps the rest', async (_what, file, reason) => {
    const results = {
      block: () => ({
        content: [
          { type: 'text', text: 'kept' },
          { type: 'file', file: file() },
        ],
        isError: false,
      }),
      value: () => ({ content: [{ type: 'text', text: 'kept' }], structuredContent: { out: file() } }),
    };
    const client = await open({ results, about: SPEAKS, config: { limits: { file: '1000B' } } });
    for (const name of ['block', 'value']) {
      const answer = await client.call(name);
      expect(answer.result).toMatchObject({ isError: true, content: [{ text: 'kept' }, { type: 'text' }] });
      expect(reasonOf(answer)).toBe(reason);
      expect(answer.result?._meta).toEqual({ 'dev.wharf/fileError': { reason } });
    }
  });

  it.each([
    ['to another host over http', 'http://files.example.com/x?sig=s3cr3t'],
    ['to a private address', 'https://192.168.0.1/x?sig=s3cr3t'],
  ])('a descriptor %s is not followed (2631-59)', async (_what, url) => {
    const client = await open({
      results: { make: report },
      methods: { 'files/authorizeDownload': ({ uri }) => ({ file: { uri }, download: { method: 'GET', url } }) },
      about: SPEAKS,
    });
    const answer = await client.call('make');
    expect(reasonOf(answer)).toBe('unreachable');
    expect(answer.answer.text).not.toContain('s3cr3t');
  });

  it('an answer about another file is none (2631-46)', async () => {
    const client = await open({
      results: { make: report },
      methods: {
        'files/authorizeDownload': ({ uri }) => ({
          file: { uri: `${uri}x` },
          download: server.downloadDescriptor(uri),
        }),
      },
    });
    expect(reasonOf(await client.call('make'))).toBe('unreachable');
  });

  it('file-backed contents are read for a client that cannot (2631-53)', async () => {
    const client = await open({
      methods: {
        'resources/read': ({ uri }) => ({
          contents: [{ uri, mimeType: 'text/plain', content: { uri: server.keep(F1).uri } }],
        }),
      },
    });
    const { result } = await client.request('resources/read', { uri: 'docs://a' });
    expect(result?.contents).toEqual([{ uri: 'docs://a', mimeType: 'text/plain', blob: F1.toString('base64') }]);
  });

  it('and renamed for one that can, wherever they stood (2631-53)', async () => {
    const client = await open({
      methods: {
        'resources/read': ({ uri }) => {
          const contents = { uri, mimeType: 'text/plain', content: { uri: server.keep(F1).uri } };
          return uri === 'docs://a'
            ? { contents: [contents] }
            : {
                contents: [
                  { uri, text: 'see _meta', _meta: { 'io.modelcontextprotocol/fileResourceContents': contents } },
                ],
              };
        },
      },
      about: SPEAKS,
    });
    for (const uri of ['docs://a', 'docs://b']) {
      const { result } = await client.request('resources/read', { uri });
      const item = (result?.contents as { uri: string; content: Linked }[] | undefined)?.[0];
      expect(item).toMatchObject({ uri, mimeType: 'text/plain' });
      expect(sha256Url(await download(client, item?.content.uri ?? ''))).toBe(sha256Url(F1));
    }
  });

  it('and where they cannot be had, the request fails with the name of the file, if it has one (2631-53)', async () => {
    const client = await open({
      methods: {
        'resources/read': ({ uri }) => {
          const [, name] = String(uri).split('?');
          return { contents: [{ uri, content: { uri: 'mcp-file://server/gone' }, ...(name && { name }) }] };
        },
      },
    });
    const { error } = await client.request('resources/read', { uri: 'docs://a' });
    expect(error).toMatchObject({ code: -32603, data: { code: 'remote_file_failed', reason: 'fileNotFound' } });
    expect(error?.message).toMatch(/^The file that the server "\w+" gave could not be fetched: /);
    expect(error?.data).not.toHaveProperty('name');
    const named = (await client.request('resources/read', { uri: 'docs://a?a.pdf' })).error;
    expect(named?.message).toMatch(/^The file "a.pdf" that the server "\w+" gave could not be fetched: /);
    expect(named?.data).toMatchObject({ name: 'a.pdf' });
  });

  it('a prompt message that is a file is one for every client', async () => {
    const client = await open({
      methods: {
        'prompts/get': () => ({
          messages: [{ role: 'user', content: { type: 'file', file: server.keep(F1, { name: 'a.txt' }) } }],
        }),
      },
    });
    const { result } = await client.request('prompts/get', { name: 'p' });
    const [message] = (result?.messages ?? []) as { content: Json }[];
    expect(message?.content).toMatchObject({ type: 'resource_link', name: 'a.txt' });
  });

  it('what only looks like a file is left alone when the server knows none, and it is asked once (2631-66)', async () => {
    const text = {
      content: [{ type: 'text', text: 'x' }],
      structuredContent: { out: { uri: 'mcp-file://other/1', n: 1 } },
    };
    const client = await open({
      results: { make: () => text },
      methods: { 'files/authorizeDownload': undefined },
      about: SPEAKS,
    });
    for (const _ of [1, 2]) expect((await client.call('make')).result).toEqual(text);
    expect(asked('files/authorizeDownload')).toBe(1);
  });

  it('fill no log where none of them can be had', async () => {
    const named = (at: number) => ({ type: 'file', file: { uri: `mcp-file://s/${at}`, name: 'n' } });
    const content = Array.from({ length: 30 }, (_, at) => named(at));
    const inside = { transport: 'http', method: 'GET', url: 'http://169.254.169.254/x' };
    const methods = { 'files/authorizeDownload': () => ({ download: inside }) };
    await (await open({ results: { make: () => ({ content }) }, methods })).call('make');
    expect(wharf.lines.filter(({ text }) => text === 'a file of the server was not fetched')).toHaveLength(10);
  });

  it('objects with URIs of other kinds are not files', async () => {
    const structuredContent = {
      links: [
        { uri: 'https://example.com/a', digest: digestValue(F1) },
        { uri: 'file:///etc/passwd', size: 3 },
        { type: 'resource_link', uri: 'mcp-file://server/1' },
        { uri: 'custom://x', name: 'x', text: 'its content' },
      ],
    };
    const client = await open({ results: { make: () => ({ content: [], structuredContent }) }, about: SPEAKS });
    expect((await client.call('make')).result).toEqual({ content: [], structuredContent });
    expect(asked('files/authorizeDownload')).toBe(0);
  });
});
