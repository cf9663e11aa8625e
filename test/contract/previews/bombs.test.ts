import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { create, settings } from '../../../adapters/previews/local.js';
import type { Previewer } from '../../../gateway/ports/previewer.js';
import { collectingLog } from './collecting-log.js';
import { bombChunk, drawing, gif, greyPng, loopingTiff, lyingJpeg, noise, pngChunk } from './image-files.js';
import { renderBytes } from './previewer.contract.js';

/** What a render process may hold at its worst: the default of `maxMemoryMiB`. */
const MAX_RSS = 256 * 1024 * 1024;

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>';
const cut = (image: Buffer): Buffer => image.subarray(0, Math.floor(image.length * 0.6));
const photo = () => noise(400, 300, 3);
const large = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#abc' }, limitInputPixels: false });
const withByte = (image: Buffer, at: number, value: number): Buffer => {
  const copy = Buffer.from(image);
  copy[at] = value;
  return copy;
};

type Outcome = 'rendered' | 'too-many-pixels' | 'unsupported' | 'invalid' | 'memory' | 'too-large';

/** Several outcomes where libvips is free to accept what is damaged. */
const BOMBS: readonly [what: string, make: () => Buffer | Promise<Buffer>, outcomes: readonly Outcome[]][] = [
  ['PNG of 60,000 × 60,000', () => greyPng(60_000, 60_000, 2000), ['too-many-pixels']],
  ['PNG of 14,000 × 14,000 with all its pixels', () => greyPng(14_000, 14_000, 14_000), ['too-many-pixels']],
  ['PNG of 50,000,001 × 1', () => greyPng(50_000_001, 1, 1), ['too-many-pixels', 'invalid']],
  ['PNG of 50,000,000 pixels', () => greyPng(10_000, 5000, 5000), ['rendered']],
  [
    'PNG of one pixel more than 50 MP (3 × 16,666,667)',
    () => greyPng(3, 16_666_667, 10),
    ['too-many-pixels', 'invalid'],
  ],
  ['PNG of no pixels', () => greyPng(0, 0, 0), ['invalid']],
  ['PNG of 50,000 × 1', () => greyPng(50_000, 1, 1), ['rendered']],
  ['PNG of 1 × 50,000', () => greyPng(1, 50_000, 50_000), ['rendered']],
  ['PNG without most of its rows', () => greyPng(5000, 5000, 10), ['invalid', 'rendered']],
  ['PNG with a wrong checksum', () => withByte(greyPng(50, 50, 50), 60, 7), ['invalid', 'rendered']],
  [
    'PNG with a colour profile of 200 MB',
    () => greyPng(9, 9, 9, [bombChunk('iCCP', 2e8)]),
    ['rendered', 'invalid', 'memory'],
  ],
  ['PNG with a text of 200 MB', () => greyPng(9, 9, 9, [bombChunk('zTXt', 2e8)]), ['rendered', 'invalid', 'memory']],
  [
    'PNG with a colour profile of noise',
    () => greyPng(9, 9, 9, [pngChunk('iCCP', Buffer.from('x\0\0garbage'))]),
    ['rendered', 'invalid'],
  ],
  ['GIF of 500 frames of 3000 × 3000', () => gif(3000, 3000, 500), ['rendered', 'memory']],
  ['GIF of 65,535 × 65,535', () => gif(65_535, 65_535, 1), ['too-many-pixels', 'rendered']],
  ['GIF without frames', () => gif(10, 10, 0), ['invalid']],
  [
    'GIF that is JavaScript',
    () => Buffer.from(`GIF89a=1;alert(document.domain)//${'x'.repeat(99)}`),
    ['invalid', 'too-many-pixels'],
  ],
  ['JPEG that claims 65,535 × 65,535', () => lyingJpeg(65_535, 65_535), ['too-many-pixels', 'invalid']],
  ['JPEG that claims 7000 × 7000', () => lyingJpeg(7000, 7000), ['invalid', 'rendered']],
  ['JPEG of 108 MP', () => large(12_000, 9000).jpeg().toBuffer(), ['rendered']],
  ['JPEG of 60,000 × 3333', () => large(60_000, 3333).jpeg().toBuffer(), ['rendered']],
  ['progressive JPEG of 54 MP', () => large(9000, 6000).jpeg({ progressive: true }).toBuffer(), ['too-many-pixels']],
  ['JPEG that claims 14,143 × 14,143', () => lyingJpeg(14_143, 14_143), ['too-many-pixels']],
  ['JPEG that claims 14,000 × 14,000', () => lyingJpeg(14_000, 14_000), ['invalid', 'rendered']],
  ['progressive JPEG of 25 MP', () => drawing(5000, 5000).jpeg({ progressive: true }).toBuffer(), ['rendered']],
  ['truncated JPEG', async () => cut(await photo().jpeg().toBuffer()), ['invalid']],
  ['truncated PNG', async () => cut(await photo().png().toBuffer()), ['invalid']],
  ['truncated WebP', async () => cut(await photo().webp().toBuffer()), ['invalid']],
  ['truncated AVIF', async () => cut(await photo().avif({ effort: 0 }).toBuffer()), ['invalid']],
  ['truncated TIFF', async () => cut(await photo().tiff({ compression: 'lzw' }).toBuffer()), ['invalid']],
  [
    'JPEG with EXIF that points outside itself',
    async () => {
      const image = await photo().withMetadata({ orientation: 6 }).jpeg().toBuffer();
      return withByte(withByte(image, 35, 0xff), 36, 0xff);
    },
    ['rendered', 'invalid'],
  ],
  [
    'TIFF that claims 100,000 × 100,000 in a loop of directories',
    () =>
      loopingTiff([
        [256, 100_000],
        [257, 100_000],
        [258, 8],
        [259, 1],
        [262, 1],
        [273, 8],
        [278, 100_000],
        [279, 1],
      ]),
    ['too-many-pixels', 'invalid'],
  ],
  ['AVIF of 24 MP', () => drawing(6000, 4000).avif({ effort: 0, quality: 20 }).toBuffer(), ['memory']],
  ['HEIC', () => Buffer.from(`\0\0\0\x18ftypheic\0\0\0\0mif1heic${'\0'.repeat(64)}`, 'latin1'), ['unsupported']],
  ['SVG with a script', () => Buffer.from(SVG), ['unsupported']],
  [
    'SVG behind a PNG signature',
    () => Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.from(SVG)]),
    ['invalid'],
  ],
  ['SVGZ', () => gzipSync(SVG), ['unsupported']],
  ['PDF', () => Buffer.from(`%PDF-1.7\n${'x'.repeat(99)}`), ['unsupported']],
  ['BMP', () => Buffer.from(`BM${'\0'.repeat(99)}`), ['unsupported']],
  ['PSD', () => Buffer.from(`8BPS\0\x01${'\0'.repeat(99)}`, 'latin1'), ['unsupported']],
  [
    'ImageMagick script',
    () => Buffer.from(`push graphic-context\nimage over 0,0 0,0 'https://127.0.0.1/x'\n`),
    ['unsupported'],
  ],
  ['file of 33 MiB', () => Buffer.concat([greyPng(9, 9, 9), Buffer.alloc(33 * 1024 * 1024)]), ['too-large']],
];

describe('an image made to do harm', () => {
  const log = collectingLog();
  let previewer: Previewer;
  beforeAll(() => {
    previewer = create(settings.parse({ deadlineSeconds: 60 }), { log, inheritedEnv: {} });
  });
  afterAll(() => previewer.close());

  it.each(BOMBS)('%s (BIN-23, G25)', async (what, make, outcomes) => {
    const image = await make();
    const before = log.lines.length;
    const result = await renderBytes(previewer, image);
    const outcome = result.kind === 'rendered' ? 'rendered' : result.reason;
    const peak = Math.max(0, ...log.lines.slice(before).map(({ fields }) => Number(fields.peakRss ?? 0)));
    process.stderr.write(
      `${what}: ${image.length} bytes, ${outcome}, process peak ${Math.round(peak / 1048576)} MiB\n`,
    );
    expect(outcomes).toContain(outcome);
    expect(peak).toBeLessThanOrEqual(MAX_RSS);
  });

  it('with too many pixels is refused with how many it has, upright, and how many it may have', async () => {
    const raw = { width: 9000, height: 6000, channels: 3 as const, background: 'white' };
    const turned = await sharp({ create: raw }).png().withMetadata({ orientation: 6 }).toBuffer();
    const excess = { pixels: { width: 6000, height: 9000 }, allowed: 50_000_000 };
    expect(await renderBytes(previewer, turned)).toEqual({ kind: 'refused', reason: 'too-many-pixels', excess });
  });

  it('leaves the next image renderable, and no process failed on the way', async () => {
    expect(await renderBytes(previewer, greyPng(20, 10, 10))).toMatchObject({ kind: 'rendered' });
    expect(log.lines.filter(({ level }) => level === 'warn')).toEqual([]);
  });
});
