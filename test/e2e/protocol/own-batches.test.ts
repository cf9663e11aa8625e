import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { type RawAnswer, RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { type SdkServer, startEverything, type Transport } from '../../helpers/sdk-servers.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const VERSION = '2025-03-26';
const PING = { jsonrpc: '2.0', id: 'p', method: 'ping' };
const CHANGED = { jsonrpc: '2.0', method: 'notifications/roots/list_changed' };
const authorize = (id: unknown, params = {}) => ({ jsonrpc: '2.0', id, method: 'files/authorizeUpload', params });
const call = (id: unknown, name: string, args = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});
const read = (id: unknown, uri: string) => ({ jsonrpc: '2.0', id, method: 'resources/read', params: { uri } });

const answersIn = ({ messages }: RawAnswer) => messages.flat().filter(({ id }) => id !== undefined);
const byId = (answer: RawAnswer, wanted: unknown) => answersIn(answer).find(({ id }) => id === wanted);
const idsIn = (answer: RawAnswer) => answersIn(answer).map(({ id }) => id);
const reads = async (answer: RawAnswer, id: unknown) => {
  const { upload, file } = (byId(answer, id)?.result ?? {}) as { upload: { url: string }; file: { uri: string } };
  const { status } = await fetch(upload.url, { method: 'PUT', body: 'Hello world!' });
  return { status, uri: file.uri };
};

describe.each<Transport>(['stdio', 'sse', 'http'])(
  'a batch with requests for Wharf, for "everything" over %s',
  (transport) => {
    let server: SdkServer;
    let wharf: Wharf;
    let client: RawClient;

    beforeAll(async () => {
      server = await startEverything(transport);
      const at = server.command ? { command: server.command } : { url: server.url };
      wharf = await startWharf({
        servers: { one: { ...at, tools: { echo: { files: { message: { encoding: 'base64' } } } } } },
      });
      client = await RawClient.connect(wharf.mcp, VERSION);
    });

    afterAll(async () => {
      await wharf?.stop();
      server?.stop();
    });

    it('is answered by both, each request once and by its own id', async () => {
      const answer = await client.post([
        PING,
        authorize(7, { name: 'a.txt' }),
        CHANGED,
        call('up', 'request_file_upload', { name: 'b.txt' }),
        call(8, 'echo', { message: 'data:,Hello' }),
      ]);
      expect(answer.status).toBe(200);
      expect([...idsIn(answer)].sort()).toEqual([7, 8, 'p', 'up']);
      expect(byId(answer, 'p')?.result).toEqual({});
      expect(byId(answer, 8)?.result).toEqual({ content: [{ type: 'text', text: 'Echo: SGVsbG8=' }] });
      expect(JSON.stringify(byId(answer, 'up')?.result?.content)).toContain('/u/');
      const { status, uri } = await reads(answer, 7);
      expect(status).toBe(201);
      const next = await client.post([read(1, uri), PING, call(2, 'get_file_link', { handle: uri })]);
      expect(JSON.stringify(byId(next, 1)?.result)).toContain('Hello world!');
      expect(byId(next, 2)?.result?.isError).toBeUndefined();
      expect(idsIn(next)).toHaveLength(3);
    });

    it('of nothing else is one array, and one of notifications beside it too', async () => {
      for (const others of [[], [CHANGED]]) {
        const answer = await client.post([...others, authorize(1), authorize('1', { size: -1 })]);
        expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
        expect(JSON.parse(answer.text)).toEqual([
          { jsonrpc: '2.0', id: 1, result: expect.objectContaining({ upload: expect.anything() }) },
          { jsonrpc: '2.0', id: '1', error: expect.objectContaining({ code: -32602 }) },
        ]);
      }
      const events = await client.post([authorize(1)], { accept: 'text/event-stream' });
      expect(events.headers.get('content-type')).toBe('text/event-stream');
      expect(idsIn(events)).toEqual([1]);
    });
  },
);

describe('a batch with requests for Wharf', () => {
  let fake: FakeUpstream;
  let wharf: Wharf;
  let client: RawClient;

  beforeEach(async () => {
    fake = await startFakeUpstream();
    wharf = await startWharf({ servers: { one: { url: fake.url, transport: 'streamable-http' } } });
    client = await RawClient.connect(wharf.mcp, VERSION);
  });

  afterEach(async () => {
    await wharf?.stop();
    await fake?.close();
  });

  it('reaches the server without them, its other messages byte for byte, and so does its answer the client', async () => {
    const others = ['{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping","x":1e400}', JSON.stringify(CHANGED)];
    const own = ['a', 'b', 'c'].map((id) => JSON.stringify(authorize(id)));
    const result = '{"result":{"n":1e400,"s":"\\u005d"}, "jsonrpc":"2.0","id":12345678901234567890}';
    fake.queue.push({ contentType: 'application/json', body: ` [ ${result} ] \n` });
    const { text } = await client.post(`[${own[0]}, ${others[0]} ,${own[1]},\n${others[1]},${own[2]}]`);
    expect(fake.requests.at(-1)?.body.toString()).toBe(`[${others.join(',')}]`);
    expect(text).toContain(`, ${result} `);
    expect(JSON.parse(text).map(({ id }: { id: unknown }) => String(id))).toEqual([
      'a',
      'b',
      'c',
      String(Number('12345678901234567890')),
    ]);
  });

  it.each([
    ['one object', '{"jsonrpc":"2.0","id":"p","result":{}}', 'application/json', ['a', 'p']],
    ['an empty array', '[]', 'application/json', ['a']],
    ['events', 'id: 5\ndata: [{"jsonrpc":"2.0","id":"p","result":{}}]\n\n', 'text/event-stream', ['a', 'p']],
  ])('has the answers of a server that answers by %s', async (_, body, contentType, ids) => {
    fake.queue.push({ contentType, body });
    const answer = await client.post([PING, authorize('a')]);
    expect(answer.headers.get('content-type')).toBe(contentType);
    expect(idsIn(answer)).toEqual(ids);
    if (contentType !== 'application/json') expect(answer.text).toContain('id: 5\n');
  });

  it('has an error for what the server answers with a page, or not at all', async () => {
    const queued = [{ contentType: 'text/html', body: '<p>' }, { reset: true }, { status: 202 }, { status: 401 }];
    for (const answer of queued) {
      fake.queue.push(answer, answer);
      const got = await client.post([PING, authorize('a')]);
      expect([got.status, idsIn(got)]).toEqual([200, ['a', 'p']]);
      expect(byId(got, 'p')?.error?.message).toContain('"one"');
      expect(byId(got, 'a')?.result).toBeDefined();
    }
  });

  it('has an error for a stream that its client does not take, and the server’s answer to the rest', async () => {
    const stream = { jsonrpc: '2.0', id: 's', method: 'resources/stream', params: { uri: 'docs://a' } };
    fake.queue.push({ contentType: 'application/json', body: '[{"jsonrpc":"2.0","id":"p","result":{}}]' });
    const got = await client.post([PING, stream]);
    expect(byId(got, 'p')?.result).toEqual({});
    expect(byId(got, 's')?.error?.code).toBe(-32601);
    expect(JSON.parse(String(fake.requests.at(-1)?.body))).toEqual([PING]);
  });

  it.each([404, 400])('is refused as a whole by a server with the status %s', async (status) => {
    fake.queue.push({
      status,
      contentType: 'application/json',
      body: '{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"no"}}',
    });
    const got = await client.post([PING, authorize('a')]);
    expect(got.status).toBe(status);
    expect(got.text).toContain('"no"');
  });
});

describe('a batch with requests for Wharf and files', () => {
  it('answers the former where a call of the others is refused, and a stream of its own file by a link (2532-50)', async () => {
    const file = { type: 'string', contentEncoding: 'base64' };
    const upstream = await RecordingUpstream.start({
      tools: [{ name: 'take', inputSchema: { type: 'object', properties: { file } } }],
      capabilities: { resources: {} },
    });
    const wharf = await startWharf({ servers: { docs: { url: upstream.url, transport: 'streamable-http' } } });
    try {
      const client = await RawClient.connect(wharf.mcp, VERSION, { capabilities: { resourceStreaming: {} } });
      const { uri } = await reads(await client.post([authorize(1, { name: 'a.txt' })]), 1);
      const stream = { jsonrpc: '2.0', id: 's', method: 'resources/stream', params: { uri } };
      const before = upstream.with('tools/call').length;
      const answer = await client.post([
        call('bad', 'take', { file: 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA' }),
        stream,
        call('link', 'get_file_link', { handle: uri }),
      ]);
      expect(byId(answer, 'bad')?.error?.data).toMatchObject({ reason: 'fileNotFound' });
      expect(JSON.stringify(byId(answer, 'link')?.result?.content)).toContain('/d/');
      const { downloadUrl } = (byId(answer, 's')?.result ?? {}) as { downloadUrl: string };
      expect(await (await fetch(downloadUrl)).text()).toBe('Hello world!');
      expect(upstream.with('tools/call')).toHaveLength(before);
      expect(upstream.with('files/authorizeUpload')).toEqual([]);
    } finally {
      await wharf.stop();
      await upstream.stop();
    }
  });

  it('holds its own answers within limits.held', async () => {
    const upstream = await RecordingUpstream.start({});
    const limits = {
      held: '8MiB',
      share: 1,
      message: '64KiB',
      inlineArgument: '64KiB',
      response: '64KiB',
      inlineImage: '4MB',
    };
    const wharf = await startWharf({
      servers: { docs: { url: upstream.url, transport: 'streamable-http' } },
      config: { limits: { ...limits, inlineOther: '3MiB' } },
    });
    try {
      const client = await RawClient.connect(wharf.mcp, VERSION);
      const first = await client.post([authorize(1, { name: 'a.txt', mimeType: 'text/plain' })]);
      const { upload, file } = (byId(first, 1)?.result ?? {}) as { upload: { url: string }; file: { uri: string } };
      await fetch(upload.url, {
        method: 'PUT',
        body: 'a'.repeat(3_000_000),
        headers: { 'content-type': 'text/plain' },
      });
      const answer = await client.post([0, 1, 2, 3].map((id) => read(id, file.uri)));
      const kinds = answersIn(answer).map(({ result, error }) => (result ? 'text' : error?.data?.limit));
      expect(kinds).toEqual(['text', 'text', 'limits.held', 'limits.held']);
      // what was counted is released
      expect(byId(await client.post([read(1, file.uri)]), 1)?.result).toBeDefined();
    } finally {
      await wharf.stop();
      await upstream.stop();
    }
  });
});
