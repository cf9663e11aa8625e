import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { RawClient } from '../../helpers/raw-client.js';
import { type Recorded, RecordingUpstream } from '../../helpers/recording-upstream.js';
import { noisePng } from '../../helpers/sdk-servers-bytes.js';
import { ROOT } from '../../helpers/tree-copy.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

type Json = Record<string, unknown>;

const WITH_SESSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const STATELESS = '2026-07-28';
const ABOUT_RESOURCES = /^resources\//;
const CAPABILITIES = { tools: {} };

let photo: Buffer;
/** Has tools alone. */
let upstream: RecordingUpstream;
let wharf: Wharf;

beforeAll(async () => {
  photo = noisePng(600);
  upstream = await RecordingUpstream.start({
    capabilities: CAPABILITIES,
    tools: [{ name: 'shoot', inputSchema: { type: 'object' } }],
    methods: {
      'server/discover': () => ({
        resultType: 'complete',
        supportedVersions: [STATELESS],
        capabilities: CAPABILITIES,
        serverInfo: { name: 'recording', version: '1' },
        ttlMs: 0,
        cacheScope: 'private',
      }),
      'tools/call': () => ({
        resultType: 'complete',
        content: [{ type: 'image', mimeType: 'image/png', data: photo.toString('base64') }],
      }),
    },
  });
  wharf = await startWharf({ servers: { camera: { url: upstream.url, transport: 'streamable-http' } } });
});

afterAll(async () => {
  await wharf?.stop();
  await upstream?.stop();
});

const heard = (): Recorded[] => upstream.requests.filter(({ method }) => ABOUT_RESOURCES.test(method ?? ''));

function connect(version: string): Promise<RawClient> | RawClient {
  return version === STATELESS ? RawClient.stateless(wharf.mcp, version, {}) : RawClient.connect(wharf.mcp, version);
}

describe.each([...WITH_SESSIONS, STATELESS])('a client of %s, whose server has no resources,', (version) => {
  let client: RawClient;

  beforeAll(async () => {
    client = await connect(version);
  });

  it('hears that there are some, because hosts read links only where that is declared', async () => {
    const opened = client.opened ?? (await client.request('server/discover'));
    expect(opened.result?.capabilities).toMatchObject({ tools: {}, resources: {} });
  });

  it('gets empty lists, and the server is not asked', async () => {
    const { result: list } = await client.request('resources/list');
    const { result: templates } = await client.request('resources/templates/list');
    const whole = version === STATELESS ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } : {};
    expect([list, templates]).toEqual([
      { resources: [], ...whole },
      { resourceTemplates: [], ...whole },
    ]);
    expect(heard()).toEqual([]);
  });

  it('reads what a result gave: an image, under the address that was asked for', async () => {
    const { result } = await client.call('shoot');
    const [{ url, uri } = {}] = ((result?._meta as Json)?.['dev.wharf/files'] ?? []) as Record<string, string>[];
    for (const asked of [url, `${url}?download`, uri]) {
      const read = await client.request('resources/read', { uri: asked });
      const [image, about] = (read.result?.contents ?? []) as Json[];
      expect(image).toMatchObject({ uri: asked, mimeType: expect.stringMatching(/^image\/(?:png|jpeg)$/) });
      expect(about).toMatchObject({ uri: asked, text: expect.stringMatching(/http:\/\/\S+\/d\/\S+/) });
    }
    expect(heard()).toEqual([]);
  });

  it('hears of any other resource that it does not exist', async () => {
    const { error } = await client.request('resources/read', { uri: 'docs://a' });
    const code = version === STATELESS ? -32602 : -32002;
    expect(error).toEqual({
      code,
      message: 'Resource not found: This server has no resources.',
      data: { uri: 'docs://a', code: 'resource_unknown' },
    });
    expect(heard()).toEqual([]);
  });

  it('may subscribe to a file, which never changes', async () => {
    const { result } = await client.call('shoot');
    const [{ url } = {}] = ((result?._meta as Json)?.['dev.wharf/files'] ?? []) as { url?: string }[];
    for (const method of ['resources/subscribe', 'resources/unsubscribe']) {
      expect((await client.request(method, { uri: url })).error).toBeUndefined();
      const unknown = await client.request(method, { uri: 'mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA' });
      expect(unknown.error?.message).toBe('Resource not found: There is no such file of yours.');
    }
    expect(heard()).toEqual([]);
  });
});

describe('a link that does not work', () => {
  it.each([
    ['is unknown', (url: string) => `${url}/d/${'A'.repeat(43)}`],
    ['is misspelt', (url: string) => `${url}/d/no-ticket`],
    ['is spelled in capitals', (url: string) => `${url.toUpperCase()}/d/${'A'.repeat(43)}?x=1#y`],
    ['leads further', (url: string) => `${url}/d/${'A'.repeat(43)}/x`],
    ['has an empty segment', (url: string) => `${url}//d/${'A'.repeat(43)}`],
    ['is escaped', (url: string) => `${url}/%64/${'A'.repeat(43)}`],
    ['is escaped wrongly', (url: string) => `${url}/d/%E0%A4%A`],
    ['has a blank before it', (url: string) => ` ${url}/d/${'A'.repeat(43)}`],
    ['has one slash', (url: string) => `${url.replace('//', '/')}/d/${'A'.repeat(43)}`],
    ['calls this machine by another name', (url: string) => `${url.replace('127.0.0.1', 'localhost')}/d/x`],
    ['is for an upload', (url: string) => `${url}/u/${'A'.repeat(43)}`],
    ['is a handle behind a blank', () => ' mcp-file://wharf/f_AAAAAAAAAAAAAAAAAAAAAA'],
  ])('and %s is refused by Wharf, and never shown to the server', async (_what, address) => {
    const own = await startWharf({
      servers: { docs: { url: upstream.url, transport: 'streamable-http' } },
    });
    const client = await RawClient.connect(own.mcp);
    const uri = address(own.url);
    const { error } = await client.request('resources/read', { uri });
    expect(error).toMatchObject({ code: -32002, message: 'Resource not found: There is no such file of yours.' });
    expect(heard()).toEqual([]);
    await own.stop();
  });

  it.each([
    ['of Wharf’s', 'filesystem+memory', 'gateway'],
    ['of the store’s', 's3+redis', 'presigned'],
  ] as const)('%s no longer, because the file has gone, says so', async (_what, stores, style) => {
    const own = await startWharf({
      servers: { camera: { url: upstream.url, transport: 'streamable-http' } },
      stores,
      config: { links: { style, ttl: '1s' }, retention: '1s' },
    });
    const client = await RawClient.connect(own.mcp);
    const { result } = await client.call('shoot');
    const [{ url: uri } = {}] = ((result?._meta as Json)?.['dev.wharf/files'] ?? []) as { url?: string }[];
    let error: { message: string } | undefined;
    // until a second has passed, a read finds the file, and keeps it no longer than another one
    for (const until = Date.now() + 60_000; !error && Date.now() < until; ) {
      await new Promise((resolve) => setTimeout(resolve, 1200));
      ({ error } = await client.request('resources/read', { uri }));
    }
    expect(error?.message).toMatch(/^Resource not found: (?:The file|This link) has expired\. .*run the tool/i);
    expect(heard()).toEqual([]);
    await own.stop();
  });
});

it('a host over stdio, with an SDK client, lists nothing and reads the link of a result', async () => {
  const args = [`${ROOT}/dist/gateway/main.js`, 'stdio', '--upstream', upstream.url];
  const client = new Client({ name: 'host', version: '1' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }));
  expect(client.getServerCapabilities()).toMatchObject({ resources: {} });
  expect((await client.listResources()).resources).toEqual([]);
  expect((await client.listResourceTemplates()).resourceTemplates).toEqual([]);
  const { content } = (await client.callTool({ name: 'shoot', arguments: {} })) as { content: Json[] };
  const link = content.find(({ type }) => type === 'resource_link');
  const { contents } = await client.readResource({ uri: String(link?.uri) });
  expect(contents[0]).toMatchObject({ uri: link?.uri, mimeType: expect.stringMatching(/^image\//) });
  expect(heard()).toEqual([]);
  await client.close();
});

it('a server over stdio that has no resources is not asked for them', async () => {
  const command = [process.execPath, `${ROOT}/test/helpers/recording-stdio.fixture.mjs`];
  const own = await startWharf({ servers: { notes: { command } } });
  const client = await RawClient.connect(own.mcp);
  expect(client.opened?.result?.capabilities).toMatchObject({ tools: {}, resources: {} });
  expect((await client.request('resources/list')).result).toEqual({ resources: [] });
  await own.stop();
});
