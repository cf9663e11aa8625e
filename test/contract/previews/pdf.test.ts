import { Readable } from 'node:stream';
import { deflateSync } from 'node:zlib';
import { afterAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { create, settings } from '../../../adapters/previews/local.js';
import type { PreviewResult, RenderedPreview } from '../../../gateway/ports/previewer.js';
import { collectingLog } from './collecting-log.js';
import { imageObject, lockedPdf, pdf } from './pdf-files.js';
import { LIMITS } from './previewer.contract.js';

/** What a render process may hold at its worst: the default of `maxMemoryMiB`. */
const MAX_RSS = 256 * 1024 * 1024;

const log = collectingLog();
const previewer = create(settings.parse({ deadlineSeconds: 60 }), { log, inheritedEnv: {} });
const hasty = create(settings.parse({ deadlineSeconds: 2 }), { log, inheritedEnv: {} });
afterAll(() => Promise.all([previewer.close(), hasty.close()]));

function preview(bytes: Buffer, by = previewer): Promise<PreviewResult> {
  const source = { mimeType: 'application/pdf', size: bytes.length, open: async () => Readable.from([bytes]) };
  return by.render(source, LIMITS, new AbortController().signal);
}

async function shown(bytes: Buffer): Promise<RenderedPreview> {
  const result = await preview(bytes);
  if (result.kind !== 'rendered') throw new Error(`Refused: ${result.reason}`);
  return result.preview;
}

describe('the preview of a PDF', () => {
  it('is its first page, and the number of its pages', async () => {
    const { facts, image } = await shown(pdf({ pages: 7 }));
    expect(facts).toEqual({ pages: 7 });
    expect(image).toMatchObject({ mimeType: 'image/png', height: 1568 });
    const { dominant, channels } = await sharp(image?.data).stats();
    // white, with black letters
    expect(dominant).toMatchObject({ r: 248, g: 248, b: 248 });
    expect(channels[0]?.min).toBe(0);
  });

  it('has the colours of the page', async () => {
    const { image } = await shown(pdf({ content: '1 0 0 rg 0 0 600 900 re f' }));
    const [red, green, blue] = (await sharp(image?.data).stats()).channels;
    expect([red?.mean, green?.mean, blue?.mean].map((mean) => Math.round((mean ?? 0) / 10))).toEqual([26, 0, 0]);
  });

  it('says that a password is needed, and shows nothing', async () => {
    expect(await shown(lockedPdf())).toEqual({ facts: { isLocked: true } });
  });

  it.each<[string, readonly [number, number]]>([
    ['giant', [2_000_000, 1_000_000]],
    ['tiny', [2, 2]],
  ])('fits into the limits for a %s page', async (_what, size) => {
    const { facts, image } = await shown(pdf({ size }));
    expect(facts).toEqual({ pages: 1 });
    expect(Math.max(image?.width ?? 0, image?.height ?? 0)).toBeLessThanOrEqual(LIMITS.maxEdge + 1);
  });

  it('is only the number of pages where the first one cannot be drawn', async () => {
    expect(await shown(pdf({ size: [100_000, 1], pages: 3 }))).toEqual({ facts: { pages: 3 } });
  });

  it.each([
    ['truncated', pdf({ pages: 50 }).subarray(0, 900)],
    ['a head alone', Buffer.from(`%PDF-1.7\n${'x'.repeat(99)}`)],
    ['without pages', pdf({ pages: 0 })],
    ['zeros', Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(100_000)])],
  ])('does not exist when the file is %s', async (_what, bytes) => {
    expect(await preview(bytes)).toMatchObject({ kind: 'refused', reason: 'invalid' });
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['HTML', Buffer.from('<!doctype html><script>alert(1)</script>')],
  ])('does not exist when the file is %s', async (_what, bytes) => {
    expect(await preview(bytes)).toEqual({ kind: 'refused', reason: 'unsupported' });
  });
});

describe('a PDF made to do harm', () => {
  const form = (text: string) =>
    `<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 4 0 R>>>>/Length ${text.length}>>stream\n${text}\nendstream`;
  const bomb = deflateSync(Buffer.alloc(200_000_000, ' '), { level: 9 });

  it.each<[string, () => Buffer]>([
    [
      'an image of 60,000 × 60,000',
      () =>
        pdf({
          objects: [imageObject(60_000, 60_000)],
          resources: '/XObject<</X 4 0 R>>',
          content: '500 0 0 500 0 0 cm /X Do',
        }),
    ],
    ['a content of 200 MB', () => pdf({ content: bomb, filter: '/Filter/FlateDecode' })],
    [
      'a form that draws itself',
      () => pdf({ objects: [form('/X Do /X Do')], resources: '/XObject<</X 4 0 R>>', content: '/X Do' }),
    ],
    ['a million figures', () => pdf({ content: '0 0 m 500 800 l S 0 800 m 500 0 l S\n'.repeat(500_000) })],
    ['states saved a million times', () => pdf({ content: 'q '.repeat(1_000_000) })],
  ])('costs no more than its limits: %s', async (_what, make) => {
    const before = log.lines.length;
    const result = await preview(make(), hasty);
    const peak = Math.max(0, ...log.lines.slice(before).map(({ fields }) => Number(fields.peakRss ?? 0)));
    const outcome = result.kind === 'rendered' ? 'rendered' : result.reason;
    expect(['rendered', 'invalid', 'deadline', 'memory']).toContain(outcome);
    expect(peak).toBeLessThanOrEqual(MAX_RSS);
  });

  it('leaves the next one to be shown', async () => {
    expect(await shown(pdf())).toMatchObject({ facts: { pages: 1 }, image: { height: 1568 } });
  });
});
