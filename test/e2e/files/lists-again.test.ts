import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { adapters } from '../../../adapters/index.js';
import type { Dialect } from '../../../gateway/ports/dialect.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

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

  /** With the address of its gateway left out. */
  async function listed(wharf: Wharf, client: string): Promise<string> {
    const session = await RawClient.connect(wharf.mcp, '2025-06-18', CLIENTS[client]);
    const { result } = await session.request('tools/list');
    return JSON.stringify(result).replaceAll(wharf.url, 'URL');
  }

  it('is what each client would get of a gateway that has just begun, also after others have asked', async () => {
    const alone: Record<string, string> = {};
    for (const client of Object.keys(CLIENTS)) {
      const wharf = await start();
      alone[client] = await listed(wharf, client);
      await wharf.stop();
    }
    expect(new Set(Object.values(alone)).size).toBeGreaterThan(2);
    const wharf = await start();
    const order = Object.keys(CLIENTS);
    for (const client of [...order, ...order.toReversed(), ...order]) {
      expect({ client, list: await listed(wharf, client) }).toEqual({ client, list: alone[client] });
    }
    await wharf.stop();
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
    tools = [TOOLS[0] as (typeof TOOLS)[number]];
    const wharf = await start(adapters.dialects.map(counting));
    await listed(wharf, 'a client that declares nothing');
    const first = read;
    for (let again = 0; again < 3; again++) await listed(wharf, 'a client that declares nothing');
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
