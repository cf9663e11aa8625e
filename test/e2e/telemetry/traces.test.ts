import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { startFakeUpstream } from '../../helpers/fake-upstream.js';
import { OtlpCollector } from '../../helpers/otlp-collector.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream, RpcError } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const OTHER_TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = '00f067aa0ba902b7';
const OTHER_SPAN = 'b7ad6b7169203331';
const PARENT = `00-${TRACE}-${SPAN}-01`;

let server: RecordingUpstream;
let collector: OtlpCollector;

beforeAll(async () => {
  server = await RecordingUpstream.start({
    tools: [{ name: 'weather', inputSchema: { type: 'object' } }],
    methods: {
      'tools/call': ({ name }) => {
        if (name === 'broken') throw new RpcError(-32602, 'no such place');
        if (name === 'talkative') throw new RpcError(-32000, 'Bearer hidden-6hidden');
        if (name === 'failing') return { content: [{ type: 'text', text: 'no' }], isError: true };
        return { content: [{ type: 'text', text: 'sunny' }] };
      },
    },
  });
});

afterAll(() => server?.stop());

/** What a gateway has recorded of some work, once it has ended. */
async function recorded(
  work: (wharf: Wharf) => Promise<void>,
  telemetry: Record<string, unknown> = {},
  url = server.url,
): Promise<OtlpCollector> {
  collector = await OtlpCollector.start();
  const config = { telemetry: { use: 'otlp', endpoint: collector.url, ...telemetry } };
  const wharf = await startWharf({ servers: { forecast: { url, transport: 'streamable-http' } }, config });
  try {
    await work(wharf);
  } finally {
    await wharf.stop();
    await collector.stop();
  }
  return collector;
}

describe('A trace', () => {
  it('goes from an SDK client through Wharf to its server', async () => {
    const before = server.requests.length;
    const found = await recorded(async ({ mcp }) => {
      const client = new Client({ name: 'sdk', version: '1' });
      await client.connect(new StreamableHTTPClientTransport(new URL(mcp)));
      const _meta = { traceparent: PARENT, tracestate: 'rojo=1', baggage: 'userId=alice' };
      await client.callTool({ name: 'weather', arguments: { place: 'a secret place' }, _meta });
      await client.close();
    });
    const front = found.span('tools/call weather', 'server');
    const behind = found.span('tools/call weather', 'client');
    expect(front).toMatchObject({ traceId: TRACE, parentSpanId: SPAN, traceState: 'rojo=1', status: { code: 0 } });
    expect(behind).toMatchObject({ traceId: TRACE, parentSpanId: front.spanId });
    expect(behind.start).toBeGreaterThanOrEqual(front.start);
    expect(behind.end).toBeLessThanOrEqual(front.end);
    const call = server.requests.slice(before).find(({ method }) => method === 'tools/call');
    const handedOn = `00-${TRACE}-${behind.spanId}-01`;
    expect(call?.params._meta).toMatchObject({ traceparent: handedOn, tracestate: 'rojo=1', baggage: 'userId=alice' });
    expect(call?.headers).toMatchObject({ traceparent: handedOn, tracestate: 'rojo=1' });
    expect(front.attributes).toEqual({
      'mcp.method.name': 'tools/call',
      'gen_ai.tool.name': 'weather',
      'gen_ai.operation.name': 'execute_tool',
      'jsonrpc.request.id': expect.any(String),
      'mcp.protocol.version': '2025-11-25',
      'mcp.session.id': expect.stringMatching(/^[\w-]{10}$/),
      'network.transport': 'tcp',
      'network.protocol.name': 'http',
      'client.address': '127.0.0.1',
      'wharf.server': 'forecast',
    });
    expect(behind.attributes).toMatchObject({
      'mcp.method.name': 'tools/call',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(server.url).port),
    });
    expect(found.said).not.toContain('secret place');
    // a notification is a message too
    expect(found.span('notifications/initialized', 'server').attributes).not.toHaveProperty('jsonrpc.request.id');
  });

  it("of an HTTP request is its messages' where they name none, and a link where they do", async () => {
    const found = await recorded(async ({ mcp }) => {
      const headers = { traceparent: `00-${OTHER_TRACE}-${OTHER_SPAN}-01` };
      const client = RawClient.stateless(mcp, '2026-07-28', { headers });
      await client.call('weather');
      await client.request('ping', { _meta: { traceparent: PARENT } });
    });
    expect(found.span('tools/call weather', 'server')).toMatchObject({
      traceId: OTHER_TRACE,
      parentSpanId: OTHER_SPAN,
      links: [],
    });
    expect(found.span('ping', 'server')).toMatchObject({
      traceId: TRACE,
      parentSpanId: SPAN,
      links: [{ traceId: OTHER_TRACE, spanId: OTHER_SPAN }],
    });
  });

  it('begins at Wharf where a client names none, and its server finds it in the headers alone', async () => {
    const sent: Buffer[] = [];
    const found = await recorded(async ({ mcp }) => {
      const client = await RawClient.connect(mcp);
      await client.call('weather', { n: 1e21 });
      const call = server.with('tools/call').at(-1);
      if (call) sent.push(call.body);
    });
    const front = found.span('tools/call weather', 'server');
    expect(front.parentSpanId).toBe('');
    const call = server.with('tools/call').at(-1);
    expect(call?.headers.traceparent).toBe(
      `00-${front.traceId}-${found.span('tools/call weather', 'client').spanId}-01`,
    );
    const written =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"weather","arguments":{"n":1e+21}}}';
    expect(sent.map(String)).toEqual([written]);
  });

  it('is named in each request if the config says so', async () => {
    const work = async ({ mcp }: Wharf) => {
      const client = await RawClient.connect(mcp);
      await client.call('weather');
    };
    const found = await recorded(work, { handOn: 'always' });
    const { traceId, spanId } = found.span('tools/call weather', 'client');
    expect(server.with('tools/call').at(-1)?.params._meta).toEqual({ traceparent: `00-${traceId}-${spanId}-01` });
  });

  it.each(['00-zz-zz-01', '', 7, `00-${'0'.repeat(32)}-${SPAN}-01`, `ff-${TRACE}-${SPAN}-01`])(
    'that cannot be one is as if it had not been named: %j',
    async (traceparent) => {
      const found = await recorded(async ({ mcp }) => {
        const client = await RawClient.connect(mcp);
        const { result } = await client.request('tools/call', { name: 'weather', _meta: { traceparent } });
        expect(result).toBeDefined();
      });
      expect(found.span('tools/call weather', 'server').parentSpanId).toBe('');
    },
  );

  it('that its client does not record is handed on and not recorded', async () => {
    const found = await recorded(async ({ mcp }) => {
      const client = await RawClient.connect(mcp);
      await client.request('tools/call', { name: 'weather', _meta: { traceparent: `00-${TRACE}-${SPAN}-00` } });
    });
    expect(found.spans.filter(({ traceId }) => traceId === TRACE)).toEqual([]);
    const handedOn = server.with('tools/call').at(-1)?.params._meta as { traceparent: string };
    expect(handedOn.traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
  });
});

describe('A span says how its message failed:', () => {
  it('by the code of the error, as `tool_error`, or by the code of Wharf itself', async () => {
    const found = await recorded(async ({ mcp }) => {
      const client = await RawClient.connect(mcp);
      await client.call('broken');
      await client.call('failing');
      await client.request('unheard/of');
      await client.post({ jsonrpc: '2.0', id: 9, method: 'ping' }, { 'mcp-session-id': 'no such session' });
    });
    const broken = { code: 2, message: 'no such place' };
    for (const kind of ['server', 'client'] as const) {
      const span = found.span('tools/call broken', kind);
      expect(span).toMatchObject({ status: broken, attributes: { 'error.type': '-32602' } });
      expect(span.attributes['rpc.response.status_code']).toBe('-32602');
      const failing = found.span('tools/call failing', kind);
      expect(failing).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': 'tool_error' } });
      expect(failing.attributes).not.toHaveProperty('rpc.response.status_code');
      expect(found.span('unheard/of', kind).attributes['error.type']).toBe('-32601');
    }
    expect(found.span('ping', 'server').attributes).toMatchObject({
      'error.type': '-32001',
      'wharf.error.code': 'session_unknown',
    });
  });
});

it('A span says that a message failed whose answer is one event with U+2028 in it', async () => {
  const upstream = await startFakeUpstream({ transport: 'sse' });
  upstream.respond = ({ body }) => {
    if (!body.includes('"blob"')) return undefined;
    const { id } = JSON.parse(body.toString()) as { id: number };
    const error = { code: -32602, message: 'no such\u2028place' };
    const data = `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, error })}\n\n`;
    return { contentType: 'text/event-stream', body: data };
  };
  try {
    const work = async ({ mcp }: Wharf) => void (await (await RawClient.connect(mcp)).call('blob'));
    const found = await recorded(work, {}, upstream.url);
    expect(found.span('tools/call blob', 'server').attributes).toMatchObject({ 'error.type': '-32602' });
  } finally {
    await upstream.close();
  }
});

describe('No span has a secret in it:', () => {
  it('not of an address, a name or the words of an error', async () => {
    const ticket = 'Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4';
    const found = await recorded(async ({ mcp }) => {
      const client = await RawClient.connect(mcp);
      for (const uri of [
        `https://wharf.example/d/${ticket}`,
        'https://files.example/a?sig=hidden-1',
        'https://joe:hidden-2@files.example/b',
        'data:text/plain;base64,aGlkZGVuLTM=',
      ])
        await client.request('resources/read', { uri });
      await client.request('tools/call', { name: 'Bearer hidden-4hidden' });
      await client.call('talkative');
      await client.request('Bearer hidden-5hidden');
    });
    const uris = found.spans.filter(({ kind }) => kind === 2).map(({ attributes }) => attributes['mcp.resource.uri']);
    expect(uris).toEqual(
      expect.arrayContaining([
        'https://wharf.example/d/[redacted]',
        'https://files.example/a',
        'data:text/plain;base64',
      ]),
    );
    expect(found.span('tools/call talkative', 'server').status).toEqual({ code: 2, message: 'Bearer [redacted]' });
    for (const secret of [ticket, 'hidden-', 'aGlkZGVu']) expect(found.said).not.toContain(secret);
  });
});

describe('A session', () => {
  it('is counted once, when it ends', async () => {
    const found = await recorded(async ({ mcp }) => {
      const client = await RawClient.connect(mcp);
      await RawClient.connect(mcp);
      expect(await client.delete()).toBe(204);
      expect(await client.delete()).toBe(404);
    });
    const facts = { 'mcp.protocol.version': '2025-06-18', 'wharf.server': 'forecast' };
    expect(found.metrics.get('mcp.server.session.duration')?.points).toMatchObject([{ count: 1, attributes: facts }]);
    // this server has no sessions
    expect(found.metrics.get('mcp.client.session.duration')?.points ?? []).toEqual([]);
  });
});

describe.each(['http/json', 'http/protobuf'])('Over %s', (protocol) => {
  it('a collector gets the same spans and histograms, with headers and resource of the operator', async () => {
    const found = await recorded(
      async ({ mcp }) => {
        const client = await RawClient.connect(mcp);
        await client.call('weather');
        await client.call('weather');
        await client.call('broken');
        await client.request('made/up');
      },
      { protocol, headers: { 'x-key': 'collector-key' } },
    );
    expect(found.requests.every(({ headers }) => headers['x-key'] === 'collector-key')).toBe(true);
    expect(found.requests[0]?.resource).toMatchObject({ 'service.name': 'wharf' });
    expect(found.spans.filter(({ name }) => name === 'tools/call weather')).toHaveLength(4);
    for (const name of ['mcp.server.operation.duration', 'mcp.client.operation.duration']) {
      const metric = found.metrics.get(name);
      expect(metric?.unit).toBe('s');
      const points = metric?.points ?? [];
      const counted = (facts: Record<string, unknown>) =>
        points
          .filter(({ attributes }) => Object.entries(facts).every(([key, value]) => attributes[key] === value))
          .reduce((sum, { count }) => sum + count, 0);
      const call = { 'mcp.method.name': 'tools/call', 'wharf.server': 'forecast' };
      expect(counted({ ...call, 'gen_ai.tool.name': 'weather' })).toBe(2);
      expect(counted({ ...call, 'gen_ai.tool.name': '_OTHER', 'error.type': '-32602' })).toBe(1);
      expect(counted({ 'mcp.method.name': '_OTHER' })).toBe(1);
      expect(points[0]?.bounds).toEqual([0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]);
      for (const { sum } of points) expect(sum).toBeGreaterThan(0);
    }
  });
});
