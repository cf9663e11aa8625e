import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { sha256 } from '../../helpers/bytes.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { noise, noisePng } from '../../helpers/sdk-servers-bytes.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

type Json = Record<string, unknown>;

/** What the server answers the next call with. */
let next: Json = {};
let upstream: RecordingUpstream;
let wharf: Wharf;
let client: RawClient;

beforeAll(async () => {
  upstream = await RecordingUpstream.start({
    tools: [{ name: 'give', inputSchema: { type: 'object' } }],
    methods: { 'tools/call': () => next },
  });
  wharf = await startWharf({ servers: { docs: { url: upstream.url, transport: 'streamable-http' } } });
  client = await RawClient.connect(wharf.mcp, '2025-11-25');
});

afterAll(async () => {
  await wharf?.stop();
  await upstream?.stop();
});

const image = (bytes: Buffer, mimeType = 'image/png', more: Json = {}): Json => ({
  type: 'image',
  data: bytes.toString('base64'),
  mimeType,
  ...more,
});

/** What becomes of a result. */
async function given(result: Json, as: RawClient = client): Promise<Json & { content: Json[] }> {
  next = result;
  const answer = await as.call('give');
  return answer.result as Json & { content: Json[] };
}

async function through(block: Json): Promise<Json[]> {
  return (await given({ content: [block] })).content;
}

const typesOf = (blocks: readonly Json[]) => blocks.map(({ type }) => type);
const textOf = (blocks: readonly Json[]) => String(blocks.find(({ type }) => type === 'text')?.text);
const previewOf = (blocks: readonly Json[]) => {
  const block = blocks.find(({ type }) => type === 'image');
  return Buffer.from(String(block?.data), 'base64');
};

async function bytesOf(blocks: readonly Json[]): Promise<Buffer> {
  const link = blocks.find(({ type }) => type === 'resource_link');
  return Buffer.from(await (await fetch(String(link?.uri))).arrayBuffer());
}

/** About 600 kB. */
const LARGE = noisePng(450);

/** Bytes that are no picture, longer than what stays inline. */
const NO_IMAGE = Buffer.concat([Buffer.from('%PDF-1.7\n'), noise(600_000)]);

describe('an image in a result', () => {
  it('of at most 500 kB passes as it came, and one byte more does not (BIN-03)', async () => {
    for (const type of ['image/png', 'image/jpeg', 'image/webp', 'image/gif']) {
      expect(await through(image(noise(500_000), type))).toEqual([image(noise(500_000), type)]);
    }
    expect(typesOf(await through(image(noise(500_001))))).not.toContain('image');
  });

  it('above that is a text, a preview and a reference, in this order (BIN-05, BIN-07, BIN-08, BIN-20)', async () => {
    const blocks = await through(image(LARGE));
    expect(typesOf(blocks)).toEqual(['text', 'image', 'resource_link']);
    for (const part of ['give-1.png', 'image/png', '608.1 kB', '/d/']) {
      expect(textOf(blocks)).toContain(part);
    }
    expect(sha256(await bytesOf(blocks))).toBe(sha256(LARGE));
  });

  it('whose preview is padded base64 of the type that it names (BIN-01)', async () => {
    const preview = (await through(image(LARGE))).find(({ type }) => type === 'image');
    expect(preview?.data).toMatch(/^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/);
    const { format } = await sharp(previewOf([preview ?? {}])).metadata();
    expect(preview?.mimeType).toBe(`image/${format}`);
  });

  it('and is never larger than the image (BIN-06)', async () => {
    const { width, height } = await sharp(previewOf(await through(image(LARGE)))).metadata();
    expect([width, height].every((edge) => edge > 0 && edge <= 450)).toBe(true);
  });

  it('and shows the first frame (BIN-11)', async () => {
    const side = 700;
    const frame = (grey: number) => Buffer.alloc(side * side * 3, grey);
    const frames = [frame(0), noise(side * side * 3), frame(255)];
    const raw = { width: side, height: side * frames.length, channels: 3 as const, pageHeight: side };
    const animated = await sharp(Buffer.concat(frames), { raw, limitInputPixels: false })
      .gif({ effort: 1, dither: 0 })
      .toBuffer();
    expect(animated.length).toBeGreaterThan(500_000);
    const { channels } = await sharp(previewOf(await through(image(animated, 'image/gif')))).stats();
    expect(Math.max(...channels.slice(0, 3).map(({ max }) => max))).toBeLessThan(40);
  });

  it('that is none fails no call: it is a file without a preview (BIN-22)', async () => {
    const blocks = await through(image(NO_IMAGE));
    expect(typesOf(blocks)).toEqual(['text', 'resource_link']);
    expect(textOf(blocks)).toContain('application/pdf');
    expect(sha256(await bytesOf(blocks))).toBe(sha256(NO_IMAGE));
    const broken = Buffer.concat([LARGE.subarray(0, 100), noise(600_000)]);
    expect(sha256(await bytesOf(await through(image(broken))))).toBe(sha256(broken));
  });

  it('that is a bomb is not decoded (BIN-23)', async () => {
    // a header of 30,000 × 30,000 before pixels that are none
    const bomb = Buffer.from(LARGE);
    bomb.writeUInt32BE(30_000, 16);
    bomb.writeUInt32BE(30_000, 20);
    expect(typesOf(await through(image(bomb)))).toEqual(['text', 'resource_link']);
  });

  it('is told with the size of the original (BIN-26)', async () => {
    const blocks = await through(image(LARGE));
    expect(textOf(blocks)).toContain('608.1 kB');
    expect(blocks.find(({ type }) => type === 'resource_link')?.size).toBe(LARGE.length);
  });

  it('keeps its annotations on what replaces it (BIN-27)', async () => {
    const annotations = { audience: ['user'], priority: 0.5 };
    const [first] = await through(image(LARGE, 'image/png', { annotations }));
    expect(first?.annotations).toEqual(annotations);
  });
});

describe('base64 of another spelling', () => {
  const standard = LARGE.toString('base64');
  it.each([
    ['in lines', standard.replace(/.{76}/g, '$&\n')],
    ['url-safe', LARGE.toString('base64url')],
    ['without padding', standard.replace(/=+$/, '')],
    ['as a data: URI', `data:image/png;base64,${standard}`],
  ])('%s is the same file (BIN-02)', async (_what, data) => {
    expect(sha256(await bytesOf(await through({ type: 'image', data, mimeType: 'image/png' })))).toBe(sha256(LARGE));
  });

  it('that is none stays as it is (BIN-02)', async () => {
    const block = { type: 'image', data: 'not base64 at all!', mimeType: 'image/png' };
    expect(await through(block)).toEqual([block]);
  });
});

describe('what is not an image', () => {
  it('audio goes by reference (BIN-13, Q1)', async () => {
    const blocks = await through({ type: 'audio', data: NO_IMAGE.toString('base64'), mimeType: 'audio/wav' });
    expect(typesOf(blocks)).toEqual(['text', 'resource_link']);
    expect(sha256(await bytesOf(blocks))).toBe(sha256(NO_IMAGE));
  });

  const resource = (bytes: Buffer): Json => ({
    type: 'resource',
    resource: { uri: 'file:///home/me/report.pdf', mimeType: 'application/pdf', blob: bytes.toString('base64') },
  });

  it('a PDF is a line of text and a link that can be fetched (BIN-12, BIN-13, BIN-16, BIN-17, Q2)', async () => {
    const blocks = await through(resource(NO_IMAGE));
    expect(typesOf(blocks)).toEqual(['text', 'resource_link']);
    expect(textOf(blocks)).toMatch(/^report\.pdf · application\/pdf · /);
    expect(sha256(await bytesOf(blocks))).toBe(sha256(NO_IMAGE));
    expect(JSON.stringify(blocks)).not.toContain('file:///');
  });

  it('an embedded blob is cut above a limit of its own (BIN-14)', async () => {
    expect(await through(resource(noise(32 * 1024)))).toEqual([resource(noise(32 * 1024))]);
    expect(typesOf(await through(resource(noise(32 * 1024 + 1))))).not.toContain('resource');
  });
});

describe('a result with a file in it', () => {
  const text = (words: string): Json => ({ type: 'text', text: words });
  const odd = { type: 'text', text: 'ok', _meta: { big: 12345678901234567890n.toString() }, unknown: [1, null] };

  it('keeps its other blocks, in order (BIN-19)', async () => {
    const small = image(noise(100));
    const { content } = await given({ content: [text('a'), image(LARGE), odd, small, text('z')] });
    expect(content.filter((_, at) => at === 0 || at > 3)).toEqual([text('a'), odd, small, text('z')]);
  });

  it('stays the failure that it was (BIN-24)', async () => {
    const { isError, content } = await given({ isError: true, content: [text('it failed'), image(LARGE)] });
    expect(isError).toBe(true);
    expect(content[0]).toEqual(text('it failed'));
    // many hosts make one text of an error: it has nothing but text
    expect(content.map(({ type }) => type)).toEqual(['text', 'text']);
    const link = /^(http\S+)$/m.exec(String(content[1]?.text))?.[1] ?? '';
    expect(sha256(Buffer.from(await (await fetch(link)).arrayBuffer()))).toBe(sha256(LARGE));
  });

  it.each([
    ['2024-11-05', ['text', 'image']],
    ['2025-03-26', ['text', 'image']],
    ['2025-06-18', ['text', 'image', 'resource_link']],
  ])('has no block that a client of %s does not know (BIN-29)', async (version, types) => {
    const older = await RawClient.connect(wharf.mcp, version);
    expect(typesOf((await given({ content: [image(LARGE)] }, older)).content)).toEqual(types);
  });

  it('a link in a text stays text (Q12)', async () => {
    const block = text('see https://example.com/report.pdf');
    expect(await through(block)).toEqual([block]);
  });

  it('base64 in structuredContent that repeats a file becomes its link (Q9)', async () => {
    const { structuredContent, content } = await given({
      content: [image(LARGE)],
      structuredContent: { shot: LARGE.toString('base64') },
    });
    const link = content.find(({ type }) => type === 'resource_link');
    expect(structuredContent).toEqual({ shot: link?.uri });
  });
});
