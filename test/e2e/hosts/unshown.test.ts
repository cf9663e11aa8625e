import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { noisePng } from '../../helpers/sdk-servers-bytes.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

type Json = Record<string, unknown>;

const SMALL = noisePng(8);
const MIDDLE = noisePng(200);
const PHOTO = noisePng(600).toString('base64');
const LINES = Array.from({ length: 20_000 }, (_, index) => `line ${index}`).join('\n');
const SHORT = LINES.slice(0, 20_000);
const image = (bytes: Buffer, mimeType = 'image/png'): Json => ({
  type: 'image',
  data: bytes.toString('base64'),
  mimeType,
});
const blob = (bytes: Buffer, mimeType: string): Json => ({
  type: 'resource',
  resource: { uri: 'a://files/x.bin', mimeType, blob: bytes.toString('base64') },
});
const text = (words: string): Json => ({ type: 'text', text: words });
/** As long as a blob may be and stay inline, so that it is taken out of the message until its end has come. */
const BRINK = Buffer.from(LINES.slice(0, 32 * 1024));
/** The same in the lines of a MIME body, a little before that. */
const WRAPPED = {
  type: 'resource',
  resource: {
    uri: 'a://files/x.bin',
    mimeType: 'text/plain',
    blob: BRINK.subarray(0, 32_000).toString('base64').replaceAll(/.{76}/g, '$&\n'),
  },
};
const PDF = Buffer.from('%PDF-1.7 a small one');
const AVIF = Buffer.concat([Buffer.from('0000001c6674797061766966', 'hex'), Buffer.alloc(200)]);

const CONTENT: Record<string, Json> = {
  shot: { isError: true, content: [text('it failed'), image(SMALL)] },
  larger: { isError: true, content: [text('it failed'), image(MIDDLE)] },
  blob: { content: [{ ...blob(PDF, 'application/pdf'), annotations: { priority: 1 } }] },
  said: {
    isError: true,
    content: [text('it failed'), { ...blob(Buffer.from('Grüße'), 'text/plain'), annotations: { priority: 1 } }],
  },
  brink: { content: [blob(BRINK, 'text/plain')] },
  wrapped: { content: [WRAPPED] },
  bytes: { content: [blob(Buffer.alloc(32 * 1024, 255), 'text/plain')] },
  'failed-brink': { isError: true, content: [blob(BRINK, 'text/plain')] },
  note: { content: [blob(Buffer.from('Grüße'), 'text/plain')] },
  avif: { content: [image(AVIF, 'image/avif')] },
  picture: { content: [image(SMALL)] },
  long: { content: [text(LINES)], structuredContent: { lines: LINES } },
  raised: { content: [text(LINES)] },
  hardly: { content: [text(LINES)] },
  oddly: { content: [text(LINES)] },
  middle: { content: [text(SHORT), text('the end')] },
  noted: { content: [{ ...text(LINES), annotations: { priority: 1 } }] },
  several: { content: [text(SHORT), text('between'), text(SHORT), text(SHORT)] },
  document: {
    content: [{ type: 'resource', resource: { uri: 'a://files/log.md', mimeType: 'text/markdown', text: LINES } }],
  },
  listing: { content: [text(JSON.stringify(LINES.split('\n').map((line, id) => ({ id, line }))))] },
  encoded: { content: [text(JSON.stringify({ id: 7, scan: noisePng(200).toString('base64') }))] },
  wrong: { isError: true, content: [text(SHORT)] },
  lines: { content: [text(Array.from({ length: 3000 }, () => 'x').join('\n'))] },
  gallery: { content: Array.from({ length: 9 }, () => image(SMALL)) },
  mixed: { content: [image(noisePng(500)), image(SMALL), image(MIDDLE)] },
  shots: { content: [image(noisePng(380)), image(noisePng(381)), image(noisePng(382))] },
  twice: { content: [image(noisePng(380))], structuredContent: { content: [image(noisePng(380))] } },
  album: { content: [text(SHORT), ...Array.from({ length: 7 }, () => image(SMALL))] },
  uri: { content: [text(`data:image/png;base64,${noisePng(250).toString('base64')}`)] },
  failed: { isError: true, content: [text(`data:image/png;base64,${MIDDLE.toString('base64')}`)] },
  page: { content: [text(`# It\n![it](data:image/png;base64,${MIDDLE.toString('base64')})\nThe end.`)] },
  mislabelled: {
    content: [
      { ...image(SMALL, 'image/jpeg'), annotations: { priority: 1 } },
      image(MIDDLE, 'image/jpg'),
      image(AVIF, 'image/png'),
      image(SMALL, 'IMAGE/PNG'),
      { type: 'image', data: SMALL.toString('base64') },
    ],
  },
  odd: { content: [{ type: 'image', data: 'not base64!', mimeType: 'image/tiff' }] },
  many: { isError: true, content: Array.from({ length: 200 }, () => image(SMALL)) },
};

/** What tools say of their own texts. */
const LONGEST: Record<string, unknown> = { raised: 300_000, hardly: 60_000, oddly: '300000' };

describe('a block that a host would not show', () => {
  let upstream: RecordingUpstream;
  let wharf: Wharf;

  beforeAll(async () => {
    upstream = await RecordingUpstream.start({
      methods: {
        'tools/list': () => ({
          tools: Object.keys(CONTENT).map((name) => ({
            name,
            inputSchema: { type: 'object' },
            ...(name in LONGEST && { _meta: { 'anthropic/maxResultSizeChars': LONGEST[name] } }),
          })),
        }),
        'tools/call': ({ name }) => CONTENT[String(name)],
        'resources/read': ({ uri }) => ({
          contents: [uri, 'a://other'].map((one) => ({ uri: one, mimeType: 'image/png', blob: PHOTO })),
        }),
      },
    });
    wharf = await startWharf({
      servers: { s: { url: upstream.url, transport: 'streamable-http' } },
      config: {
        limits: { inlineResource: '1MB' },
        clients: [
          { match: { name: 'two-images' }, host: { imagesPerResult: 2 } },
          { match: { name: 'little-room' }, host: { imageBytesPerResult: '130kB' } },
          { match: { name: 'webp-alone' }, host: { imageTypes: ['image/webp'] } },
          { match: { name: 'both-types' }, host: { imageTypes: ['image/png', 'image/jpeg'] } },
        ],
      },
    });
  });

  afterAll(async () => {
    await wharf.stop();
    await upstream.stop();
  });

  async function call(
    host: string,
    tool: string,
  ): Promise<{ types: unknown[]; content: Json[]; result: Json; error?: Json }> {
    const client = await RawClient.connect(wharf.mcp, '2025-06-18', { name: host });
    const { result, error } = await client.call(tool, {});
    const content = result?.content ?? [];
    return {
      types: content.map(({ type }) => type),
      content,
      result: result ?? {},
      ...(error && { error: { ...error } }),
    };
  }

  async function bytesAt(block: Json | undefined): Promise<Buffer> {
    const link = /^(http\S+)$/m.exec(String(block?.text))?.[1] ?? '';
    return Buffer.from(await (await fetch(link)).arrayBuffer());
  }

  it.each(['some-client', 'claude-code', 'gemini-cli-mcp-client-s', 'opencode'])(
    'is an image in an error, however small, for %s',
    async (host) => {
      const small = await call(host, 'shot');
      expect(small.types).toEqual(['text', 'text']);
      expect(await bytesAt(small.content[1])).toEqual(SMALL);
      const larger = await call(host, 'larger');
      expect(larger.types).toEqual(['text', 'text']);
      expect(await bytesAt(larger.content[1])).toEqual(MIDDLE);
      expect(JSON.stringify(larger.result)).not.toContain(MIDDLE.toString('base64').slice(0, 40));
    },
  );

  it('is none where errors are shown like other results', async () => {
    expect((await call('Visual Studio Code', 'shot')).result).toEqual(CONTENT.shot);
    expect((await call('some-client', 'picture')).result).toEqual(CONTENT.picture);
    expect((await call('some-client', 'blob')).result).toEqual(CONTENT.blob);
    expect((await call('some-client', 'middle')).result).toEqual(CONTENT.middle);
  });

  it.each(['codex-mcp-client', 'github-copilot-developer', 'goose-cli'])('is a small blob for %s', async (host) => {
    const { content } = await call(host, 'blob');
    expect(content[0]).toMatchObject({ type: 'text', annotations: { priority: 1 } });
    expect(content[0]?.text).toMatch(/^x\.bin · application\/pdf · 20 bytes/);
    expect(content[0]?.text).toMatch(/^curl -fLo x\.bin http\S+$/m);
    expect(await bytesAt(content[0])).toEqual(PDF);
    const { content: note } = await call(host, 'note');
    expect(note).toEqual([
      { type: 'resource', resource: { uri: 'a://files/x.bin', mimeType: 'text/plain', text: 'Grüße' } },
    ]);
  });

  it('is a small text, however near it comes to a size that is stored', async () => {
    for (const host of ['codex-mcp-client', 'goose-cli']) {
      for (const [tool, bytes] of [
        ['brink', BRINK],
        ['wrapped', BRINK.subarray(0, 32_000)],
      ] as const) {
        const [block] = (await call(host, tool)).content;
        expect(block?.resource).toEqual({ uri: 'a://files/x.bin', mimeType: 'text/plain', text: bytes.toString() });
      }
      expect(await bytesAt((await call(host, 'bytes')).content[0])).toEqual(Buffer.alloc(32 * 1024, 255));
    }
    expect((await call('opencode', 'failed-brink')).content).toEqual([text(BRINK.toString())]);
    expect((await call('some-client', 'brink')).result).toEqual(CONTENT.brink);
  });

  it('is a small text in an error, where errors keep nothing but text', async () => {
    const said = { type: 'text', text: 'Grüße', annotations: { priority: 1 } };
    for (const host of ['claude-code', 'opencode', 'some-client'])
      expect((await call(host, 'said')).content).toEqual([text('it failed'), said]);
    expect((await call('Visual Studio Code', 'said')).types).toEqual(['text', 'resource']);
  });

  it('is an image of a type that its model does not take, or any where none reaches it', async () => {
    expect((await call('claude-code', 'avif')).types[0]).toBe('text');
    expect((await call('claude-code', 'picture')).result).toEqual(CONTENT.picture);
    expect((await call('github-copilot-developer', 'picture')).types).toEqual(['text', 'resource_link']);
  });

  it('is not an image that only says another type than its bytes have: it stays, and says its own', async () => {
    const { content } = await call('claude-ai', 'mislabelled');
    expect(content).toEqual([
      { ...image(SMALL), annotations: { priority: 1 } },
      image(MIDDLE),
      image(AVIF, 'image/png'),
      image(SMALL),
      image(SMALL),
    ]);
    expect((await call('github-copilot-developer', 'mislabelled')).types).not.toContain('image');
    const gemini = await call('gemini-cli-mcp-client', 'mislabelled');
    expect(gemini.content.map(({ mimeType }) => mimeType)).toEqual(Array(5).fill('image/png'));
    expect((await call('some-client', 'mislabelled')).result).toEqual(CONTENT.mislabelled);
  });

  it('is a preview of a type that its model does not take, of which no text speaks', async () => {
    const { types, content } = await call('webp-alone', 'picture');
    expect(types).toEqual(['text', 'resource_link']);
    expect(String(content[0]?.text)).not.toContain('preview');
    expect((await call('both-types', 'mixed')).types).toContain('image');
  });

  it('passes when it is not base64, for the client to judge', async () => {
    expect((await call('claude-code', 'odd')).result).toEqual(CONTENT.odd);
  });

  it.each([
    ['claude-code', 'long', 45_000],
    ['Visual Studio Code', 'long', 7372],
    ['Visual Studio Code', 'middle', 7372],
    ['codex-mcp-client', 'long', 36_000],
    ['gemini-cli-mcp-client', 'long', 36_000],
    ['goose-desktop', 'long', 90_000],
  ])('is a long text for %s: it gets a link, the beginning and the end (%s)', async (host, tool, most) => {
    const { content, result } = await call(host, tool);
    const whole = tool === 'long' ? LINES : SHORT;
    const [told] = content;
    const shown = String(content.find(({ text }) => String(text).includes('are left out here'))?.text);
    expect(shown.length).toBeLessThan(most);
    expect(shown.length).toBeGreaterThan(most / 2);
    const [head, left, tail] = shown.split(/\n\[(\d+ of \d+) characters are left out here; the file above [^\]]+\]\n/);
    expect(whole.startsWith(`${head}\n`)).toBe(true);
    expect(whole.endsWith(`\n${tail}`)).toBe(true);
    expect(left).toBe(`${whole.length - String(head).length - String(tail).length} of ${whole.length}`);
    expect(told?.text).toMatch(new RegExp(`^${tool}-1\\.txt · text/plain · `));
    expect(String(await bytesAt(told))).toBe(whole);
    if (host !== 'gemini-cli-mcp-client' && host !== 'goose-desktop') expect(result.structuredContent).toBeUndefined();
  });

  it('is none that a host reads at once at the link to it', async () => {
    expect((await call('Visual Studio Code', 'middle')).types).toEqual(['text', 'text', 'text']);
    expect((await call('Visual Studio Code', 'long')).types).toEqual(['text', 'resource_link', 'text']);
    expect((await call('github-copilot-developer', 'middle')).types).toContain('resource_link');
  });

  it('keeps every block after a text that has been shortened', async () => {
    const { content } = await call('Visual Studio Code', 'middle');
    expect(content.at(-1)).toEqual(text('the end'));
  });

  it('is a long text after its link, as a host that shows less than is known of it cuts off the end', async () => {
    const { content } = await call('codex-mcp-client', 'noted');
    expect(content.map((block) => block.annotations)).toEqual([{ priority: 1 }, { priority: 1 }]);
    expect(String(await bytesAt(content[0]))).toBe(LINES);
    expect(String(content[1]?.text)).toMatch(/^line 0\n/);
  });

  it('is a text beyond what a host shows of a whole result', async () => {
    const { content, types } = await call('codex-mcp-client', 'several');
    expect(types).toEqual(['text', 'text', 'text', 'text', 'text', 'text', 'text']);
    expect(content[2]).toEqual(text('between'));
    expect(content.reduce((sum, block) => sum + String(block.text).length, 0)).toBeLessThan(40_000);
    for (const told of [content[0], content[3], content[5]]) expect(String(await bytesAt(told))).toBe(SHORT);
    expect((await call('goose-cli', 'several')).result).toEqual(CONTENT.several);
  });

  it('is a text as long as its tool says that it may be, where the host heeds that', async () => {
    const lengthFor = async (host: string, tool: string) =>
      String((await call(host, tool)).content.at(-1)?.text).length;
    expect((await call('claude-code', 'raised')).result).toEqual(CONTENT.raised);
    const hardly = await lengthFor('claude-code', 'hardly');
    expect([hardly > 40_000, hardly < 60_000]).toEqual([true, true]);
    expect(await lengthFor('claude-code', 'oddly')).toBeLessThan(45_000);
    expect(await lengthFor('claude-ai', 'raised')).toBeLessThan(135_000);
  });

  it('is a long text of an embedded resource', async () => {
    const { content, types } = await call('claude-code', 'document');
    expect(types).toEqual(['text', 'resource']);
    const { uri, text: shown } = (content[1]?.resource ?? {}) as { uri: string; text: string };
    expect([uri, shown.length < 45_000, shown.startsWith('line 0\n')]).toEqual(['a://files/log.md', true, true]);
    expect(content[0]?.text).toMatch(/^log\.md · text\//);
    expect(String(await bytesAt(content[0]))).toBe(LINES);
  });

  it('is a long text that is JSON', async () => {
    const whole = String((CONTENT.listing as { content: Json[] }).content[0]?.text);
    const { content, types } = await call('Visual Studio Code', 'listing');
    expect(types).toEqual(['text', 'resource_link', 'text']);
    expect(String(content[2]?.text).length).toBeLessThan(8192);
    expect(String(await bytesAt(content[0]))).toBe(whole);
    expect((await call('some-client', 'listing')).result).toEqual(CONTENT.listing);
  });

  it('is a data: URI, as a text or in one', async () => {
    const { content, types } = await call('claude-ai', 'uri');
    expect(types).toEqual(['text', 'image', 'resource_link']);
    expect(await bytesAt(content[0])).toEqual(noisePng(250));
    expect((await call('some-client', 'uri')).types).toEqual(types);
    const { content: failed } = await call('some-client', 'failed');
    expect(await bytesAt(failed[0])).toEqual(MIDDLE);
    const { content: page } = await call('claude-code', 'page');
    const [, link = ''] = /^# It\n!\[it\]\((http\S+)\)\nThe end\.$/.exec(String(page[0]?.text)) ?? [];
    const bytes = Buffer.from(await (await fetch(link)).arrayBuffer());
    expect(bytes.equals(MIDDLE)).toBe(true);
  });

  it('is long base64 in a text that is JSON, which has a link in its place', async () => {
    const { content } = await call('claude-code', 'encoded');
    const { id, scan } = JSON.parse(String(content[0]?.text)) as Json;
    expect([content.length, id]).toEqual([1, 7]);
    const bytes = Buffer.from(await (await fetch(String(scan))).arrayBuffer());
    expect(bytes.equals(MIDDLE)).toBe(true);
    expect((await call('some-client', 'encoded')).result).toEqual(CONTENT.encoded);
  });

  it('is a long error where errors have less room, and a text of too many lines', async () => {
    const { content } = await call('claude-code', 'wrong');
    expect(String(content[1]?.text).length).toBeLessThan(9000);
    expect(String(await bytesAt(content[0]))).toBe(SHORT);
    expect((await call('claude-code', 'middle')).result).toEqual(CONTENT.middle);
    const { content: few } = await call('opencode', 'lines');
    expect(String(few.at(-1)?.text).split('\n').length).toBeLessThan(2000);
  });

  it('is an image for which there is no room, small or large', async () => {
    const all = await call('two-images', 'gallery');
    expect(all.types.filter((type) => type === 'image')).toHaveLength(2);
    expect(all.types.slice(0, 3)).toEqual(['image', 'image', 'text']);
    expect(await bytesAt(all.content[2])).toEqual(SMALL);
    expect((await call('claude-code', 'gallery')).types.filter((type) => type === 'image')).toHaveLength(7);
    expect((await call('some-client', 'gallery')).result).toEqual(CONTENT.gallery);
    // what is small enough to stay goes before previews
    const mixed = await call('two-images', 'mixed');
    expect(mixed.types).toEqual(['text', 'resource_link', 'image', 'image']);
    const little = await call('little-room', 'mixed');
    expect(little.types).toEqual(['text', 'resource_link', 'image', 'image']);
  });

  it('is an image with which a result is longer than its host takes', async () => {
    const { types, result } = await call('claude-ai', 'shots');
    expect(types).toEqual(['image', 'text', 'image', 'resource_link', 'text', 'image', 'resource_link']);
    expect(JSON.stringify(result).length).toBeLessThan(1_048_576);
    const { types: once, result: linked } = await call('claude-ai', 'twice');
    expect(once).toEqual(['text', 'image', 'resource_link']);
    const copy = ((linked.structuredContent as Json).content as Json[])[0];
    expect(copy).toMatchObject({ type: 'image', data: expect.stringMatching(/^http\S+\/d\//) });
    expect((await call('some-client', 'twice')).result).toEqual(CONTENT.twice);
    const goose = await call('goose-cli', 'shots');
    expect(goose.result).toEqual(CONTENT.shots);
  });

  it('is a text that has no room beside the images of its result', async () => {
    const { content, types } = await call('claude-code', 'album');
    expect(types).toEqual(['text', 'text', ...Array.from({ length: 7 }, () => 'image')]);
    expect(String(content[1]?.text).length).toBeLessThan(11_000);
    expect(String(await bytesAt(content[0]))).toBe(SHORT);
    expect((await call('codex-mcp-client', 'album')).result).toEqual(CONTENT.album);
  });

  it('is the address of a picture that it reads: its preview stands before it', async () => {
    const read = async (name: string) => {
      const client = await RawClient.connect(wharf.mcp, '2025-06-18', { name });
      const { result } = await client.request('resources/read', { uri: 'a://photo' });
      const contents = (result?.contents ?? []) as Json[];
      const files = ((result?._meta ?? {}) as Record<string, { contentIndex: number }[]>)['dev.wharf/files'] ?? [];
      return {
        kinds: contents.map(({ uri, blob, mimeType }) => [uri, blob === undefined, mimeType]),
        at: files.map(({ contentIndex }) => contentIndex),
      };
    };
    const address = (uri: string) => [uri, true, 'text/uri-list'];
    const picture = (uri: string) => [uri, false, expect.stringMatching(/^image\//)];
    expect(await read('Visual Studio Code')).toEqual({
      kinds: [picture('a://photo'), address('a://photo'), picture('a://other'), address('a://other')],
      at: [0, 2],
    });
    expect(await read('some-client')).toEqual({ kinds: [address('a://photo'), address('a://other')], at: [0, 1] });
  });

  it('is a text as it is for a host that is not known', async () => {
    expect((await call('some-client', 'long')).result).toEqual(CONTENT.long);
  });

  it('is refused with others when a result has more than limits.files of them', async () => {
    const { error } = await call('some-client', 'many');
    expect(error).toMatchObject({ data: { limit: 'limits.files' } });
  });
});
