import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { startFixtureServer, stdioCommand } from '../conformance/fixture-server.js';
import { recordDigest } from '../helpers/bytes.js';
import { type Gateway, startGateway } from '../helpers/gateway-process.js';
import { type SdkServer, startBlobs, startEverything } from '../helpers/sdk-servers.js';
import { noise } from '../helpers/sdk-servers-bytes.js';

const MODERN = '2026-07-28';

/** Milliseconds to wait for a notification that has to come. */
const NOTIFICATION_MS = 60_000;

type Mode = 'legacy' | 'auto' | { pin: string };

/** An SDK 2.4 client that can be asked for everything. */
async function connect(transport: Parameters<Client['connect']>[0], mode: Mode): Promise<Client> {
  const client = new Client(
    { name: 'wharf-test', version: '1.0.0' },
    { capabilities: { sampling: {}, elicitation: {}, roots: {} }, versionNegotiation: { mode } },
  );
  client.setRequestHandler('sampling/createMessage', ({ params }) => ({
    role: 'assistant',
    model: 'test-model',
    content: { type: 'text', text: `sampled ${params.messages.length}` },
  }));
  client.setRequestHandler('elicitation/create', ({ params }) => {
    const schema = 'requestedSchema' in params ? params.requestedSchema : { properties: {} };
    const content = Object.fromEntries(
      Object.entries(schema.properties).map(([name, { type }]) => [name, type === 'boolean' ? true : 'Ada']),
    );
    return { action: 'accept', content };
  });
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///roots/one', name: 'one' }] }));
  await client.connect(transport);
  return client;
}

const overHttp = (url: string) => new StreamableHTTPClientTransport(new URL(url));

describe('an SDK 2.4 client of the eras with sessions', () => {
  let server: SdkServer;
  let gateway: Gateway;
  let client: Client;
  let direct: Client;

  beforeAll(async () => {
    server = await startEverything('stdio');
    const [command = '', ...args] = server.command ?? [];
    gateway = await startGateway({ args: server.wharfArgs });
    client = await connect(overHttp(gateway.mcp()), 'legacy');
    direct = await connect(new StdioClientTransport({ command, args, stderr: 'ignore' }), 'legacy');
  });

  afterAll(async () => {
    await client?.close();
    await direct?.close();
    await gateway?.stop();
  });

  it('lists and calls as it does directly', async () => {
    expect(client.getNegotiatedProtocolVersion()).toBe(direct.getNegotiatedProtocolVersion());
    expect(await client.listPrompts()).toEqual(await direct.listPrompts());
    expect(await client.listResources()).toEqual(await direct.listResources());
    for (const call of [
      { name: 'echo', arguments: { message: 'hello' } },
      { name: 'get-tiny-image', arguments: {} },
      { name: 'get-structured-content', arguments: { location: 'Chicago' } },
      { name: 'trigger-sampling-request', arguments: { prompt: 'say something' } },
      { name: 'trigger-elicitation-request', arguments: {} },
      { name: 'get-roots-list', arguments: {} },
    ]) {
      expect(await client.callTool(call)).toEqual(await direct.callTool(call));
    }
  });

  it('is told the progress', async () => {
    const seen: number[] = [];
    await client.callTool(
      { name: 'trigger-long-running-operation', arguments: { duration: 0.3, steps: 3 } },
      { onprogress: ({ progress }) => seen.push(progress) },
    );
    expect(seen.slice(0, 2)).toEqual([1, 2]);
  });

  it('finds out by itself, in mode "auto", that a server is of an older era', async () => {
    const asking = await connect(overHttp(gateway.mcp()), 'auto');
    expect(asking.getNegotiatedProtocolVersion()).toBe(direct.getNegotiatedProtocolVersion());
    await asking.close();
  });

  it('gets a big blob as a link', async () => {
    const blobs = await startBlobs('http');
    const big = await startGateway({ args: blobs.wharfArgs });
    const other = await connect(overHttp(big.mcp()), 'legacy');
    try {
      const { content } = await other.callTool({ name: 'sound', arguments: { bytes: 200_000 } });
      expect(content.map(({ type }) => type)).toEqual(['text', 'resource_link']);
      const link = content[1];
      const response = await fetch(link?.type === 'resource_link' ? link.uri : '');
      expect(recordDigest(Buffer.from(await response.arrayBuffer()))).toBe(recordDigest(noise(200_000)));
    } finally {
      await other.close();
      await big.stop();
      blobs.stop();
    }
  });
});

describe.each(['http', 'stdio'] as const)(`an SDK 2.4 client of ${MODERN}, server over %s`, (transport) => {
  let gateway: Gateway;
  let client: Client;
  let direct: Client;
  const stops: (() => void)[] = [];

  beforeAll(async () => {
    if (transport === 'http') {
      const server = await startFixtureServer('http-2026');
      stops.push(server.stop);
      gateway = await startGateway({ args: ['--upstream', server.url] });
      direct = await connect(overHttp(server.url), { pin: MODERN });
    } else {
      const [command = '', ...args] = stdioCommand('stdio-2026');
      gateway = await startGateway({ args: ['--', command, ...args] });
      direct = await connect(new StdioClientTransport({ command, args, stderr: 'ignore' }), { pin: MODERN });
    }
    client = await connect(overHttp(gateway.mcp()), { pin: MODERN });
  });

  afterAll(async () => {
    await client?.close();
    await direct?.close();
    await gateway?.stop();
    for (const stop of stops) stop();
  });

  it('discovers, lists, reads and calls as it does directly', async () => {
    expect(client.getNegotiatedProtocolVersion()).toBe(MODERN);
    const { extensions, ...capabilities } = client.getServerCapabilities() ?? {};
    expect(capabilities).toEqual(direct.getServerCapabilities());
    // all that Wharf adds: methods it answers whatever the server is
    expect(Object.keys(extensions ?? {})).toEqual(['dev.wharf/file-transfer']);
    expect(await client.listTools()).toEqual(await direct.listTools());
    expect(await client.listPrompts()).toEqual(await direct.listPrompts());
    expect(await client.listResources()).toEqual(await direct.listResources());
    expect(await client.readResource({ uri: 'test://static-binary' })).toEqual(
      await direct.readResource({ uri: 'test://static-binary' }),
    );
    for (const name of ['test_simple_text', 'test_image_content', 'test_error_handling']) {
      expect(await client.callTool({ name, arguments: {} })).toEqual(await direct.callTool({ name, arguments: {} }));
    }
  });

  it('repeats an argument in a header where the tool asks for it', async () => {
    const call = { name: 'test_header_param', arguments: { region: 'Zürich' } };
    expect(await client.callTool(call)).toMatchObject({ content: [{ type: 'text', text: 'region: Zürich' }] });
  });

  it('answers what it is asked for, in as many rounds as it takes', async () => {
    for (const name of [
      'test_input_required_result_elicitation',
      'test_input_required_result_sampling',
      'test_input_required_result_list_roots',
      'test_input_required_result_request_state',
      'test_input_required_result_multiple_inputs',
      'test_input_required_result_multi_round',
    ]) {
      expect(await client.callTool({ name, arguments: {} })).toEqual(await direct.callTool({ name, arguments: {} }));
    }
    const prompt = { name: 'test_input_required_result_prompt' };
    expect(await client.getPrompt(prompt)).toEqual(await direct.getPrompt(prompt));
  });

  it('is told the progress', async () => {
    const seen: number[] = [];
    await client.callTool(
      { name: 'test_tool_with_progress', arguments: {} },
      { onprogress: ({ progress }) => seen.push(progress) },
    );
    expect(seen.slice(0, 2)).toEqual([0, 50]);
  });

  it('hears of changes on the stream it listens to', async () => {
    const changed = new Promise<void>((resolve, reject) => {
      client.setNotificationHandler('notifications/tools/list_changed', () => resolve());
      setTimeout(() => reject(new Error('the notification did not come')), NOTIFICATION_MS).unref();
    });
    const subscription = await client.listen({ toolsListChanged: true });
    await client.callTool({ name: 'test_trigger_tool_change', arguments: {} });
    await changed;
    await subscription.close();
  });

  it('is refused what it did not declare with the code of the specification', async () => {
    const unable = new Client(
      { name: 'wharf-test', version: '1.0.0' },
      { capabilities: {}, versionNegotiation: { mode: { pin: MODERN } } },
    );
    await unable.connect(overHttp(gateway.mcp()));
    const call = unable.callTool({ name: 'test_missing_capability', arguments: {} });
    await expect(call).rejects.toMatchObject({ code: -32021 });
    await unable.close();
  });
});
