import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ListRootsRequestSchema, LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { RawClient } from '../../helpers/raw-client.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { ROOT } from '../cli-process.js';

/** A stdio server that says what its arguments name before it answers `initialize`. */
const SCRIPT = fileURLToPath(new URL('../../../../test/helpers/early-server.fixture.mjs', import.meta.url));

/** What a server may say there: what MCP allows, what loggers write, and what is neither. */
const WORDS: readonly string[][] = [
  ['log'],
  ['at-start'],
  ['ping'],
  ['ping-wait'],
  ['unknown'],
  ['pino'],
  ['winston'],
  ['plain'],
  ['broken'],
  ['array'],
  ['number'],
  ['blank'],
  ['half'],
  ['echo'],
  ['many'],
  ['roots'],
  ['pino', 'log', 'ping-wait', 'unknown', 'broken', 'echo', 'log'],
];

interface Told {
  /** What the server heard in answer to what it asked. */
  heard: { id: unknown; result?: unknown; error?: unknown }[];
  /** How many log notifications the client was shown. */
  logged: number;
}

const heardIn = ({ content }: Record<string, unknown>): Told['heard'] =>
  JSON.parse((content as { text: string }[])[0]?.text ?? '[]') as Told['heard'];

async function askedBySdk1(transport: Transport): Promise<Told> {
  let logged = 0;
  const client = new Client1({ name: 'wharf-test', version: '1' }, { capabilities: { roots: {} } });
  client.setNotificationHandler(LoggingMessageNotificationSchema, () => {
    logged += 1;
  });
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///one' }] }));
  try {
    await client.connect(transport);
    expect((await client.listTools()).tools).toHaveLength(1);
    return { heard: heardIn(await client.callTool({ name: 'heard', arguments: {} })), logged };
  } finally {
    await client.close();
  }
}

async function askedBySdk2(transport: Parameters<Client2['connect']>[0]): Promise<Told> {
  let logged = 0;
  const client = new Client2(
    { name: 'wharf-test', version: '1' },
    { capabilities: { roots: {} }, versionNegotiation: { mode: 'legacy' } },
  );
  client.setNotificationHandler('notifications/message', () => {
    logged += 1;
  });
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///one' }] }));
  try {
    await client.connect(transport);
    expect((await client.listTools()).tools).toHaveLength(1);
    return { heard: heardIn(await client.callTool({ name: 'heard', arguments: {} })), logged };
  } finally {
    await client.close();
  }
}

const face = (words: readonly string[]) => ({
  command: process.execPath,
  args: [`${ROOT}dist/gateway/main.js`, 'stdio', '--', process.execPath, SCRIPT, ...words],
  stderr: 'ignore' as const,
});

let wharf: Wharf | undefined;
let fake: FakeUpstream | undefined;

afterEach(async () => {
  await wharf?.stop();
  await fake?.close();
  wharf = undefined;
  fake = undefined;
});

async function inFrontOf(words: readonly string[], config = {}): Promise<URL> {
  wharf = await startWharf({ servers: { early: { command: [process.execPath, SCRIPT, ...words] } }, config });
  return new URL(wharf.mcp);
}

/** Over stdio each takes a process of its own, and the relay is the same. */
const SOME = WORDS.filter(([first, ...more]) => more.length > 0 || ['log', 'ping-wait', 'roots'].includes(first ?? ''));

const WAYS: readonly [string, readonly string[][], (words: readonly string[]) => Promise<Told>][] = [
  ['SDK 1.32 over HTTP', WORDS, async (words) => askedBySdk1(new Http1(await inFrontOf(words)) as Transport)],
  ['SDK 2.4 over HTTP', WORDS, async (words) => askedBySdk2(new Http2(await inFrontOf(words)))],
  ['SDK 1.32 over wharf stdio', SOME, (words) => askedBySdk1(new Stdio1(face(words)))],
  ['SDK 2.4 over wharf stdio', SOME, (words) => askedBySdk2(new Stdio2(face(words)))],
];

describe.each(WAYS)('a client of %s', (_way, cases, asked) => {
  it.each(cases.map((words) => [words.join(' '), words] as const))(
    'gets its session from a server that says before: %s',
    async (_name, words) => {
      const { heard, logged } = await asked(words);
      const logs = words.filter((word) => word === 'log' || word === 'at-start').length;
      expect(logged).toBe(words.includes('many') ? 500 : logs);
      const pings = heard.filter(({ id }) => id === 'early-ping');
      expect(pings.map(({ result }) => result)).toEqual(words.some((word) => word.startsWith('ping')) ? [{}] : []);
      const roots = heard.filter(({ id }) => id === 'early-roots');
      if (words.includes('roots')) expect(roots[0]?.result).toEqual({ roots: [{ uri: 'file:///one' }] });
    },
  );
});

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
};

describe('before a session is open', () => {
  it('a request of the server’s for which it waits is refused, and the session opens then', async () => {
    const url = await inFrontOf(['roots-wait']);
    const client = await RawClient.connect(url.href);
    const { result } = await client.call('heard');
    expect(heardIn(result ?? {})).toEqual([
      expect.objectContaining({ id: 'early-roots', error: expect.objectContaining({ code: -32603 }) }),
    ]);
  });

  it('what a server says before it refuses is shown, and no session is opened', async () => {
    const url = await inFrontOf(['log', 'roots', 'ping', 'error']);
    const answer = await RawClient.stateless(url.href, '2025-06-18').post(INITIALIZE);
    expect(answer.headers.get('mcp-session-id')).toBeNull();
    expect(answer.messages.map(({ method, error }) => method ?? error?.code)).toEqual([
      'notifications/message',
      -32602,
    ]);
  });

  it('lines that are not a message reach no client and are counted', async () => {
    const url = await inFrontOf(['pino', 'winston', 'broken', 'array', 'plain', 'echo', 'half', 'number']);
    const answer = await RawClient.stateless(url.href, '2025-06-18').post(INITIALIZE);
    expect(answer.messages.map(({ id }) => id)).toEqual([1]);
    const metrics = await (await fetch(`${wharf?.adminUrl}/metrics`)).text();
    expect(metrics).toMatch(/wharf_dropped_messages_total\{[^}]*reason="no_message"[^}]*\} 8\n/);
    expect(wharf?.logged()).not.toContain('listening');
  });

  it('an initialize that is never answered ends after timeouts.upstream, and its process with it', async () => {
    const url = await inFrontOf(['log', 'never'], { timeouts: { upstream: '1s' } });
    const answer = await RawClient.stateless(url.href, '2025-06-18').post(INITIALIZE);
    expect(answer.status).toBe(504);
    expect(answer.messages[0]?.error?.data).toMatchObject({ code: 'upstream_timeout', limit: 'timeouts.upstream' });
    const metrics = async () => (await fetch(`${wharf?.adminUrl}/metrics`)).text();
    await until(async () => /wharf_upstream_connections 0\n/.test(await metrics()));
  });

  it('a client that takes JSON only gets the answer alone', async () => {
    const url = await inFrontOf(['log', 'ping', 'pino']);
    const client = RawClient.stateless(url.href, '2025-06-18');
    const answer = await client.post(INITIALIZE, { accept: 'application/json' });
    expect(answer.headers.get('mcp-session-id')).not.toBeNull();
    expect(answer.messages.map(({ id }) => id)).toEqual([1]);
  });
});

describe('a server of legacy SSE that speaks before it answers initialize', () => {
  /** One event in one chunk of its stream, so that nothing comes into the middle of it. */
  const event = (data: string): string => {
    const frame = `data: ${data}\n\n`;
    return `${Buffer.byteLength(frame).toString(16)}\r\n${frame}\r\n`;
  };

  it.each([
    ['a log notification', '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}'],
    ['a ping', '{"jsonrpc":"2.0","id":7,"method":"ping"}'],
    ['a line of a log', '{"level":30,"msg":"x","id":0}'],
    ['what is no JSON', '{broken'],
  ])('opens the session: %s', async (_what, data) => {
    const one = await startFakeUpstream({ transport: 'legacy-sse' });
    fake = one;
    one.respond = ({ body }) => {
      if (body.includes('"initialize"')) one.speakOn(0, event(data));
      return undefined;
    };
    wharf = await startWharf({ servers: { early: { url: one.url, transport: 'legacy-sse' } } });
    const { tools } = (await askedForTools(wharf.mcp)) as { tools: unknown[] };
    expect(tools.length).toBeGreaterThan(0);
  });
});

async function askedForTools(url: string): Promise<unknown> {
  const client = new Client1({ name: 'wharf-test', version: '1' });
  await client.connect(new Http1(new URL(url)) as Transport);
  try {
    return await client.listTools();
  } finally {
    await client.close();
  }
}
