import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { noisePng } from '../../helpers/sdk-servers-bytes.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

type Json = Record<string, unknown>;

interface Block {
  type: string;
  text?: string;
  data?: string;
  uri?: string;
  mimeType?: string;
}

interface Result {
  content: Block[];
  structuredContent?: Json;
  isError?: boolean;
  _meta?: { 'dev.wharf/files'?: { url: string; contentIndex?: number; pointer?: string }[] };
}

const BIG = noisePng(600).toString('base64');
const SMALL = noisePng(8).toString('base64');
const OTHER = noisePng(9).toString('base64');
const image = (data: string): Json => ({ type: 'image', data, mimeType: 'image/png' });
const text = (words: string): Json => ({ type: 'text', text: words });
const BASE64 = { type: 'string', contentEncoding: 'base64' };

const RESULTS: Record<string, Json> = {
  told: { content: [text('a picture of 600 pixels'), image(BIG)], structuredContent: { width: 600 } },
  untold: { content: [image(BIG)], structuredContent: { width: 600, data: BIG, words: 'w'.repeat(60_000) } },
  mirrored: { content: [image(BIG)], structuredContent: { content: [image(BIG)] } },
  // a member as any other in JSON
  odd: { content: [image(BIG)], structuredContent: JSON.parse(`{"__proto__":"${BIG}","a":1}`) },
  alone: { content: [text('here')], structuredContent: { file: BIG } },
  // nothing declares it
  loose: { content: [text('here')], structuredContent: { shot: [{ b64: BIG, of: 'the page' }] } },
  // a text that says less, and base64 that no model should read
  half: {
    content: [text('chart made'), image(BIG)],
    structuredContent: { chart: 'c_1', points: 12, thumb: OTHER, data: BIG },
  },
  small: { content: [text('a dot'), image(SMALL)], structuredContent: { data: SMALL } },
  plain: { content: [text('no file')], structuredContent: { width: 1 } },
  failed: { isError: true, content: [text('it failed'), image(BIG)], structuredContent: { width: 600 } },
};

const TOOLS = Object.keys(RESULTS).map((name) => ({
  name,
  inputSchema: { type: 'object' },
  outputSchema: { type: 'object', ...(name === 'alone' && { properties: { file: BASE64 } }) },
}));

describe('a host that hides content beside structuredContent', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;
  const clients: Client[] = [];

  beforeAll(async () => {
    upstream = await RecordingUpstream.start({
      methods: {
        'tools/list': () => ({ tools: TOOLS }),
        'tools/call': ({ name }) => RESULTS[String(name)],
      },
    });
    wharf = await startWharf({
      servers: { s: { url: upstream.url, transport: 'streamable-http' } },
      config: {
        clients: [
          { match: { name: 'keeper' }, like: 'vscode', host: { structured: 'keep' } },
          { match: { name: 'mine', version: '>=2' }, host: { structured: 'drop' } },
        ],
      },
    });
  });

  afterAll(async () => {
    for (const client of clients) await client.close();
    await wharf.stop();
    await upstream.stop();
  });

  async function open(name: string, version = '1.107.0') {
    const client = new Client({ name, version });
    await client.connect(new StreamableHTTPClientTransport(new URL(wharf.mcp)));
    clients.push(client);
    // from now on it validates what it gets
    const { tools } = await client.listTools();
    const call = async (tool: string) => (await client.callTool({ name: tool, arguments: {} })) as unknown as Result;
    return { tools, call };
  }

  const linkIn = (block: Block | undefined) => /^(http\S+)$/m.exec(block?.text ?? '')?.[1] ?? '';
  const typesOf = ({ content }: Result) => content.map(({ type }) => type);

  it('gets the link where it looks: no structuredContent beside files, and no outputSchema that asks for it', async () => {
    const { tools, call } = await open('Visual Studio Code');
    expect(tools.filter((tool) => tool.outputSchema)).toEqual([]);
    const result = await call('told');
    expect(result.structuredContent).toBeUndefined();
    expect(typesOf(result)).toEqual(['text', 'text', 'image']);
    expect((await fetch(linkIn(result.content[1]))).status).toBe(200);
  });

  it('loses nothing: what only structuredContent said becomes text', async () => {
    const { call } = await open('Visual Studio Code');
    const result = await call('untold');
    expect(result.structuredContent).toBeUndefined();
    expect(typesOf(result)).toEqual(['text', 'image', 'text']);
    const said = JSON.parse(result.content[2]?.text ?? '') as Json;
    expect(said).toEqual({ width: 600, data: expect.stringMatching(/^http\S+\/d\//), words: 'w'.repeat(60_000) });
  });

  it('loses nothing either where a name is one that code trips over', async () => {
    const { call } = await open('Visual Studio Code');
    const { content } = await call('odd');
    expect(content[2]?.text).toMatch(/^\{"__proto__":"http[^"]+\/d\/[^"]+","a":1\}$/);
  });

  it('loses nothing beside a text of the server’s that does not say it', async () => {
    const { call } = await open('Visual Studio Code');
    const result = await call('half');
    expect(typesOf(result)).toEqual(['text', 'text', 'image', 'text']);
    const said = JSON.parse(result.content[3]?.text ?? '') as Json;
    expect(said).toEqual({ chart: 'c_1', points: 12, thumb: '', data: linkIn(result.content[1]) });
  });

  it('reads nothing twice: a structuredContent that repeats the content goes', async () => {
    const { call } = await open('Visual Studio Code');
    expect(typesOf(await call('mirrored'))).toEqual(['text', 'image']);
  });

  it('gets a file of structuredContent alone as blocks', async () => {
    const { call } = await open('Visual Studio Code');
    const result = await call('alone');
    expect(result.structuredContent).toBeUndefined();
    expect(typesOf(result)).toEqual(['text', 'text', 'image']);
    const [file] = result._meta?.['dev.wharf/files'] ?? [];
    expect(file?.contentIndex).toBe(1);
    expect(linkIn(result.content[1])).toBe(file?.url);
  });

  it('is not shown the base64 of a small file in structuredContent', async () => {
    const { call } = await open('Visual Studio Code');
    const result = await call('small');
    expect(result.structuredContent).toBeUndefined();
    expect(result.content).toEqual(RESULTS.small?.content);
  });

  it('is shown none of it where images are links, and a result is short', async () => {
    const { tools, call } = await open('github-copilot-developer', '1.0.87');
    expect(tools.filter((tool) => tool.outputSchema)).toEqual([]);
    const result = await call('small');
    expect(result.structuredContent).toBeUndefined();
    expect(JSON.stringify(result)).not.toContain(SMALL.slice(0, 40));
    expect((await fetch(linkIn(result.content[1]))).status).toBe(200);
    expect((await call('plain')).structuredContent).toEqual({ width: 1 });
  });

  it('keeps a structuredContent without files, and drops that of an error with one', async () => {
    const { call } = await open('Visual Studio Code');
    expect((await call('plain')).structuredContent).toEqual({ width: 1 });
    const failed = await call('failed');
    expect(failed.structuredContent).toBeUndefined();
    expect(linkIn(failed.content[1])).toMatch(/\/d\//);
  });

  it.each([
    ['any other client', 'some-client', '1.0.0'],
    ['one that the operator excepts', 'keeper', '1.0.0'],
    ['one of another version than the operator’s', 'mine', '1.9'],
  ])('%s gets both, as ever', async (_who, name, version) => {
    const { tools, call } = await open(name, version);
    expect(tools.filter((tool) => tool.outputSchema)).toHaveLength(TOOLS.length);
    expect((await call('told')).structuredContent).toEqual({ width: 600 });
    expect(((await call('alone')).structuredContent as { file: string }).file).toMatch(/\/d\//);
  });

  it.each([
    ['one that shows content alone', 'goose-desktop'],
    ['one that shows both', 'cursor-vscode'],
  ])('%s gets blocks for a file that only structuredContent has, besides the link there', async (_which, name) => {
    const { call } = await open(name);
    const result = await call('alone');
    expect((result.structuredContent as { file: string }).file).toMatch(/\/d\//);
    expect(result.content.slice(1, 3).map(({ type }) => type)).toEqual(['text', 'image']);
    expect(linkIn(result.content[1])).toBe(result.structuredContent?.file);
    const places = result._meta?.['dev.wharf/files']?.map(({ contentIndex, pointer }) => contentIndex ?? pointer);
    expect(places).toEqual([1, '/file']);
    // what the content shows already is not shown again
    expect(typesOf(await call('told')).filter((type) => type === 'image')).toHaveLength(1);
  });

  it('gets a link for base64 of a known format that nothing declares: its model would read it', async () => {
    const hiding = await open('Visual Studio Code');
    const hidden = await hiding.call('loose');
    expect(hidden.structuredContent).toBeUndefined();
    expect(typesOf(hidden)).toEqual(['text', 'text', 'text', 'image']);
    const link = linkIn(hidden.content[2]);
    expect(JSON.parse(hidden.content[1]?.text ?? '')).toEqual({ shot: [{ b64: link, of: 'the page' }] });
    expect((await fetch(link)).status).toBe(200);
    const both = await open('claude-ai');
    const { content, structuredContent } = await both.call('loose');
    expect(content.map(({ type }) => type)).toEqual(['text', 'text', 'image', 'resource_link']);
    expect(structuredContent).toEqual({ shot: [{ b64: linkIn(content[1]), of: 'the page' }] });
    const program = await open('some-client');
    expect((await program.call('loose')).structuredContent).toEqual(RESULTS.loose?.structuredContent);
  });

  it('may be one that the operator names', async () => {
    const { tools, call } = await open('mine', '2.0.1');
    expect(tools.filter((tool) => tool.outputSchema)).toEqual([]);
    expect((await call('told')).structuredContent).toBeUndefined();
  });
});

describe('an error with an image', () => {
  it('has text with the link alone for a host that is not known: many make one text of it, base64 and all', async () => {
    const upstream = await RecordingUpstream.start({
      tools: [{ name: 'failed', inputSchema: { type: 'object' } }],
      methods: { 'tools/call': () => ({ isError: true, content: [text('it failed'), image(BIG)] }) },
    });
    const wharf = await startWharf({ servers: { s: { url: upstream.url, transport: 'streamable-http' } } });
    const shown = async (name: string) => {
      const client = new Client({ name, version: '1' });
      await client.connect(new StreamableHTTPClientTransport(new URL(wharf.mcp)));
      const { content } = (await client.callTool({ name: 'failed', arguments: {} })) as unknown as Result;
      await client.close();
      return { types: content.map(({ type }) => type), told: content[1]?.text };
    };
    const unknown = await shown('some-client');
    expect(unknown.types).toEqual(['text', 'text']);
    expect(unknown.told).toMatch(/^failed-1\.png · image\/png · \S+ [kM]B · 600 × 600\nhttp\S+\/d\//);
    expect(unknown.told).not.toContain('below');
    expect((await shown('Visual Studio Code')).types).toEqual(['text', 'text', 'image']);
    await wharf.stop();
    await upstream.stop();
  });
});
