import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { adapters } from '../../../adapters/index.js';
import type { Dialect } from '../../../gateway/ports/dialect.js';
import { keyHash } from '../../helpers/bytes.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { Reloading } from '../reloading.js';

const object = (properties: object) => ({ type: 'object', properties });
const BASE64 = { type: 'string', contentEncoding: 'base64', pattern: '^[A-Za-z0-9+/=]*$' };

/** Tools of every kind that Wharf changes for some client, and others. */
const TOOLS = [
  {
    name: 'plain',
    inputSchema: object({ text: { type: 'string' } }),
    outputSchema: object({ text: { type: 'string' } }),
  },
  { name: 'gives', inputSchema: object({}), outputSchema: object({ image: BASE64 }) },
  { name: 'takes', inputSchema: object({ image: BASE64 }), outputSchema: object({ image: BASE64 }) },
  { name: 'misspelt', inputSchema: object({ text: { type: 'string', 'x-mcp-file': 'yes' } }) },
  { name: 'marked', inputSchema: object({ image: { type: 'string', 'x-mcp-file': {} } }) },
  { name: 'params', inputSchema: object({ image: object({}) }), _meta: { 'openai/fileParams': ['image'] } },
  { name: 'plain', description: 'The same name again.', inputSchema: object({}) },
  { description: 'It has no name.', inputSchema: object({ image: BASE64 }) },
  { name: 'odd', inputSchema: [] },
  'no tool',
];

const CLIENTS: Record<string, { capabilities?: Record<string, unknown>; name?: string }> = {
  'a client that declares nothing': {},
  'one of the early SEP-2356': { capabilities: { fileInputs: {} } },
  'one that moves files itself': { capabilities: { files: { upload: true, download: true } } },
  'one of a host that hides text beside structured content': { name: 'gemini-cli-mcp-client' },
  'one of another host': { name: 'openai-mcp' },
};

describe('a list of tools that has been listed before', () => {
  let upstream: RecordingUpstream;
  let tools = TOOLS;

  beforeAll(async () => {
    upstream = await RecordingUpstream.start({ methods: { 'tools/list': () => ({ tools }) } });
  });

  afterAll(() => upstream.stop());

  const start = (dialects = adapters.dialects) => {
    const servers = { up: { url: upstream.url, transport: 'streamable-http' } };
    return startWharf({ servers, adapters: { ...adapters, dialects } });
  };

  /** With the address of its gateway left out. @param version from 2026 on each request says what its client is */
  async function listed(wharf: Wharf, client: string, version = '2025-06-18'): Promise<string> {
    const about = CLIENTS[client];
    const session =
      version < '2026'
        ? await RawClient.connect(wharf.mcp, version, about)
        : RawClient.stateless(wharf.mcp, version, about);
    const { result } = await session.request('tools/list');
    return JSON.stringify(result).replaceAll(wharf.url, 'URL');
  }

  it('is what each client would get of a gateway that has just begun, also after others have asked', async () => {
    const order = ['2025-06-18', '2026-07-28'].flatMap((version) =>
      Object.keys(CLIENTS).map((client) => ({ client, version })),
    );
    const alone = new Map<string, string>();
    for (const { client, version } of order) {
      const wharf = await start();
      alone.set(client + version, await listed(wharf, client, version));
      await wharf.stop();
    }
    expect(new Set(alone.values()).size).toBeGreaterThan(4);
    const wharf = await start();
    for (const { client, version } of [...order, ...order.toReversed(), ...order]) {
      const list = await listed(wharf, client, version);
      expect({ client, version, list }).toEqual({ client, version, list: alone.get(client + version) });
    }
    await wharf.stop();
  });

  it('is what each caller may have, also after those with other limits and other tools', async () => {
    tools = [...TOOLS, { name: 'request_file_upload', inputSchema: object({}) }];
    const auth = {
      use: 'apiKeys',
      keys: [{ name: 'ada' }, { name: 'bob', limits: { file: '20kB' } }, { name: 'eve' }],
    };
    const keyed = auth.keys.map((key) => ({ ...key, hash: keyHash(`${key.name}-0123456789`) }));
    const allow = [{ key: 'ada' }, { key: 'bob' }, { key: 'eve', tools: ['!request_file_upload'] }];
    const wharf = await startWharf({
      servers: { up: { url: upstream.url, transport: 'streamable-http', allow } },
      config: { auth: { ...auth, keys: keyed } },
    });
    const sessions = new Map<string, RawClient>();
    for (const { name } of auth.keys) {
      const headers = { authorization: `Bearer ${name}-0123456789` };
      sessions.set(name, await RawClient.connect(wharf.mcp, '2025-06-18', { headers }));
    }
    const seen: string[] = [];
    for (const name of ['ada', 'bob', 'eve', 'ada', 'eve', 'bob', 'ada']) {
      const { result } = (await sessions.get(name)?.request('tools/list')) ?? {};
      const [, size, by] =
        /at most (\S+ \S+?)\. Pass a file handle \(mcp-file:\/\/…\) from (\S+)/.exec(JSON.stringify(result)) ?? [];
      seen.push(`${name}: ${size} of ${by}`);
    }
    tools = TOOLS;
    await wharf.stop();
    const [ada, bob, eve] = [
      'ada: 3.1 MB of wharf_request_file_upload',
      'bob: 20 kB of wharf_request_file_upload',
      'eve: 3.1 MB of request_file_upload',
    ];
    expect(seen).toEqual([ada, bob, eve, ada, eve, bob, ada]);
  });

  it('is what the config says now, after a reload', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'wharf-lists-'));
    const config = (up: object) => ({
      listen: '127.0.0.1:0',
      objects: { use: 'filesystem', path: join(folder, 'data') },
      servers: { up: { url: upstream.url, transport: 'streamable-http', ...up } },
    });
    const gateway = await Reloading.start(folder, config({}));
    const list = async () => {
      const client = await RawClient.connect(`${gateway.url}/mcp`);
      return JSON.stringify((await client.request('tools/list')).result);
    };
    const before = await list();
    expect(before).not.toContain('at most 20 kB');
    await gateway.reload(config({ limits: { file: '20kB' }, tools: { takes: { description: 'As now.' } } }));
    const after = await list();
    await gateway.reload(config({}));
    const again = await list();
    await gateway.stop();
    await rm(folder, { recursive: true });
    expect(after).toContain('at most 20 kB');
    expect(after).toContain('As now.');
    expect(again).toBe(before);
  });

  it('is not read again tool by tool, since thousands of callers ask for it', async () => {
    let read = 0;
    const counting = (dialect: Dialect): Dialect => ({
      ...dialect,
      slotsOf: (tool) => {
        read += 1;
        return dialect.slotsOf?.(tool) ?? [];
      },
      showTool: (...shown) => {
        read += 1;
        return dialect.showTool?.(...shown) ?? [];
      },
    });
    tools = TOOLS.slice(0, 6);
    const wharf = await start(adapters.dialects.map(counting));
    for (const client of Object.keys(CLIENTS)) await listed(wharf, client);
    const first = read;
    for (const client of [...Object.keys(CLIENTS), ...Object.keys(CLIENTS)]) await listed(wharf, client);
    tools = TOOLS;
    await wharf.stop();
    expect({ first: first > 0, read }).toEqual({ first: true, read: first });
  });

  it('shows what a server has changed', async () => {
    const wharf = await start();
    await listed(wharf, 'a client that declares nothing');
    tools = [{ name: 'plain', description: 'It is another now.', inputSchema: object({ image: BASE64 }) }];
    const list = await listed(wharf, 'a client that declares nothing');
    tools = TOOLS;
    await wharf.stop();
    expect(list).toContain('It is another now.');
    expect(list).toContain('Pass a file handle');
    expect(list).not.toContain('misspelt');
  });
});
