import { afterEach, describe, expect, it } from '@jest/globals';
import { sha256 } from '../../helpers/bytes.js';
import type { ScriptedAnswer } from '../../helpers/fake-upstream.js';
import {
  ANY,
  BIG,
  bytesOf,
  errorOf,
  F1,
  F6,
  JSON_ONLY,
  type Json,
  type Lab,
  type LabOptions,
  resultOf,
  rpc,
  STATELESS,
  startLab,
  stream,
} from './sep-2532-lab.js';

const URI = 'docs://report.pdf';

let lab: Lab;
afterEach(() => lab.close());

async function through(answer: (message: Json) => ScriptedAnswer, options: LabOptions = {}): Promise<void> {
  lab = await startLab({
    capabilities: { resources: { stream: true } },
    methods: { 'resources/stream': answer },
    ...options,
  });
}

const fileUrl = () => `${lab.upstream.url.replace('/mcp', '')}/private-file`;

describe('a streaming client in front of a streaming server', () => {
  it.each(['2025-11-25', STATELESS])(
    'bytes pass through (%s) (Q8, 2532-11, 2532-12, 2532-13, 2532-14, 2532-15)',
    async (version) => {
      await through(() => ({
        body: BIG,
        contentType: 'application/pdf',
        headers: {
          'content-disposition': 'attachment; filename="../Quarter 1.pdf"',
          'set-cookie': 'a=b',
          'mcp-resource-uri': 'docs://forged',
        },
      }));
      const response = await stream(await lab.client(version), URI);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'application/pdf',
        'content-length': String(BIG.length),
        'content-disposition': 'attachment; filename="Quarter 1.pdf"',
        'mcp-resource-uri': URI,
        'cache-control': 'no-store, no-transform',
      });
      expect(response.headers.get('set-cookie')).toBeNull();
      expect(sha256(await bytesOf(response))).toBe(sha256(BIG));
      expect(lab.asked('resources/read')).toEqual([]);
    },
  );

  it('while they arrive, and no longer than the client stays (2532-22, 2532-63)', async () => {
    await through(() => ({ body: BIG, contentType: 'application/pdf', cutAfter: 500_000, cut: 'stall' }));
    const client = await lab.client();
    const gone = new AbortController();
    const response = await client.open('resources/stream', { uri: URI }, ANY, gone.signal);
    const first = await response.body?.getReader().read();
    expect(BIG.subarray(0, first?.value?.length).equals(Buffer.from(first?.value ?? []))).toBe(true);
    gone.abort();
    const asked = lab.upstream.requests.at(-1);
    const until = Date.now() + 30_000;
    while (!asked?.abandoned && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(asked?.abandoned).toBe(true);
  });

  it('a body that ends too early breaks off here as well (2532-40)', async () => {
    await through(() => ({ body: BIG, contentType: 'application/pdf', cutAfter: 500_000, cut: 'rst' }));
    await expect(bytesOf(await stream(await lab.client(), URI))).rejects.toThrow();
  });

  it('the limits of both hold, announced or counted (2532-05, 2532-21)', async () => {
    await through(() => ({ body: BIG, contentType: 'application/pdf' }));
    const client = await lab.client('2025-11-25', { maxStreamSize: 1000 });
    expect(await errorOf(await stream(client, URI))).toMatchObject({ code: -32004, data: { size: BIG.length } });
    await lab.close();
    await through(() => ({
      body: BIG.subarray(0, 10_000),
      contentType: 'application/pdf',
      framing: 'chunked',
      chunk: 500,
      gapMs: 1,
    }));
    const response = await stream(await lab.client('2025-11-25', { maxStreamSize: 1000 }), URI);
    await expect(bytesOf(response)).rejects.toThrow();
  });

  it('what cannot be a body for this client becomes a link (2532-62, 2532-48)', async () => {
    await through(() => ({ body: F6, contentType: 'application/json', headers: { 'mcp-resource-uri': URI } }));
    const client = await lab.client();
    const json = await resultOf(await stream(client, URI));
    expect(json).toMatchObject({ uri: URI, mimeType: 'application/json', size: 7 });
    expect(await bytesOf(await fetch(String(json.downloadUrl)))).toEqual(F6);
    await lab.close();
    await through(() => ({ body: F1, contentType: 'application/pdf' }));
    const link = await resultOf(await stream(await lab.client(), URI, JSON_ONLY));
    expect(await bytesOf(await fetch(String(link.downloadUrl)))).toEqual(F1);
  });

  it.each([
    [
      'its address',
      (message: Json) => rpc(message, { result: { downloadUrl: fileUrl(), mimeType: 'application/pdf' } }),
    ],
    ['a redirect', () => ({ status: 302, headers: { location: fileUrl() } })],
  ])("the client never sees the server's own %s (2532-66)", async (_what, answer) => {
    await through(answer, { http: () => ({ body: F1, contentType: 'application/pdf' }) });
    const client = await lab.client();
    expect(await bytesOf(await stream(client, URI))).toEqual(F1);
    const link = await resultOf(await stream(client, URI, JSON_ONLY));
    expect(link.downloadUrl).not.toContain('private-file');
  });

  it('its errors take the code of the client', async () => {
    await through((message) => rpc(message, { error: { code: -32004, message: 'too large' } }));
    expect((await errorOf(await stream(await lab.client(), URI))).code).toBe(-32004);
    expect(await errorOf(await stream(await lab.client(STATELESS), URI))).toMatchObject({
      code: -32602,
      data: { reason: 'maxStreamSizeExceeded' },
    });
  });

  it('a server that answers with an error page is an error', async () => {
    await through(() => ({ status: 500, contentType: 'text/html', body: '<h1>Oops</h1>' }));
    expect(await errorOf(await stream(await lab.client(), URI))).toMatchObject({ data: { code: 'upstream_refused' } });
  });
});

/** A server's word that it gives this resource by `resources/read` alone. */
const ONLY_READ = {
  code: -32003,
  message: 'Stream not supported',
  data: { uri: URI, suggestion: 'Use resources/read' },
};

describe('a resource that a streaming server gives by resources/read alone', () => {
  it.each([
    ['as the draft has it', '2025-11-25', ONLY_READ],
    ['as the draft has it', STATELESS, ONLY_READ],
    ['by not knowing the method', '2025-11-25', { code: -32601, message: 'Method not found' }],
  ])('is read there, and streamed to the client: refused %s (%s) (2532-37, 2532-60)', async (_how, version, error) => {
    const blob = { uri: URI, mimeType: 'application/pdf', blob: F1.toString('base64') };
    await through((message) => rpc(message, { error }), { resources: { [URI]: { contents: [blob] } } });
    const response = await stream(await lab.client(version), URI);
    expect(response.headers.get('content-type')).toBe('application/pdf');
    expect(await bytesOf(response)).toEqual(F1);
    expect(lab.asked('resources/stream')).toHaveLength(1);
  });

  it('and that it does not let clients read either, is refused as it refuses it (2532-37, 2532-39)', async () => {
    const error = { code: -32603, message: 'not today' };
    await through((message) => rpc(message, { error: ONLY_READ }), { resources: { [URI]: { error } } });
    expect(await errorOf(await stream(await lab.client(), URI))).toEqual(error);
  });
});

describe('an address of a streaming server at which Wharf may not look', () => {
  const addresses: [what: string, outcome: (message: Json) => ScriptedAnswer][] = [
    ['not https', (message) => rpc(message, { result: { downloadUrl: 'http://files.example/x' } })],
    ['not public', (message) => rpc(message, { result: { downloadUrl: 'https://10.0.0.1/x' } })],
    ['in a circle', () => ({ status: 302, headers: { location: fileUrl() } })],
  ];

  it.each(addresses)('%s, is a failure of the server, and no fault in the request (2532-39)', async (_what, answer) => {
    const http = () => ({ status: 302, headers: { location: fileUrl() } });
    await through(answer, { http });
    for (const version of ['2025-11-25', STATELESS]) {
      const response = await stream(await lab.client(version), URI);
      expect(response.status).toBe(200);
      expect(await errorOf(response)).toMatchObject({ code: -32603, data: { code: 'fetch_forbidden' } });
    }
  });

  it('and one with more bytes than Wharf takes is as well (2532-39)', async () => {
    const http = () => ({ body: BIG, contentType: 'application/pdf', framing: 'chunked' as const });
    const answer = (message: Json) =>
      rpc(message, { result: { downloadUrl: fileUrl(), mimeType: 'application/json' } });
    await through(answer, { http, config: { limits: { file: '1MiB', inlineResource: '64KiB' } } });
    const error = await errorOf(await stream(await lab.client(), URI));
    expect(error).toMatchObject({ code: -32603, data: { limit: 'limits.file' } });
  });
});
