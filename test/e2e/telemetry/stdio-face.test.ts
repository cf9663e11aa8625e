import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { OtlpCollector } from '../../helpers/otlp-collector.js';
import { until } from '../../helpers/wait.js';
import { ROOT } from '../cli-process.js';

describe('wharf stdio with telemetry', () => {
  let directory: string;
  let collector: OtlpCollector;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'wharf-stdio-telemetry-'));
    collector = await OtlpCollector.start();
  });
  afterAll(async () => {
    await collector?.stop();
    await rm(directory, { recursive: true });
  });

  it('records what its host asks for, over pipes on both sides, and sends the last of it when the host goes', async () => {
    const config = join(directory, 'wharf.json');
    const everything = join(ROOT, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');
    const servers = { everything: { command: [process.execPath, everything, 'stdio'] } };
    await writeFile(config, JSON.stringify({ servers, telemetry: { use: 'otlp', endpoint: collector.url } }));
    const client = new Client({ name: 'host', version: '1' });
    const args = [join(ROOT, 'dist/gateway/main.js'), 'stdio', '--config', config];
    await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }));
    await client.callTool({ name: 'echo', arguments: { message: 'a secret word' } });
    await client.close();

    await until(() => collector.spans.some(({ name }) => name === 'tools/call echo'));
    const front = collector.span('tools/call echo', 'server');
    const behind = collector.span('tools/call echo', 'client');
    expect(front.attributes).toMatchObject({ 'network.transport': 'pipe', 'wharf.server': 'everything' });
    expect(behind.attributes).toMatchObject({ 'network.transport': 'pipe' });
    expect(behind).toMatchObject({ traceId: front.traceId, parentSpanId: front.spanId });
    expect(collector.said).not.toContain('a secret word');
    await until(() => collector.metrics.has('mcp.server.operation.duration'));
  });
});
