import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { FakeUpstream } from '../../helpers/fake-upstream.js';
import { RawClient } from '../../helpers/raw-client.js';
import {
  ANY,
  BIG,
  blob,
  bytesOf,
  errorOf,
  F1,
  type Json,
  type Lab,
  rpc,
  STATELESS,
  startLab,
  stream,
} from './sep-2532-lab.js';

const F1_URI = 'docs://f1';

const RESOURCES = {
  [F1_URI]: blob(F1_URI, F1, 'text/plain'),
  'docs://big': blob('docs://big', BIG, 'application/pdf'),
  'docs://unannounced': (message: Json) => ({
    ...rpc(message, {
      result: { contents: [{ uri: 'docs://unannounced', mimeType: 'application/pdf', blob: BIG.toString('base64') }] },
    }),
    framing: 'chunked' as const,
  }),
  'docs://sdk': { error: { code: -32602, message: 'MCP error -32602: Resource docs://sdk not found' } },
  'docs://new': { error: { code: -32602, message: 'no', data: { uri: 'docs://new' } } },
  'docs://forbidden': { error: { code: -32603, message: 'not today', data: { why: 'rain' } } },
  'docs://refused': { error: { code: -32003, message: 'cannot' } },
};

describe('who is given a stream, and which error who is not', () => {
  let lab: Lab;

  beforeAll(async () => {
    lab = await startLab({ resources: RESOURCES });
  });
  afterAll(() => lab.close());

  it('a legacy client that has not declared it is told of no such method (2532-06)', async () => {
    const before = lab.asked('resources/read').length;
    const response = await stream(await lab.plain(), F1_URI);
    expect(response.status).toBe(200);
    expect((await errorOf(response)).code).toBe(-32601);
    expect(lab.asked('resources/read')).toHaveLength(before);
  });

  it('a 2026-07-28 client is told which capability it lacks (2532-06, 2532-16, BASE-03)', async () => {
    const response = await stream(await lab.plain(STATELESS), F1_URI);
    expect(response.status).toBe(400);
    expect(await errorOf(response)).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { resourceStreaming: {} } },
    });
  });

  it.each([
    ['at the top', { resourceStreaming: {} }],
    ['as true', { resourceStreaming: true }],
    ['under experimental', { experimental: { resourceStreaming: {} } }],
    ['under extensions', { extensions: { 'io.modelcontextprotocol/resourceStreaming': {} } }],
  ])('declared %s (BASE-15)', async (_where, capabilities) => {
    const client = await RawClient.connect(lab.wharf.mcp, '2025-11-25', { capabilities });
    expect(await bytesOf(await stream(client, F1_URI))).toEqual(F1);
  });

  it('declared for one request, it counts for that one (BASE-15)', async () => {
    const client = await lab.plain();
    const _meta = { 'io.modelcontextprotocol/clientCapabilities': { resourceStreaming: {} } };
    expect(await bytesOf(await client.open('resources/stream', { uri: F1_URI, _meta }, ANY))).toEqual(F1);
    expect((await errorOf(await stream(client, F1_URI))).code).toBe(-32601);
  });

  it('what is larger than the client takes is refused with the code of its version (2532-05, 2532-38)', async () => {
    const legacy = await stream(await lab.client('2025-11-25', { maxStreamSize: 10 }), F1_URI);
    expect(legacy.status).toBe(200);
    expect(await errorOf(legacy)).toMatchObject({ code: -32004, data: { uri: F1_URI, size: 12, maxStreamSize: 10 } });
    const modern = await stream(await lab.client(STATELESS, { maxStreamSize: 10 }), F1_URI);
    expect(modern.status).toBe(200);
    expect(await errorOf(modern)).toMatchObject({
      code: -32602,
      data: { reason: 'maxStreamSizeExceeded', size: 12, maxStreamSize: 10, sepCode: -32004 },
    });
    expect(await bytesOf(await stream(await lab.client('2025-11-25', { maxStreamSize: 12 }), F1_URI))).toEqual(F1);
  });

  it('no byte is sent of what is announced to be too long (2532-05, 2532-21)', async () => {
    const client = await lab.client('2025-11-25', { maxStreamSize: 1_000_000 });
    expect(await errorOf(await stream(client, 'docs://big'))).toMatchObject({
      code: -32004,
      data: { size: BIG.length },
    });
  });

  it('what turns out too long on the way breaks off (2532-05, 2532-40)', async () => {
    const client = await lab.client('2025-11-25', { maxStreamSize: 1_000_000 });
    const response = await stream(client, 'docs://unannounced');
    expect(response.headers.get('content-type')).toBe('application/pdf');
    await expect(bytesOf(response)).rejects.toThrow();
  });

  it.each([
    ['docs://unknown', -32002],
    ['docs://sdk', -32002],
    ['docs://new', -32002],
  ])('%s is not there (2532-36, BASE-06)', async (uri, code) => {
    expect(await errorOf(await stream(await lab.client(), uri))).toMatchObject({ code, data: { uri } });
    expect(await errorOf(await stream(await lab.client(STATELESS), uri))).toMatchObject({
      code: -32602,
      data: { uri, reason: 'resourceNotFound', sepCode: -32002 },
    });
  });

  it('a server that refuses this resource is understood (2532-37)', async () => {
    const data = { uri: 'docs://refused', suggestion: 'Use resources/read instead' };
    expect(await errorOf(await stream(await lab.client(), 'docs://refused'))).toMatchObject({ code: -32003, data });
    expect(await errorOf(await stream(await lab.client(STATELESS), 'docs://refused'))).toMatchObject({
      code: -32602,
      data: { ...data, reason: 'streamNotSupported' },
    });
  });

  it("the server's other errors go through as they are (2532-16)", async () => {
    for (const version of ['2025-11-25', STATELESS]) {
      const response = await stream(await lab.client(version), 'docs://forbidden');
      expect(response.status).toBe(200);
      expect(await errorOf(response)).toEqual({ code: -32603, message: 'not today', data: { why: 'rain' } });
    }
  });

  it('a 2026-07-28 client sees no code that its version has not (BASE-05)', async () => {
    const client = await lab.client(STATELESS, { maxStreamSize: 10 });
    const codes = new Set<number>();
    for (const uri of [
      F1_URI,
      'docs://unknown',
      'docs://refused',
      'docs://sdk',
      'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA',
    ]) {
      codes.add((await errorOf(await stream(client, uri))).code);
    }
    expect([...codes]).toEqual([-32602]);
  });

  it('a session that is not known is a 404, as for every method', async () => {
    const response = await fetch(lab.wharf.mcp, {
      method: 'POST',
      headers: { ...ANY, 'content-type': 'application/json', 'mcp-session-id': 'nobody' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/stream', params: { uri: F1_URI } }),
    });
    expect(response.status).toBe(404);
  });
});

describe('a profile for clients that cannot declare it', () => {
  it('counts as if they had (BASE-15)', async () => {
    const lab = await startLab({
      resources: RESOURCES,
      config: { clients: [{ match: { name: 'viewer' }, dialects: ['sep-2532'] }] },
    });
    const viewer = await RawClient.connect(lab.wharf.mcp, '2025-11-25', { name: 'viewer' });
    expect(await bytesOf(await stream(viewer, F1_URI))).toEqual(F1);
    const other = await RawClient.connect(lab.wharf.mcp, '2025-11-25', { name: 'other' });
    expect((await errorOf(await stream(other, F1_URI))).code).toBe(-32601);
    await lab.close();
  });
});

describe('a server that dies', () => {
  const HALF = Math.floor(BIG.length / 2);

  async function streamFrom(
    script: (message: Json) => ReturnType<typeof rpc>,
  ): Promise<{ response: Response; lab: Lab; upstream: FakeUpstream }> {
    const lab = await startLab({ resources: { 'docs://dying': script } });
    return { response: await stream(await lab.client(), 'docs://dying'), lab, upstream: lab.upstream };
  }
  const result = { contents: [{ uri: 'docs://dying', mimeType: 'application/pdf', blob: BIG.toString('base64') }] };

  it('before the first byte: an internal error (2532-39)', async () => {
    const { response, lab } = await streamFrom((message) => ({
      ...rpc(message, { result }),
      cutAfter: 20,
      cut: 'rst',
    }));
    expect(response.status).toBe(200);
    expect((await errorOf(response)).code).toBe(-32603);
    await lab.close();
  });

  it('afterwards: a broken body, and no JSON at its end (2532-40)', async () => {
    const { response, lab } = await streamFrom((message) => ({
      ...rpc(message, { result }),
      cutAfter: HALF,
      cut: 'rst',
    }));
    const got: Buffer[] = [];
    const read = (async () => {
      for await (const chunk of response.body ?? []) got.push(Buffer.from(chunk));
    })();
    await expect(read).rejects.toThrow();
    const bytes = Buffer.concat(got);
    expect(bytes.length).toBeGreaterThan(0);
    expect(bytes.equals(BIG.subarray(0, bytes.length))).toBe(true);
    await lab.close();
  });

  it('an answer to another request, one with an error too, or one that names its content twice, breaks the body as well (2532-40)', async () => {
    for (const change of [
      (text: string) => text.replace(/\}$/, ',"error":{"code":-32603,"message":"after all not"}}'),
      (text: string) => text.replace(/"id":\d+/, '"id":"another"'),
      (text: string) =>
        text.replace(/"mimeType"/, '"mimeType":"text/html","mimeType"').replace('}]}', ',"uri":"docs://x"}]}'),
    ]) {
      const { response, lab } = await streamFrom((message) => {
        const answer = rpc(message, { result });
        return { ...answer, body: change(String(answer.body)) };
      });
      if (response.headers.get('content-type') === 'application/json') await errorOf(response);
      else await expect(bytesOf(response)).rejects.toThrow();
      await lab.close();
    }
  });

  it('the first byte is there before the server has sent its last, and a client that goes ends it (2532-22, 2532-63)', async () => {
    const lab = await startLab({
      resources: { 'docs://dying': (message) => ({ ...rpc(message, { result }), cutAfter: HALF, cut: 'stall' }) },
    });
    const client = await lab.client();
    const gone = new AbortController();
    const response = await client.open('resources/stream', { uri: 'docs://dying' }, ANY, gone.signal);
    const reader = response.body?.getReader();
    const first = await reader?.read();
    expect(BIG.subarray(0, first?.value?.length).equals(Buffer.from(first?.value ?? []))).toBe(true);
    const asked = lab.upstream.requests.at(-1);
    expect(asked?.abandoned).toBe(false);
    const goneAt = Date.now();
    gone.abort();
    while (!asked?.abandoned && Date.now() - goneAt < 10_000) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(asked?.abandoned).toBe(true);
    await lab.close();
  });
});
