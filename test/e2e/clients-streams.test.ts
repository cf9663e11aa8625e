import { afterEach, describe, expect, it } from '@jest/globals';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { CallToolResultSchema, ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { startFixtureServer } from '../conformance/fixture-server.js';
import { startGateway } from '../helpers/gateway-process.js';
import { type SdkServer, startEverything, type Transport } from '../helpers/sdk-servers.js';
import { connect, directly, overHttp } from '../helpers/sdk-servers-transcript.js';

/** What a test started, ended after it in the opposite order. */
const started: (() => unknown)[] = [];

afterEach(async () => {
  for (const stop of started.splice(0).reverse()) await stop();
});

async function gatewayFor(server: SdkServer): Promise<string> {
  started.push(() => server.stop());
  const gateway = await startGateway({ args: server.wharfArgs });
  started.push(() => gateway.stop());
  return gateway.mcp();
}

async function connected(transport: Parameters<typeof connect>[0]): Promise<Client> {
  const client = await connect(transport);
  started.push(() => client.close());
  return client;
}

/** Runs a tool as a task, with the question it asks on the way, and writes down every message that came. */
async function research(client: Client): Promise<unknown[]> {
  // The SDK's client runs a tool as a task only if it has seen it in the list, where it says that it is one.
  await client.listTools();
  const messages: unknown[] = [];
  const call = { name: 'simulate-research-query', arguments: { topic: 'python', ambiguous: true } };
  for await (const message of client.experimental.tasks.callToolStream(call, CallToolResultSchema, {
    task: { ttl: 60_000, pollInterval: 100 },
  })) {
    // How often the status was asked for depends on the machine.
    if (message.type === 'result' || message.type === 'error') messages.push(message);
  }
  const text = JSON.stringify(messages).replace(/"taskId":"[^"]+"/g, '"taskId":"<id>"');
  return JSON.parse(text) as unknown[];
}

describe('a stream that the server closes before the answer', () => {
  it('is resumed by the SDK client, which gets the answer', async () => {
    const fixtures = await startFixtureServer('http');
    started.push(() => fixtures.stop());
    const gateway = await startGateway({ args: ['--upstream', fixtures.url] });
    started.push(() => gateway.stop());
    const client = await connected(overHttp(gateway.mcp()));
    const result = await client.callTool({ name: 'test_reconnection', arguments: {} });
    expect(result.content).toEqual([{ type: 'text', text: 'Answered after the stream was closed' }]);
  });
});

describe.each<Transport>(['stdio', 'sse', 'http'])('the server "everything" over %s', (transport) => {
  it('runs a tool as a task, and asks the user meanwhile, as it does directly', async () => {
    const server = await startEverything(transport);
    const url = await gatewayFor(server);
    // it takes the server seconds, which it spends on both at once
    const [expected, through] = await Promise.all(
      [directly(server), overHttp(url)].map(async (transport) => research(await connected(transport))),
    );
    expect(expected).toHaveLength(1);
    expect(through).toEqual(expected);
  });

  it('sends a notification to the session it belongs to, and to no other', async () => {
    const url = await gatewayFor(await startEverything(transport));
    const uri = 'demo://resource/dynamic/text/1';
    const [one, other] = [await connected(overHttp(url)), await connected(overHttp(url))];
    const seenByOther: unknown[] = [];
    other.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void seenByOther.push(params));
    const updated = new Promise<unknown>((resolve) => {
      one.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => resolve(params));
    });
    await one.subscribeResource({ uri });
    await one.callTool({ name: 'toggle-subscriber-updates', arguments: {} });
    expect(await updated).toEqual({ uri });
    await other.ping();
    expect(seenByOther).toEqual([]);
  });

  it('takes a call back when the client cancels it, and goes on (BIN-25)', async () => {
    const url = await gatewayFor(await startEverything(transport));
    const client = await connected(overHttp(url));
    const cancel = new AbortController();
    const call = client.callTool(
      { name: 'trigger-long-running-operation', arguments: { duration: 3, steps: 30 } },
      undefined,
      { signal: cancel.signal, onprogress: () => cancel.abort('enough') },
    );
    await expect(call).rejects.toThrow('enough');
    expect(await client.callTool({ name: 'echo', arguments: { message: 'on' } })).toEqual({
      content: [{ type: 'text', text: 'Echo: on' }],
    });
  });
});
