import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { startFixtureServer, stdioCommand } from '../../conformance/fixture-server.js';
import { keyHash } from '../../helpers/bytes.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const KEYS = { all: 'all-0123456789abcdef', some: 'some-0123456789abcdef', none: 'none-0123456789abcdef' };
type Name = keyof typeof KEYS;

const CLIENT = { name: 'wharf-test', version: '1.0.0' };
const bearer = (name: Name) => ({ requestInit: { headers: { authorization: `Bearer ${KEYS[name]}` } } });

const auth = {
  use: 'apiKeys',
  keys: [
    { name: 'all', hash: keyHash(KEYS.all) },
    { name: 'some', hash: keyHash(KEYS.some), tools: ['one.test_*', '!*.test_audio_content'] },
    { name: 'none', hash: keyHash(KEYS.none), servers: ['other'] },
  ],
};

/** The first server's tools: who may use them, and what they are called. */
const RULES = {
  allow: [{ key: 'all' }, { key: 'some', tools: ['*', '!test_error_*'] }, { key: 'none' }],
  tools: { test_image_content: { name: 'picture', description: 'A red dot.' } },
};
const HIDDEN = ['test_audio_content', 'test_error_handling'];

describe.each(['http', 'sse', 'stdio', 'http-2026', 'stdio-2026'] as const)('tools of a server over %s', (mode) => {
  let server: { url: string; stop(): void } | undefined;
  let wharf: Wharf;
  const clients: { close(): Promise<void> }[] = [];

  const connect = async (name: Name) => {
    const client = new Client(CLIENT, {
      versionNegotiation: { mode: mode.endsWith('2026') ? { pin: '2026-07-28' } : 'legacy' },
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${wharf.url}/one/mcp`), bearer(name)));
    clients.push(client);
    return client;
  };
  const namesFor = async (client: { listTools(): Promise<{ tools: { name: string }[] }> }) =>
    (await client.listTools()).tools.map(({ name }) => name);

  beforeAll(async () => {
    if (mode !== 'stdio' && mode !== 'stdio-2026') server = await startFixtureServer(mode);
    const one = mode === 'stdio' || mode === 'stdio-2026' ? { command: stdioCommand(mode) } : { url: server?.url };
    wharf = await startWharf({
      servers: { one: { ...one, ...RULES }, other: { url: 'http://127.0.0.1:9/mcp' } },
      config: { auth },
    });
  });

  afterAll(async () => {
    for (const client of clients) await client.close();
    await wharf?.stop();
    server?.stop();
  });

  it('are listed for the callers that may use them, under the names of the config', async () => {
    const all = await connect('all');
    const some = await connect('some');
    const { tools } = await all.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([...HIDDEN, 'picture']));
    expect(names).not.toContain('test_image_content');
    expect(tools.find(({ name }) => name === 'picture')?.description).toBe('A red dot.');
    const isTheirs = (name: string) => /^(?:test_|picture$)/.test(name) && !HIDDEN.includes(name);
    expect(await namesFor(some)).toEqual(names.filter(isTheirs));
  });

  it('are called by the names of the config', async () => {
    const some = await connect('some');
    const { content } = await some.callTool({ name: 'picture', arguments: {} });
    expect(content).toEqual([expect.objectContaining({ type: 'image' })]);
    const plain = await some.callTool({ name: 'test_simple_text', arguments: {} });
    expect(plain.content).toEqual([expect.objectContaining({ type: 'text' })]);
  });

  it.each([...HIDDEN, 'test_image_content'])('are unknown where they are hidden or renamed: %s', async (name) => {
    const some = await connect('some');
    await expect(some.callTool({ name, arguments: {} })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining(`Unknown tool: ${name}`),
    });
  });

  it('cannot be reached by a key for other servers', async () => {
    await expect(connect('none')).rejects.toThrow(/You may not use the server|403/);
  });
});

describe('an SDK 1 client', () => {
  let server: { url: string; stop(): void };
  let wharf: Wharf;
  let client: OldClient;

  beforeAll(async () => {
    server = await startFixtureServer('http');
    const keys = auth.keys.slice(0, 2);
    wharf = await startWharf({
      servers: { one: { url: server.url, ...RULES, allow: RULES.allow.slice(0, 2) } },
      config: { auth: { ...auth, keys } },
    });
    client = new OldClient(CLIENT);
    await client.connect(new OldTransport(new URL(wharf.mcp), bearer('some')) as Transport);
  });

  afterAll(async () => {
    await client?.close();
    await wharf?.stop();
    server?.stop();
  });

  it('sees and calls the tools that its key may use', async () => {
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['picture', 'test_simple_text']));
    expect(names.filter((name) => HIDDEN.includes(name))).toEqual([]);
    expect((await client.callTool({ name: 'picture' })).content).toEqual([expect.objectContaining({ type: 'image' })]);
    await expect(client.callTool({ name: 'test_audio_content' })).rejects.toMatchObject({ code: -32602 });
  });
});
