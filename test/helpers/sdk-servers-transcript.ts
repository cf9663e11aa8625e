import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { SdkServer } from './sdk-servers.js';

/** What came back for each thing a client did, in the words of the protocol. */
export type Transcript = Record<string, unknown>;

/** Milliseconds to wait for a notification that has to come. */
const NOTIFICATION_MS = 30_000;

/** A transport to Wharf, or to any server that speaks Streamable HTTP. */
export function overHttp(url: string): Transport {
  // The class says `sessionId: string | undefined` where the interface says `sessionId?: string`.
  return new StreamableHTTPClientTransport(new URL(url)) as Transport;
}

/** A transport straight to the server, with nothing in between. */
export function directly(server: SdkServer): Transport {
  if (server.transport === 'http') return overHttp(server.url ?? '');
  if (server.transport === 'sse') return new SSEClientTransport(new URL(server.url ?? ''));
  return overStdio(server.command ?? []);
}

/** A transport to a process that is started for it. */
export function overStdio([command = '', ...args]: string[], env: Record<string, string> = {}): Transport {
  return new StdioClientTransport({ command, args, stderr: 'ignore', env: { ...getDefaultEnvironment(), ...env } });
}

/** Connects an SDK client that can be asked for everything a server may ask for. */
export async function connect(transport: Transport): Promise<Client> {
  const client = new Client(
    { name: 'wharf-test', version: '1.0.0' },
    { capabilities: { sampling: {}, elicitation: {}, roots: { listChanged: true } } },
  );
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => ({
    role: 'assistant',
    model: 'test-model',
    content: { type: 'text', text: `sampled ${JSON.stringify(params.messages)}` },
  }));
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({
    action: 'accept',
    content: { name: 'Ada', check: true, asked: 'requestedSchema' in params ? params.message : '' },
  }));
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///roots/one', name: 'one' }] }));
  await client.connect(transport);
  return client;
}

/** Uses every feature of the server "everything" once and writes down what came back. */
export async function transcribe(client: Client): Promise<Transcript> {
  const call = (name: string, args: Record<string, unknown> = {}) => client.callTool({ name, arguments: args });
  const blob = 'demo://resource/dynamic/blob/1';
  return settle({
    version: async () => client.getServerVersion(),
    // without what Wharf adds: the methods that it answers whatever the server is
    capabilities: async () => ({ ...client.getServerCapabilities(), extensions: undefined }),
    instructions: async () => client.getInstructions(),
    ping: () => client.ping(),
    // Its tools for roots, sampling and elicitation show up once it has asked what the client can do.
    tools: () =>
      eventually(
        () => client.listTools(),
        ({ tools }) => tools.some(({ name }) => name === 'get-roots-list'),
      ),
    prompts: () => client.listPrompts(),
    resources: () => client.listResources(),
    templates: () => client.listResourceTemplates(),
    echo: () => call('echo', { message: 'Ünïcödé "quoted" \u2028 \ud83d\udea2' }),
    sum: () => call('get-sum', { a: 2, b: 3 }),
    structured: () => call('get-structured-content', { location: 'Chicago' }),
    annotated: () => call('get-annotated-message', { messageType: 'success', includeImage: true }),
    'tiny image': () => call('get-tiny-image'),
    links: () => call('get-resource-links', { count: 2 }),
    reference: () => call('get-resource-reference', { resourceType: 'Blob', resourceId: 1 }),
    'data URI in': () =>
      call('gzip-file-as-resource', { name: 'a.gz', data: 'data:text/plain;base64,SGVsbG8=', outputType: 'resource' }),
    'no such tool': () => call('no-such-tool'),
    'wrong arguments': () => call('get-sum', { a: 'two' }),
    progress: () => withProgress(client),
    sampling: () => call('trigger-sampling-request', { prompt: 'say something', maxTokens: 10 }),
    elicitation: () => call('trigger-elicitation-request'),
    roots: () => call('get-roots-list'),
    'simple prompt': () => client.getPrompt({ name: 'simple-prompt' }),
    'prompt with arguments': () => client.getPrompt({ name: 'args-prompt', arguments: { city: 'Oslo' } }),
    'no such prompt': () => client.getPrompt({ name: 'no-such-prompt' }),
    completion: () =>
      client.complete({
        ref: { type: 'ref/prompt', name: 'completable-prompt' },
        argument: { name: 'department', value: 'E' },
      }),
    'read blob': () => client.readResource({ uri: blob }),
    'no such resource': () => client.readResource({ uri: 'demo://nothing' }),
    subscription: () => withSubscription(client, blob),
    logging: () => withLogging(client),
  });
}

async function withProgress(client: Client) {
  const seen: unknown[] = [];
  const params = { name: 'trigger-long-running-operation', arguments: { duration: 2, steps: 4 } };
  const result = await client.callTool(params, undefined, { onprogress: (progress) => seen.push(progress) });
  // The SDK's client drops a notification that arrives in one piece with the result, as the last ones do on a busy machine.
  return { seen: seen.slice(0, 2), result };
}

async function withSubscription(client: Client, uri: string) {
  const updated = new Promise<unknown>((resolve) => {
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => resolve(params));
  });
  await client.subscribeResource({ uri });
  const started = await client.callTool({ name: 'toggle-subscriber-updates', arguments: {} });
  const notification = await inTime(updated);
  await client.callTool({ name: 'toggle-subscriber-updates', arguments: {} });
  return { started, notification, unsubscribed: await client.unsubscribeResource({ uri }) };
}

async function withLogging(client: Client) {
  await client.setLoggingLevel('debug');
  const logged = new Promise<unknown>((resolve) => {
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => resolve(Object.keys(params)));
  });
  await client.callTool({ name: 'toggle-simulated-logging', arguments: {} });
  const keys = await inTime(logged);
  await client.callTool({ name: 'toggle-simulated-logging', arguments: {} });
  return keys;
}

/** Runs the steps one after the other. A step that fails is written down as its error, which is a result too. */
async function settle(steps: Record<string, () => Promise<unknown>>): Promise<Transcript> {
  const transcript: Transcript = {};
  for (const [name, step] of Object.entries(steps)) {
    transcript[name] = steady(await step().catch((error: unknown) => ({ failed: String(error) })));
  }
  return transcript;
}

/** Leaves out what differs between two runs of the same server: the time of day and the session's id. */
function steady(value: unknown): unknown {
  if (value === undefined) return null;
  const text = JSON.stringify(value)
    .replace(/\d{1,2}:\d\d:\d\d [AP]M/g, '<time>')
    .replace(/for session \S+/g, 'for session <id>');
  const parsed: unknown = JSON.parse(text, (key, item) => {
    // The blob holds the time as well.
    return key === 'blob' && typeof item === 'string' && isBlobOfTime(item) ? '<blob with the time>' : item;
  });
  return parsed;
}

function isBlobOfTime(base64: string): boolean {
  return /created at \d{1,2}:\d\d:\d\d/.test(Buffer.from(base64, 'base64').toString());
}

async function eventually<T>(ask: () => Promise<T>, isReady: (answer: T) => boolean): Promise<T> {
  const deadline = Date.now() + NOTIFICATION_MS;
  for (;;) {
    const answer = await ask();
    if (isReady(answer) || Date.now() > deadline) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function inTime<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('the notification did not come')), NOTIFICATION_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
