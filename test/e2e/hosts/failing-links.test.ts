import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hosts } from '../../../adapters/hosts/index.js';
import { REPLAYS } from '../../helpers/host-code.js';
import type { ToolResult } from '../../helpers/host-model.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { noisePng } from '../../helpers/sdk-servers-bytes.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

type Json = Record<string, unknown>;

const link = (uri: string, rest: Json = {}): Json => ({ type: 'resource_link', uri, name: 'report.txt', ...rest });
const text = (words: string): Json => ({ type: 'text', text: words });
const image = (bytes: Buffer): Json => ({ type: 'image', mimeType: 'image/png', data: bytes.toString('base64') });

const ONE = link('doc://r/one', { mimeType: 'text/plain', size: 14 });
const NOTE = {
  ...{ type: 'resource', annotations: { priority: 1 } },
  resource: { uri: 'doc://r/note', mimeType: 'text/plain', text: 'All about ships.' },
};
/** Not seen by a person. */
const HIDDEN = '\u{e0041}\u200b';
const odd = (resource: Json): Json => ({ type: 'resource', resource });

const RESULTS: Record<string, Json> = {
  one: { content: [ONE] },
  failed: { isError: true, content: [ONE] },
  named: { content: [text('It is at doc://r/one.'), ONE] },
  beside: { content: [text('doc://r/0'), ONE, link('doc://r/two'), text('That is all.')] },
  repeated: { content: [ONE, link('doc://r/one', { name: 'again' }), link('doc://r/two')] },
  marked: { content: [link('doc://r/one', { annotations: { audience: ['user'] } })] },
  web: { content: [link('https://example.com/page')] },
  moved: { content: [ONE, image(noisePng(600)), link('doc://r/two')] },
  many: { content: Array.from({ length: 300 }, (_, index) => link(`doc://r/${index}`, { name: 'n'.repeat(100) })) },
  hostile: {
    content: [
      link(`doc://r/a${HIDDEN}`),
      link('data:text/plain,hello'),
      link('', { name: '' }),
      { type: 'resource_link' },
    ],
  },
  /** What another Wharf says of its file, whose link is a presigned one. */
  wharf: {
    content: [
      text('scan.png · image/png · 600 kB · 3 pages\nhttp://wharf.example/d/short'),
      link('https://store.example/scan.png?signed', { name: 'scan.png', mimeType: 'image/png', size: 600_000 }),
    ],
  },
  note: { content: [text('The note:'), NOTE, image(noisePng(8))] },
  'long-note': { isError: true, content: [odd({ ...NOTE.resource, text: 'w'.repeat(60_000) })] },
  odd: {
    isError: true,
    content: [
      odd({ uri: `doc://n${HIDDEN}`, text: 'one' }),
      odd({ uri: 'doc://n', mimeType: 'text/x"\n', text: 'two' }),
      odd({ uri: 'doc://n', text: 3 }),
      odd({ uri: 'doc://n', mimeType: 'text/plain', text: '' }),
    ],
  },
};

const ABOUT = 'Link to a resource: report.txt';
const ONE_TOLD = `${ABOUT} · text/plain · 14 bytes\ndoc://r/one\n`;
const NOTED = 'Content of doc://r/note (text/plain):\nAll about ships.';

const textsOf = ({ content }: Json) => (content as Json[]).flatMap((one) => (one.type === 'text' ? [one.text] : []));

describe('a link of the server’s, for a host whose request fails because of one', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;
  /** With a tool that takes files. */
  let taking: Wharf;

  beforeAll(async () => {
    upstream = await RecordingUpstream.start({
      tools: Object.keys(RESULTS).map((name) => ({ name, inputSchema: { type: 'object' } })),
      methods: { 'tools/call': ({ name }) => RESULTS[String(name)] },
    });
    const s = { url: upstream.url, transport: 'streamable-http' };
    const t = { ...s, tools: { read: { files: { file: { encoding: 'base64' } } } } };
    wharf = await startWharf({ servers: { s } });
    taking = await startWharf({ servers: { s, t } });
  });

  afterAll(async () => {
    await Promise.all([wharf, taking].map((one) => one.stop()));
    await upstream.stop();
  });

  async function call(tool: string, { name = NAMES[0] as string, by = wharf } = {}): Promise<Json> {
    const client = await RawClient.connect(`${by.url}/s/mcp`, '2025-06-18', { name, version: '99.0.0' });
    return (await client.call(tool, {})).result as unknown as Json;
  }

  const NAMES = ['@langchain/mcp-adapters', 'stdio: npx'];

  it('is what the hosts of this test cannot have', () => {
    const failing = hosts.filter(({ behaviour: { links } }) => ['fetched', 'whole'].includes(links.is));
    expect(failing.map(({ name }) => name)).toEqual(['langchain', 'openai-agents']);
  });

  it.each(NAMES)('reaches the model of %s in words, and no block of it is left', async (name) => {
    const replay = REPLAYS[name === 'stdio: npx' ? 'openai-agents' : 'langchain'];
    const seen = (result: Json) => replay?.(result as unknown as ToolResult, () => undefined);
    for (const [tool, result] of Object.entries(RESULTS)) {
      if (tool === 'odd') continue;
      const blocks = (await call(tool, { name })).content as Json[];
      expect([tool, blocks.filter(({ type }) => type === 'resource_link' || type === 'resource')]).toEqual([tool, []]);
      expect(blocks.length).toBeGreaterThan(0);
      if (tool === 'hostile' || tool === 'wharf') continue;
      for (const { uri } of ((result.content as Json[]) ?? []).slice(0, 50))
        if (uri !== undefined) expect(seen({ content: blocks })?.text).toContain(String(uri));
    }
    expect(seen(RESULTS.moved as Json)?.images).toBe(0);
    expect(seen(await call('moved', { name }))?.images).toBe(1);
    expect(seen(RESULTS.note as Json)?.text).not.toBe(`The note:\n${NOTED}`);
    const note = seen(await call('note', { name }));
    // what the OpenAI Agents SDK is told of its image
    const text = note?.text.replace(/\nnote-1\.png · image\/png · .*: the user can open the link\.(?=\n)/s, '');
    expect([note?.images, text?.replace(/\n+(?=Content)|\n+$/g, '|')]).toEqual([
      1,
      expect.stringMatching(/^The note:\|Content of doc:\/\/r\/note \(text\/plain\):\nAll about ships\.\|?$/),
    ]);
  });

  it('is a text in its place', async () => {
    expect(await call('one')).toEqual({ content: [text(ONE_TOLD)] });
    expect(await call('failed')).toEqual({ isError: true, content: [text(ONE_TOLD)] });
    expect(await call('marked')).toEqual({
      content: [{ ...text(`${ABOUT}\ndoc://r/one\n`), annotations: { audience: ['user'] } }],
    });
    expect(await call('beside')).toEqual({
      content: [text('doc://r/0'), text(`\n${ONE_TOLD}`), text(`${ABOUT}\ndoc://r/two\n`), text('That is all.')],
    });
  });

  it('goes where a text says it already', async () => {
    expect(await call('named')).toEqual({ content: [text('It is at doc://r/one.')] });
    expect(await call('repeated')).toEqual({ content: [text(ONE_TOLD), text(`${ABOUT}\ndoc://r/two\n`)] });
    expect((await call('wharf')).content).toHaveLength(1);
    const few = textsOf(await call('many'));
    expect([few.length, few.at(-1)]).toEqual([101, '200 more links of this result have no room here.\n']);
  });

  it('keeps its handle, in the list for programs too', async () => {
    const { content, _meta } = await call('moved', { by: taking });
    const blocks = content as Json[];
    const entries = (_meta as Json)['dev.wharf/files'] as Json[];
    expect(blocks.map(({ type }) => type)).toEqual(['text', 'text', 'image', 'text']);
    expect(entries.map(({ contentIndex }) => contentIndex)).toEqual([1, 0, 3]);
    for (const at of [0, 3]) {
      const { uri } = entries.find(({ contentIndex }) => contentIndex === at) ?? {};
      expect(blocks[at]?.text).toContain(`Handle: ${uri} (pass it to a tool that takes a file)`);
    }
    // said twice rather than without a handle
    expect(textsOf(await call('named', { by: taking }))).toHaveLength(2);
  });
});

describe('a text that a server embeds in an error', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;

  beforeAll(async () => {
    upstream = await RecordingUpstream.start({
      tools: Object.keys(RESULTS).map((name) => ({ name, inputSchema: { type: 'object' } })),
      methods: { 'tools/call': ({ name }) => RESULTS[String(name)] },
    });
    wharf = await startWharf({ servers: { s: { url: upstream.url, transport: 'streamable-http' } } });
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  it('has its address before it where that is plain', async () => {
    const client = await RawClient.connect(`${wharf.url}/s/mcp`, '2025-06-18', { name: 'claude-code', version: '99' });
    const { content } = (await client.call('odd', {})).result as unknown as { content: Json[] };
    expect(content).toEqual([
      text('one'),
      text('Content of doc://n:\ntwo'),
      { type: 'resource', resource: { uri: 'doc://n', text: 3 } },
      text('Content of doc://n (text/plain):\n'),
    ]);
  });

  it('is a link, its beginning and its end where it is longer than the host shows', async () => {
    const client = await RawClient.connect(`${wharf.url}/s/mcp`, '2025-06-18', { name: 'claude-code', version: '99' });
    const { content } = (await client.call('long-note', {})).result as unknown as { content: Json[] };
    expect(content.map(({ type }) => type)).toEqual(['text', 'text']);
    expect(content[1]?.text).toMatch(/^Content of doc:\/\/r\/note \(text\/plain\):\nw{1000}/);
    expect(textsOf({ content }).join('').length).toBeLessThan(10_000);
  });
});
