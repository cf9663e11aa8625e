import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { KIND, OtlpCollector } from '../../helpers/otlp-collector.js';
import { RawClient } from '../../helpers/raw-client.js';
import { startBlobs, type Transport } from '../../helpers/sdk-servers.js';
import { startWharf } from '../../helpers/wharf.js';

const BYTES = 600_000;
const WAITING = fileURLToPath(new URL('../../../../test/helpers/waiting-stdio.fixture.mjs', import.meta.url));

describe.each<[Transport, string]>([
  ['http', 'tcp'],
  ['sse', 'tcp'],
  ['stdio', 'pipe'],
])('A file from a server over %s', (transport, network) => {
  it('is a span below the call that it answers, and so is its preview', async () => {
    const collector = await OtlpCollector.start();
    const server = await startBlobs(transport);
    const wire = transport === 'sse' ? 'legacy-sse' : 'streamable-http';
    const wharf = await startWharf({
      servers: { blobs: server.command ? { command: server.command } : { url: server.url, transport: wire } },
      config: { telemetry: { use: 'otlp', endpoint: collector.url } },
    });
    try {
      const client = await RawClient.connect(wharf.mcp);
      await client.call('sound', { bytes: BYTES });
      await client.call('picture', { side: 600 });
    } finally {
      await wharf.stop();
      server.stop();
      await collector.stop();
    }
    const front = collector.span('tools/call sound', 'server');
    const behind = collector.span('tools/call sound', 'client');
    expect(front.attributes).toMatchObject({ 'wharf.files': 1, 'wharf.file_bytes': BYTES });
    expect(behind.attributes['network.transport']).toBe(network);
    expect(behind.parentSpanId).toBe(front.spanId);
    const stored = collector.spans.filter(({ name }) => name === 'store file');
    expect(stored.map(({ parentSpanId, status }) => [parentSpanId, status.code])).toEqual([
      [behind.spanId, 0],
      [collector.span('tools/call picture', 'client').spanId, 0],
    ]);
    expect(stored[0]?.attributes).toEqual({ 'wharf.store': 'filesystem', 'wharf.file_bytes': BYTES });
    expect(collector.span('preview file', 'internal')).toMatchObject({
      parentSpanId: collector.span('tools/call picture', 'client').spanId,
    });
  });
});

describe('Calls at the same time on one channel', () => {
  it('have their own traces, and a file that cannot be said to be of one of them is in none', async () => {
    const collector = await OtlpCollector.start();
    const wharf = await startWharf({
      servers: { waiting: { command: [process.execPath, WAITING] } },
      config: { telemetry: { use: 'otlp', endpoint: collector.url } },
    });
    try {
      const client = await RawClient.connect(wharf.mcp);
      const waits = client.call('wait');
      await client.call('seen');
      await client.call('file');
      await client.call('go');
      await waits;
      await client.call('file');
    } finally {
      await wharf.stop();
      await collector.stop();
    }
    const calls = collector.spans.filter(({ kind, name }) => kind === KIND.client && name.startsWith('tools/call'));
    expect(new Set(calls.map(({ traceId }) => traceId)).size).toBe(5);
    const files = calls.filter(({ name }) => name === 'tools/call file');
    const stored = collector.spans.filter(({ name }) => name === 'store file');
    expect(stored.map(({ parentSpanId }) => parentSpanId)).toEqual(['', files.at(-1)?.spanId]);
  });
});
