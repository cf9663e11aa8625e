import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client as Client2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { startFixtureServer, stdioCommand } from '../conformance/fixture-server.js';
import { recordDigest } from '../helpers/bytes.js';
import { type SdkServer, startBlobs, startEverything, type Transport } from '../helpers/sdk-servers.js';
import { noisePng } from '../helpers/sdk-servers-bytes.js';
import { ROOT } from './cli-process.js';

const MODERN = '2026-07-28';

/** Milliseconds to wait for a notification that has to come. */
const NOTIFICATION_MS = 60_000;

/** What a desktop host is told to start. */
const face = (args: string[]) => ({
  command: process.execPath,
  args: [`${ROOT}dist/gateway/main.js`, 'stdio', ...args],
  stderr: 'ignore' as const,
});

interface Block {
  type: string;
  text?: string;
  data?: string;
  uri?: string;
  size?: number;
}

/** What both clients have in common. */
interface AnyClient {
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

async function client1(transport: Stdio1): Promise<Client1> {
  const capabilities = { sampling: {}, elicitation: {}, roots: {} };
  const client = new Client1({ name: 'wharf-test', version: '1.0.0' }, { capabilities });
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => ({
    role: 'assistant',
    model: 'test-model',
    content: { type: 'text', text: `sampled ${params.messages.length}` },
  }));
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'decline' }));
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///roots/one', name: 'one' }] }));
  await client.connect(transport);
  return client;
}

async function client2(transport: Stdio2, mode: 'legacy' | 'auto' | { pin: string }): Promise<Client2> {
  const client = new Client2(
    { name: 'wharf-test', version: '1.0.0' },
    { capabilities: { sampling: {}, elicitation: {}, roots: {} }, versionNegotiation: { mode } },
  );
  client.setRequestHandler('sampling/createMessage', ({ params }) => ({
    role: 'assistant',
    model: 'test-model',
    content: { type: 'text', text: `sampled ${params.messages.length}` },
  }));
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Ada' } }));
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///roots/one', name: 'one' }] }));
  await client.connect(transport);
  return client;
}

const CLIENTS: readonly [string, (args: string[]) => Promise<AnyClient>][] = [
  ['SDK 1.32', (args) => client1(new Stdio1(face(args)))],
  ['SDK 2.4', (args) => client2(new Stdio2(face(args)), 'legacy')],
];

const TRANSPORTS: Transport[] = ['stdio', 'http', 'sse'];

describe.each(CLIENTS)('a desktop host on %s', (_name, connect) => {
  it.each(TRANSPORTS)('gets a big image of a server over %s as a link and a preview', async (transport) => {
    const server = await startBlobs(transport);
    const client = await connect(server.wharfArgs);
    try {
      const { content } = (await client.callTool({ name: 'picture', arguments: { side: 600 } })) as {
        content: Block[];
      };
      expect(content.map(({ type }) => type)).toEqual(['text', 'text', 'image', 'resource_link', 'text']);
      expect([content[0]?.text, content[4]?.text]).toEqual(['before', 'after']);
      expect(Buffer.from(content[2]?.data ?? '', 'base64').length).toBeLessThanOrEqual(100 * 1024);
      const link = content[3]?.uri ?? '';
      expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/d\//);
      const picture = await fetch(link);
      expect(picture.headers.get('content-type')).toBe('image/png');
      expect(recordDigest(Buffer.from(await picture.arrayBuffer()))).toBe(recordDigest(noisePng(600)));
    } finally {
      await client.close();
      server.stop();
    }
  });
});

describe.each(['stdio', 'http'] as const)('a desktop host in front of server-everything over %s', (transport) => {
  let server: SdkServer;
  let client: Client1;
  let direct: Client1;

  beforeAll(async () => {
    server = await startEverything(transport);
    const own = await startEverything('stdio');
    const [command = '', ...args] = own.command ?? [];
    client = await client1(new Stdio1(face(server.wharfArgs)));
    direct = await client1(new Stdio1({ command, args, stderr: 'ignore' }));
  });
  afterAll(async () => {
    await client?.close();
    await direct?.close();
    server?.stop();
  });

  it('lists and calls as it does directly, what the server asks the client included', async () => {
    expect(client.getServerVersion()).toEqual(direct.getServerVersion());
    expect(await client.listTools()).toEqual(await direct.listTools());
    expect(await client.listPrompts()).toEqual(await direct.listPrompts());
    for (const call of [
      { name: 'echo', arguments: { message: 'hällo\n' } },
      { name: 'get-tiny-image', arguments: {} },
      { name: 'get-structured-content', arguments: { location: 'Chicago' } },
      { name: 'trigger-sampling-request', arguments: { prompt: 'say something' } },
      { name: 'get-roots-list', arguments: {} },
    ]) {
      expect(await client.callTool(call)).toEqual(await direct.callTool(call));
    }
  });

  it('is told the progress', async () => {
    const seen: number[] = [];
    const call = { name: 'trigger-long-running-operation', arguments: { duration: 0.3, steps: 3 } };
    await client.callTool(call, undefined, { onprogress: ({ progress }) => seen.push(progress) });
    expect(seen.slice(0, 2)).toEqual([1, 2]);
  });

  it('cancels a call and goes on', async () => {
    const leaving = new AbortController();
    const call = { name: 'trigger-long-running-operation', arguments: { duration: 60, steps: 60 } };
    const calling = client.callTool(call, undefined, {
      signal: leaving.signal,
      onprogress: () => leaving.abort('enough'),
    });
    await expect(calling).rejects.toThrow('enough');
    expect(await client.ping()).toEqual({});
  });

  it('has many calls under way at one time', async () => {
    const numbers = [...Array(10).keys()];
    const results = await Promise.all(
      numbers.map((n) => client.callTool({ name: 'echo', arguments: { message: `${n}`.repeat(5000) } })),
    );
    const texts = results.map((result) => (result.content as Block[])[0]?.text);
    expect(texts).toEqual(numbers.map((n) => `Echo: ${`${n}`.repeat(5000)}`));
  });
});

describe.each(['stdio', 'http'] as const)(`a desktop host of ${MODERN}, server over %s`, (transport) => {
  let client: Client2;
  let direct: Client2;
  let stop: () => void = () => undefined;

  beforeAll(async () => {
    const [command = '', ...args] = stdioCommand('stdio-2026');
    direct = await client2(new Stdio2({ command, args, stderr: 'ignore' }), { pin: MODERN });
    if (transport === 'stdio') client = await client2(new Stdio2(face(['--', command, ...args])), { pin: MODERN });
    else {
      const server = await startFixtureServer('http-2026');
      stop = server.stop;
      client = await client2(new Stdio2(face(['--upstream', server.url])), { pin: MODERN });
    }
  });
  afterAll(async () => {
    await client?.close();
    await direct?.close();
    stop();
  });

  it('discovers, lists and calls as it does directly', async () => {
    expect(client.getNegotiatedProtocolVersion()).toBe(MODERN);
    expect((await client.listTools()).tools).toEqual((await direct.listTools()).tools);
    for (const name of [
      'test_simple_text',
      'test_image_content',
      'test_error_handling',
      'test_input_required_result_sampling',
      'test_input_required_result_multi_round',
    ]) {
      expect(await client.callTool({ name, arguments: {} })).toEqual(await direct.callTool({ name, arguments: {} }));
    }
  });

  it('needs no headers for a tool that declares them', async () => {
    const call = { name: 'test_header_param', arguments: { region: 'Zürich' } };
    expect(await client.callTool(call)).toMatchObject({ content: [{ type: 'text', text: 'region: Zürich' }] });
  });

  it('hears of changes on the stream it listens to, until it closes it', async () => {
    const changed = new Promise<void>((resolve, reject) => {
      client.setNotificationHandler('notifications/tools/list_changed', () => resolve());
      setTimeout(() => reject(new Error('the notification did not come')), NOTIFICATION_MS).unref();
    });
    const subscription = await client.listen({ toolsListChanged: true });
    await client.callTool({ name: 'test_trigger_tool_change', arguments: {} });
    await changed;
    await subscription.close();
    expect(await client.callTool({ name: 'test_simple_text', arguments: {} })).toHaveProperty('content');
  });

  it('finds out by itself, in mode "auto", what the server speaks', async () => {
    const [command = '', ...args] = stdioCommand('stdio-2026');
    const asking = await client2(new Stdio2(face(['--', command, ...args])), 'auto');
    expect(asking.getNegotiatedProtocolVersion()).toBe(MODERN);
    await asking.close();
  });
});
