import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { type CollectedSpan, OtlpCollector } from '../../helpers/otlp-collector.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startEverything, type Transport } from '../../helpers/sdk-servers.js';
import { uploadByTus } from '../../helpers/tus-client.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

/** OpenTelemetry's SpanKind. */
const SERVER_SPAN = 2;

const LINK = /http[^"\\ ]+\/u\/[\w-]+/;

/** What a gateway has recorded of some work, once it has ended. */
async function recorded(servers: Record<string, unknown>, work: (wharf: Wharf) => Promise<void>) {
  const collector = await OtlpCollector.start();
  const wharf = await startWharf({
    servers,
    config: { telemetry: { use: 'otlp', endpoint: collector.url }, elicitation: { identity: 'none' } },
  });
  try {
    await work(wharf);
  } finally {
    await wharf.stop();
    await collector.stop();
  }
  return collector;
}

const attributesOf = (span: CollectedSpan | undefined, ...names: string[]) =>
  names.map((name) => span?.attributes[name]);

describe.each<[Transport, string]>([
  ['http', 'tcp'],
  ['sse', 'tcp'],
  ['stdio', 'pipe'],
])('A request of a server over %s', (transport, network) => {
  it('is a span below the call, and the same on its way to the client below that', async () => {
    const server = await startEverything(transport);
    const wire = transport === 'sse' ? 'legacy-sse' : 'streamable-http';
    const settings = server.command ? { command: server.command } : { url: server.url, transport: wire };
    const found = await recorded({ everything: settings }, async ({ mcp }) => {
      const client = new Client(
        { name: 'sdk', version: '1' },
        { capabilities: { sampling: {}, elicitation: { form: {} }, roots: {} } },
      );
      client.setRequestHandler(CreateMessageRequestSchema, () => ({
        model: 'm',
        role: 'assistant' as const,
        content: { type: 'text' as const, text: 'a secret answer' },
      }));
      client.setRequestHandler(ElicitRequestSchema, () => {
        throw new Error('a secret reason');
      });
      client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///secret-root' }] }));
      await client.connect(new StreamableHTTPClientTransport(new URL(mcp)));
      await client.callTool({ name: 'trigger-sampling-request', arguments: { prompt: 'a secret prompt' } });
      await client.callTool({ name: 'trigger-elicitation-request', arguments: {} });
      await client.callTool({ name: 'get-roots-list', arguments: {} });
      await client.close();
    });
    server.stop();
    const call = found.span('tools/call trigger-sampling-request', 'client');
    const behind = found.span('sampling/createMessage', 'server');
    // its client closes the stream as soon as it has the answer
    expect([call, found.span(call.name, 'server')].map(({ status }) => status.code)).toEqual([0, 0]);
    const front = found.span('sampling/createMessage', 'client');
    expect(front).toMatchObject({ traceId: behind.traceId, parentSpanId: behind.spanId, status: { code: 0 } });
    // over standard streams and SSE nothing says for which of several calls a server asks
    expect(behind).toMatchObject({ traceId: call.traceId, parentSpanId: call.spanId });
    expect(front.start).toBeGreaterThanOrEqual(behind.start);
    expect(front.end).toBeLessThanOrEqual(behind.end);
    expect(behind.attributes).toMatchObject({
      'mcp.method.name': 'sampling/createMessage',
      'jsonrpc.request.id': expect.any(String),
      'mcp.session.id': expect.stringMatching(/^[\w-]{10}$/),
      'network.transport': network,
      'wharf.server': 'everything',
    });
    expect(attributesOf(front, 'network.transport', 'client.address')).toEqual(['tcp', '127.0.0.1']);
    expect(front.attributes['mcp.session.id']).toBe(behind.attributes['mcp.session.id']);
    const refused = found.span('elicitation/create', 'client');
    expect(refused).toMatchObject({ status: { code: 2 } });
    expect(attributesOf(refused, 'error.type', 'rpc.response.status_code')).toEqual(['-32603', '-32603']);
    // the server asks once more by itself, some time after its client has said that it is ready
    const asked = found.spans.filter(({ name, kind }) => name === 'roots/list' && kind === SERVER_SPAN);
    expect(asked.map(({ status }) => status.code)).toContain(0);
    for (const secret of ['secret answer', 'secret prompt', 'secret-root']) expect(found.said).not.toContain(secret);
    const counted = found.metrics.get('mcp.client.operation.duration')?.points ?? [];
    expect(counted.map(({ attributes }) => attributes['mcp.method.name'])).toContain('sampling/createMessage');
  });
});

describe('An upload', () => {
  let folder: string;
  let upstream: RecordingUpstream;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wharf-upload-spans-'));
    const inputSchema = { type: 'object', properties: { doc: { type: 'string' } } };
    upstream = await RecordingUpstream.start({ tools: [{ name: 'ocr', inputSchema }] });
  });
  afterAll(async () => {
    await upstream?.stop();
    await rm(folder, { recursive: true });
  });

  const serverOf = () => ({ s: { url: upstream.url, tools: { ocr: { files: { doc: { encoding: 'base64' } } } } } });
  async function linkOf({ mcp }: Wharf): Promise<string> {
    const client = await RawClient.connect(mcp);
    await client.request('tools/list');
    const { text } = (await client.call('request_file_upload')).answer;
    return LINK.exec(text)?.[0] ?? '';
  }

  it('by tus has a span for each of its requests, with the file at its end', async () => {
    const file = join(folder, 'a.bin');
    await writeFile(file, Buffer.alloc(250_000, 7));
    let ticket = '';
    const found = await recorded(serverOf(), async (wharf) => {
      const link = await linkOf(wharf);
      ticket = link.slice(link.lastIndexOf('/') + 1);
      const told = await uploadByTus(link, file, { chunk: 100_000 });
      expect(told.at(-1)).toHaveProperty('handle');
    });
    const spans = found.spans.filter(({ name }) => name.endsWith('/u/{ticket}')).sort((a, b) => a.start - b.start);
    const brought = spans.filter(({ name }) => name.startsWith('PATCH'));
    expect(spans[0]?.name).toBe('POST /u/{ticket}');
    expect(brought.length).toBeGreaterThanOrEqual(2);
    const last = spans.at(-1);
    expect(last?.attributes).toMatchObject({
      'http.request.method': 'PATCH',
      'http.route': '/u/{ticket}',
      'http.response.status_code': 204,
      'network.transport': 'tcp',
      'client.address': '127.0.0.1',
      'wharf.server': 's',
      'wharf.files': 1,
      'wharf.file_bytes': 250_000,
    });
    expect(spans[0]?.attributes).not.toHaveProperty('wharf.files');
    expect(found.said).not.toContain(ticket);
  });

  it('that is refused says why, and is in the trace of its sender', async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const found = await recorded(serverOf(), async (wharf) => {
      const link = await linkOf(wharf);
      const headers = { traceparent: `00-${trace}-00f067aa0ba902b7-01` };
      const put = (to: string) => fetch(to, { method: 'PUT', body: Buffer.from('x'), headers });
      expect((await put(`${wharf.url}/u/${'A'.repeat(43)}`)).status).toBe(404);
      expect((await put(link)).status).toBeLessThan(300);
    });
    const [refused, stored] = found.spans
      .filter(({ name }) => name === 'PUT /u/{ticket}')
      .sort((a, b) => a.start - b.start);
    expect(refused).toMatchObject({ traceId: trace, parentSpanId: '00f067aa0ba902b7', status: { code: 2 } });
    expect(attributesOf(refused, 'error.type', 'wharf.error.code', 'http.response.status_code')).toEqual([
      'link_unknown',
      'link_unknown',
      404,
    ]);
    expect(stored?.status.code).toBe(0);
    const below = found.spans.find(({ name }) => name === 'store file');
    expect(below).toMatchObject({ traceId: trace, parentSpanId: stored?.spanId });
  });
});
