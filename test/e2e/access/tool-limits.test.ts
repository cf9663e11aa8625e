import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { keyHash } from '../../helpers/bytes.js';
import { type SdkServer, startBlobs, type Transport } from '../../helpers/sdk-servers.js';
import { noise } from '../../helpers/sdk-servers-bytes.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const KEYS = { ada: 'ada-0123456789', low: 'low-0123456789' };
type Name = keyof typeof KEYS;

type Block = { type: string; text?: string };
interface Result {
  content: Block[];
  isError?: boolean;
  _meta?: Record<string, { maxSize?: number; accept?: string[] }>;
}

const TOOLS = {
  sound: { limits: { inlineOther: 1000, file: '200kB' } },
  many: { limits: { files: 2, message: '4KiB' } },
  data_uri: { limits: { response: '4KiB' } },
  digest: {
    files: { data: { encoding: 'base64' } },
    limits: { file: '100kB', inlineArgument: 2000, message: '80KiB', accept: ['application/pdf', 'text/csv'] },
  },
  'pict*': { limits: { inlineImage: 1000 } },
  'doc*': { limits: { requestsPerMinute: 2 } },
};

const csv = (size: number) => `data:text/csv;base64,${Buffer.alloc(size, 'a,b\n').toString('base64')}`;
const kindsOf = ({ content }: Result) => content.map(({ type }) => type);

describe.each<Transport>(['http', 'sse', 'stdio'])('the limits of single tools of a server over %s', (transport) => {
  let folder: string;
  let server: SdkServer;
  let wharf: Wharf;
  const clients: Client[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wharf-tool-limits-'));
    server = await startBlobs(transport);
    const { url, command } = server;
    wharf = await startWharf({
      servers: { blobs: { ...(url === undefined ? { command } : { url }), tools: TOOLS } },
      config: {
        audit: { use: 'file', path: join(folder, 'audit.jsonl') },
        auth: {
          use: 'apiKeys',
          keys: [
            { name: 'ada', hash: keyHash(KEYS.ada) },
            { name: 'low', hash: keyHash(KEYS.low), limits: { inlineImage: 500 } },
          ],
        },
        elicitation: { identity: 'none' },
        ceiling: { file: '120kB', requestsPerMinute: 1000 },
      },
    });
  });

  afterAll(async () => {
    for (const client of clients) await client.close();
    await wharf?.stop();
    server?.stop();
    await rm(folder, { recursive: true });
  });

  async function connect(name: Name = 'ada'): Promise<Client> {
    const client = new Client({ name: 'wharf-test', version: '1' });
    const requestInit = { headers: { authorization: `Bearer ${KEYS[name]}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(wharf.mcp), { requestInit }));
    clients.push(client);
    return client;
  }

  const call = async (client: Client, name: string, args: Record<string, unknown>) =>
    (await client.callTool({ name, arguments: args })) as unknown as Result;
  const refused = (client: Client, name: string, args: Record<string, unknown>) =>
    call(client, name, args).then(
      (result) => ({ message: result.content[0]?.text ?? '', data: undefined, code: undefined }),
      (error: Error & { data?: Record<string, unknown>; code?: number }) => error,
    );
  const metrics = () => fetch(`${wharf.adminUrl}/metrics`).then((answer) => answer.text());
  /** A refusal is written down after its caller has heard of it. */
  const audited = (place: string) =>
    until(async () =>
      (await readFile(join(folder, 'audit.jsonl'), 'utf8')).includes(`"rule":${JSON.stringify(place)}`),
    );

  it('decide what stays in its results, and leave those of other tools alone', async () => {
    const client = await connect();
    expect(kindsOf(await call(client, 'sound', { bytes: 900 }))).toEqual(['audio']);
    expect(kindsOf(await call(client, 'sound', { bytes: 1100 }))).toContain('resource_link');
    expect(kindsOf(await call(client, 'many', { count: 1, bytes: 1100 }))).toEqual(['audio']);
    expect(kindsOf(await call(client, 'picture', { side: 60 }))).toContain('resource_link');
    const low = await connect('low');
    expect(kindsOf(await call(low, 'sound', { bytes: 900 }))).toEqual(['audio']);
  });

  it('refuse a result with more, larger or longer parts, and say where the limit is set', async () => {
    const client = await connect();
    const many = await refused(client, 'many', { count: 3, bytes: 40_000 });
    expect(many.data).toMatchObject({
      code: 'too_many_files',
      limit: 'limits.files',
      allowed: 2,
      source: 'servers.blobs.tools.many.limits.files',
    });
    const long = await refused(client, 'data_uri', { bytes: 6000 });
    expect(long.message).toMatch(/larger than the 4 kB allowed \(\d/);
    expect(long.data).toMatchObject({
      code: 'response_too_large',
      allowed: 4096,
      actual: expect.any(Number),
      source: 'servers.blobs.tools.data_uri.limits.response',
    });
    // it is counted once the answer is sent
    await until(async () => /wharf_limits_total\{limit="limits\.response"\} 1/.test(await metrics()));
    await audited('servers.blobs.tools.data_uri.limits.response');
    expect(kindsOf(await call(client, 'many', { count: 2, bytes: 39_000 }))).toContain('resource_link');
  });

  it('are never more than the ceiling', async () => {
    const client = await connect();
    const large = await refused(client, 'sound', { bytes: 130_000 });
    expect(large.data).toMatchObject({ code: 'file_too_large', limit: 'limits.file', allowed: 120_000 });
    expect(large.data).not.toHaveProperty('source');
  });

  it('hold for a file in an argument: its bytes in the call, its type, and the upload that is offered', async () => {
    const client = await connect();
    expect((await call(client, 'digest', { data: csv(1500) })).isError).toBeUndefined();
    const inside = await call(client, 'digest', { data: csv(2400) });
    expect(inside.content[0]?.text).toMatch(/at most 2 kB may be inside a call/);
    expect(inside._meta?.['dev.wharf/uploadRequired']).toMatchObject({
      maxSize: 100_000,
      accept: ['application/pdf', 'text/csv'],
    });
    const longer = await call(client, 'digest', { data: csv(90_000) });
    expect(longer.content[0]?.text).toMatch(/at most 2 kB may be inside a call/);
    const other = await call(client, 'digest', { data: `data:image/png;base64,${noise(100).toString('base64')}` });
    expect(other.content[0]?.text).toMatch(/you may send: application\/pdf, text\/csv/);
    await audited('servers.blobs.tools.digest.limits.inlineArgument');
    await audited('servers.blobs.tools.digest.limits.accept');
  });

  it('hold for the upload by a link for its argument, and for the handle that it gives', async () => {
    const client = await connect();
    const { structuredContent } = (await client.callTool({
      name: 'request_file_upload',
      arguments: { tool: 'digest' },
    })) as unknown as { structuredContent: { maxSize: number; file: { uri: string }; upload: { url: string } } };
    expect(structuredContent.maxSize).toBe(100_000);
    const put = (body: Buffer, type: string) =>
      fetch(structuredContent.upload.url, { method: 'PUT', body, headers: { 'content-type': type } });
    expect((await put(noise(100), 'image/png')).status).toBe(415);
    expect((await put(Buffer.alloc(101_000, 'a,b\n'), 'text/csv')).status).toBe(413);
    await audited('servers.blobs.tools.digest.limits.file');
    expect((await put(Buffer.alloc(30_000, 'a,b\n'), 'text/csv')).status).toBeLessThan(300);
    const taken = await call(client, 'digest', { data: structuredContent.file.uri });
    expect(taken.isError).toBeUndefined();
  });

  it('hold for a message whose arguments come before the name of the tool', async () => {
    const text = 'x'.repeat(5000);
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${KEYS.ada}`,
    };
    const client = await connect();
    const { sessionId } = client.transport as StreamableHTTPClientTransport;
    const post = (params: string) =>
      fetch(wharf.mcp, {
        method: 'POST',
        headers: {
          ...headers,
          'mcp-protocol-version': '2025-06-18',
          ...(sessionId && { 'mcp-session-id': sessionId }),
        },
        body: `{"params":{${params}},"method":"tools/call","id":7,"jsonrpc":"2.0"}`,
      });
    const args = `"arguments":{"count":1,"bytes":10,"more":["${text}"]}`;
    for (const params of [`${args},"name":"many"`, `"name":"many",${args}`]) {
      const answer = await post(params);
      expect(answer.status).toBe(413);
      expect(await answer.json()).toMatchObject({
        id: 7,
        error: {
          data: {
            limit: 'limits.message',
            allowed: 4096,
            actual: expect.any(Number),
            source: 'servers.blobs.tools.many.limits.message',
          },
        },
      });
    }
    expect((await post(`"arguments":{"bytes":10,"more":["${text}"]},"name":"sound"`)).status).toBe(200);
  });

  it('count its calls, those of all tools of one entry together', async () => {
    const client = await connect();
    for (const _ of [1, 2]) await call(client, 'document', { bytes: 10 });
    const third = await refused(client, 'document', { bytes: 10 });
    expect(third.message).toMatch(
      /You may call the tool .*"document.*" 2 times a minute here, and this would be number 3/,
    );
    await audited('servers.blobs.tools["doc*"].limits.requestsPerMinute');
    await call(await connect('low'), 'document', { bytes: 10 });
  });
});
