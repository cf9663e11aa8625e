import { afterEach, describe, expect, it } from '@jest/globals';
import { sha256 } from '../../helpers/bytes.js';
import { type ScriptedAnswer, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { RawClient } from '../../helpers/raw-client.js';
import { startWharf } from '../../helpers/wharf.js';
import {
  BIG,
  blob,
  bytesOf,
  event,
  F1,
  F6,
  type Json,
  type Lab,
  type LabOptions,
  rpc,
  STATELESS,
  startLab,
} from './sep-2532-lab.js';

const URI = 'docs://huge.pdf';
const REFUSES = { error: { code: -32603, message: 'Too large to read; use resources/stream' } };
const NOT_STREAMED = { error: { code: -32601, message: 'Method not found' } };

type Answer = (message: Json) => ScriptedAnswer;

let lab: Lab | undefined;
afterEach(async () => {
  await lab?.close();
  lab = undefined;
});

/** A server that refuses to read what it streams. */
async function streamingServer(answer: Answer, options: LabOptions = {}): Promise<Lab> {
  lab = await startLab({
    resources: { [URI]: REFUSES, 'docs://small': blob('docs://small', F1, 'text/plain') },
    capabilities: { resources: { stream: true } },
    ...options,
    methods: { 'resources/stream': answer, ...options.methods },
  });
  return lab;
}

const raw =
  (body: Buffer, contentType?: string, extra: Partial<ScriptedAnswer> = {}): Answer =>
  () => ({ body, ...(contentType && { contentType }), ...extra });

async function read(version?: string) {
  return (await (lab as Lab).plain(version)).request('resources/read', { uri: URI });
}

const blobOf = (result: Json | undefined) =>
  Buffer.from(String((result?.contents as Json[] | undefined)?.[0]?.blob), 'base64');

describe('a client that only reads, in front of a server that only streams', () => {
  it.each([
    ['application/pdf', true],
    ['text/html', {}],
    ['text/plain; charset=utf-8', true],
    [undefined, true],
    ['application/problem+json', true],
  ])('raw bytes of type %p (2532-61, 2532-03, 2532-17, 2532-19, BR-08)', async (type, stream) => {
    await streamingServer(raw(F1, type), { capabilities: { resources: { stream } } });
    const { result } = await read();
    expect(result).toEqual({
      contents: [{ uri: URI, ...(type && { mimeType: type }), blob: F1.toString('base64') }],
    });
    const asked = lab?.asked('resources/stream');
    expect(asked).toMatchObject([{ params: { uri: URI } }]);
    expect(Object.keys(asked?.[0]?.params as Json)).toEqual(['uri']);
  });

  it('it is asked for any type (2532-47)', async () => {
    await streamingServer(raw(F1, 'application/pdf'));
    await read();
    const sent = lab?.upstream.requests.find(({ body }) => body.includes('resources/stream'));
    expect(sent?.headers.accept).toBe('application/json, text/event-stream, */*');
  });

  it('a result with an address, on its own origin with its own credentials (2532-18, 2532-31)', async () => {
    await streamingServer(
      (message) =>
        rpc(message, {
          result: {
            uri: URI,
            mimeType: 'application/pdf',
            size: 12,
            downloadUrl: `${lab?.upstream.url.replace('/mcp', '')}/file`,
          },
        }),
      {
        server: { headers: { Authorization: 'Bearer operator' } },
        http: () => ({ body: F1, contentType: 'application/x-other' }),
      },
    );
    const { result } = await read();
    expect(result?.contents).toEqual([{ uri: URI, mimeType: 'application/pdf', blob: F1.toString('base64') }]);
    const fetched = lab?.upstream.requests.find(({ url }) => url === '/file');
    expect([fetched?.method, fetched?.headers.authorization]).toEqual(['GET', 'Bearer operator']);
  });

  it('an address that is a right of its own, or elsewhere, is asked without credentials (2532-33)', async () => {
    const elsewhere = await startFakeUpstream();
    elsewhere.respond = () => ({ body: F1, contentType: 'application/pdf' });
    for (const address of [
      () => `${lab?.upstream.url.replace('/mcp', '')}/file?X-Amz-Signature=abc`,
      () => elsewhere.url,
    ]) {
      await streamingServer((message) => rpc(message, { result: { downloadUrl: address() } }), {
        server: { headers: { Authorization: 'Bearer operator' }, fetch: { origins: [new URL(elsewhere.url).origin] } },
        http: () => ({ body: F1, contentType: 'application/pdf' }),
      });
      const { result } = await read();
      expect(blobOf(result)).toEqual(F1);
      const fetched = [...(lab?.upstream.requests ?? []), ...elsewhere.requests].find(({ method }) => method === 'GET');
      expect(fetched?.headers.authorization).toBeUndefined();
      await lab?.close();
    }
    lab = undefined;
    await elsewhere.close();
  });

  it.each(['http://169.254.169.254/latest', 'http://10.0.0.1/x', 'http://example.com/x', 'file:///etc/passwd'])(
    'the address %s is not asked (2532-30, 2532-56)',
    async (downloadUrl) => {
      await streamingServer((message) => rpc(message, { result: { downloadUrl } }));
      const { error } = await read();
      expect(error?.data).toMatchObject({ code: 'fetch_forbidden' });
      expect(JSON.stringify(error)).not.toContain('latest');
    },
  );

  it('an event stream with the answer in it (2532-20)', async () => {
    await streamingServer(
      (message) => event(message, { result: { downloadUrl: `${lab?.upstream.url.replace('/mcp', '')}/file` } }),
      { http: () => ({ body: F1, contentType: 'application/pdf' }) },
    );
    expect(blobOf((await read()).result)).toEqual(F1);
  });

  it.each([302, 303, 307])('HTTP %d is followed by hand (2532-28)', async (status) => {
    await streamingServer(() => ({ status, headers: { location: '/file', 'mcp-resource-uri': URI } }), {
      http: (request) => (request.url === '/file' ? { body: F1, contentType: 'application/pdf' } : undefined),
    });
    expect(blobOf((await read()).result)).toEqual(F1);
    const hop = lab?.upstream.requests.find(({ url }) => url === '/file');
    // on its own origin 307 means the same request again
    expect(hop?.method).toBe(status === 307 ? 'POST' : 'GET');
  });

  it('to another origin only a GET without credentials goes (2532-28)', async () => {
    const elsewhere = await startFakeUpstream();
    elsewhere.respond = () => ({ body: F1, contentType: 'application/pdf' });
    await streamingServer(() => ({ status: 307, headers: { location: elsewhere.url } }), {
      server: { headers: { Authorization: 'Bearer operator' }, fetch: { origins: [new URL(elsewhere.url).origin] } },
    });
    expect(blobOf((await read()).result)).toEqual(F1);
    const [hop] = elsewhere.requests;
    expect([hop?.method, hop?.headers.authorization, hop?.body.length]).toEqual(['GET', undefined, 0]);
    await elsewhere.close();
  });

  it('one that leads nowhere is an error (2532-28)', async () => {
    await streamingServer(() => ({ status: 307, headers: { location: '/mcp' } }));
    const { error } = await read();
    expect(error?.message).toContain('redirects more than 5 times');
    expect(lab?.asked('resources/stream')).toHaveLength(6);
  });

  it('a resource that is JSON itself is told from an answer (2532-18)', async () => {
    await streamingServer(raw(F6, 'application/json', { headers: { 'mcp-resource-uri': URI } }));
    const { result } = await read();
    expect(result?.contents).toEqual([{ uri: URI, mimeType: 'application/json', blob: F6.toString('base64') }]);
  });

  it('what would be too long becomes the link that every long resource becomes (2532-61)', async () => {
    await streamingServer(
      raw(BIG, 'application/pdf', { headers: { 'content-disposition': 'attachment; filename="Huge one.pdf"' } }),
      {
        config: { limits: { inlineResource: '64KiB' } },
      },
    );
    const { result } = await read();
    const [file] = ((result?._meta ?? {}) as Record<string, Json[]>)['dev.wharf/files'] ?? [];
    expect(file).toMatchObject({ name: 'Huge one.pdf', size: BIG.length, contentIndex: 0 });
    expect(result?.contents).toEqual([{ uri: URI, mimeType: 'text/uri-list', text: file?.url }]);
    expect(sha256(await bytesOf(await fetch(String(file?.url))))).toBe(sha256(BIG));
  });

  it('a 2026-07-28 server is asked once what it can, and told what Wharf takes (2532-04, BASE-16)', async () => {
    await streamingServer(raw(F1, 'application/pdf'));
    const client = await (lab as Lab).plain(STATELESS);
    for (let time = 0; time < 2; time++) {
      const { result } = await client.request('resources/read', { uri: URI });
      expect(result).toMatchObject({ resultType: 'complete', contents: [{ uri: URI }] });
    }
    expect(lab?.asked('server/discover')).toHaveLength(1);
    expect(lab?.asked('resources/stream')[0]).toMatchObject({
      params: {
        _meta: {
          'io.modelcontextprotocol/clientCapabilities': { resourceStreaming: { maxStreamSize: 100 * 1024 * 1024 } },
        },
      },
    });
  });

  it('however the refusal is spelled (2532-61)', async () => {
    await streamingServer(raw(F1, 'application/pdf'), {
      resources: {
        [URI]: ({ id }) => ({
          contentType: 'application/json',
          body: `{"jsonrpc":"2.0", "\\u0065rror" : {"message":"\\"error\\":","code":-32603} ,"id":${String(id)}}`,
        }),
      },
    });
    const { result, error } = await read();
    expect(error).toBeUndefined();
    expect(blobOf(result)).toEqual(F1);
  });

  it('what it reads, it is not asked to stream (2532-52)', async () => {
    await streamingServer(raw(F1));
    const { result } = await (await (lab as Lab).plain()).request('resources/read', { uri: 'docs://small' });
    expect(blobOf(result)).toEqual(F1);
    expect(lab?.asked('resources/stream')).toEqual([]);
  });

  it('what is not there is not asked for again, and its error goes through as it is (2532-36)', async () => {
    await streamingServer(raw(F1));
    const { error } = await (await (lab as Lab).plain()).request('resources/read', { uri: 'docs://none' });
    expect(error).toEqual({ code: -32002, message: 'Resource not found' });
    expect(lab?.asked('resources/stream')).toEqual([]);
  });

  it.each([
    ['2025-11-25', undefined],
    [STATELESS, 'complete'],
  ])('a refusal that %s says like that of a missing one is worth a try (2532-61)', async (version, resultType) => {
    await streamingServer(raw(F1, 'application/pdf'), {
      resources: { [URI]: { error: { code: -32602, message: 'Too large to read', data: { uri: URI } } } },
    });
    const { result } = await read(version);
    expect(result?.resultType).toBe(resultType);
    expect(blobOf(result)).toEqual(F1);
  });

  it('is helped as well where its person could be asked for something first, on 2026-07-28 (2532-61)', async () => {
    const { wharf } = await streamingServer(raw(F1, 'application/pdf'));
    const capabilities = { elicitation: { form: {}, url: {} } };
    const { result } = await RawClient.stateless(wharf.mcp, STATELESS, { capabilities }).request('resources/read', {
      uri: URI,
    });
    expect(blobOf(result)).toEqual(F1);
  });

  it('and stands when there is no stream either (2532-61)', async () => {
    const error = { code: -32602, message: 'Resource not found', data: { uri: URI } };
    await streamingServer((message) => rpc(message, { error }), { resources: { [URI]: { error } } });
    expect((await read(STATELESS)).error).toEqual(error);
  });

  it('a server that has not declared it is not asked (2532-03)', async () => {
    await streamingServer(raw(F1), { capabilities: { resources: { stream: false } } });
    expect((await read()).error).toEqual(REFUSES.error);
    expect(lab?.asked('resources/stream')).toEqual([]);
  });

  it.each([
    ['its refusal to stream', NOT_STREAMED],
    ['an error of its own', { error: { code: -32003, message: 'no' } }],
  ])('%s leaves its refusal to read (2532-17)', async (_what, outcome) => {
    await streamingServer((message) => rpc(message, outcome));
    expect((await read()).error).toEqual(REFUSES.error);
  });

  it.each([
    ['announced', raw(BIG, 'application/pdf')],
    ['counted', raw(BIG, 'application/pdf', { framing: 'chunked' })],
  ])('more than limits.file, %s, is an error and no file (2532-21)', async (_how, answer) => {
    await streamingServer(answer, { config: { limits: { file: '1MiB', inlineResource: '64KiB' } } });
    const { error } = await read();
    expect(error?.data).toMatchObject({ code: 'file_too_large', limit: 'limits.file' });
  });

  it('a body that ends too early is asked for once more, and nothing of it is given out (2532-41)', async () => {
    await streamingServer(raw(F1.subarray(0, 10), 'application/pdf', { declaredLength: 12, cut: 'fin' }));
    expect((await read()).error?.data).toMatchObject({ code: 'upstream_closed' });
    expect(lab?.asked('resources/stream')).toHaveLength(2);
  });

  it('an address whose bytes are not as many as the server said is an error (2532-41)', async () => {
    await streamingServer(
      (message) => rpc(message, { result: { downloadUrl: `${lab?.upstream.url.replace('/mcp', '')}/file`, size: 13 } }),
      { http: () => ({ body: F1, contentType: 'application/pdf' }) },
    );
    expect((await read()).error?.message).toContain('it announced 13 bytes and its address has 12');
  });

  it.each([
    ['a 410 (2532-44)', 410],
    ['a 503 (2532-45)', 503],
  ])('%s at its address is asked for once more', async (_name, status) => {
    let times = 0;
    await streamingServer(
      (message) => rpc(message, { result: { downloadUrl: `${lab?.upstream.url.replace('/mcp', '')}/file` } }),
      {
        http: () => (times++ === 0 ? { status } : { body: F1, contentType: 'application/pdf' }),
      },
    );
    expect(blobOf((await read()).result)).toEqual(F1);
    expect(lab?.asked('resources/stream')).toHaveLength(2);
  });
});

describe('a server whose messages share a channel', () => {
  it('streams by an address (2532-50, 2532-61)', async () => {
    const files = await startFakeUpstream();
    files.respond = () => ({ body: F1, contentType: 'application/pdf' });
    const legacy = await startFakeUpstream({ transport: 'legacy-sse' });
    legacy.respond = (request) => {
      if (request.method !== 'POST') return undefined;
      const message = JSON.parse(request.body.toString()) as Json;
      const outcome: Json | undefined = {
        initialize: {
          result: {
            protocolVersion: '2025-11-25',
            capabilities: { resources: { stream: true } },
            serverInfo: { name: 'l', version: '1' },
          },
        },
        'resources/read': REFUSES as Json,
        'resources/stream': { result: { uri: URI, mimeType: 'application/pdf', size: 12, downloadUrl: files.url } },
      }[String(message.method)];
      if (outcome) legacy.push({ jsonrpc: '2.0', id: message.id, ...outcome });
      return { status: 202 };
    };
    const fetch = { origins: [new URL(files.url).origin] };
    const wharf = await startWharf({ servers: { legacy: { url: legacy.url, transport: 'legacy-sse', fetch } } });
    const client = await RawClient.connect(wharf.mcp, '2025-11-25');
    const { result } = await client.request('resources/read', { uri: URI });
    expect(blobOf(result)).toEqual(F1);
    const streaming = await RawClient.connect(wharf.mcp, '2025-11-25', { capabilities: { resourceStreaming: {} } });
    const response = await streaming.open('resources/stream', { uri: URI }, { accept: '*/*' });
    expect(response.headers.get('content-type')).toBe('application/pdf');
    expect(await bytesOf(response)).toEqual(F1);
    await wharf.stop();
    await legacy.close();
    await files.close();
  });
});
