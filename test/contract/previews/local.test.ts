import { Readable } from 'node:stream';
import { afterAll, describe, expect, it } from '@jest/globals';
import sharp, { type Sharp } from 'sharp';
import { create, settings } from '../../../adapters/previews/local.js';
import type { ContentFacts, Previewer, PreviewImage, PreviewResult } from '../../../gateway/ports/previewer.js';
import { collectingLog } from './collecting-log.js';
import { drawing, greyPng, noise, series } from './image-files.js';
import { describePreviewer, imageOf, LIMITS, renderBytes } from './previewer.contract.js';

function make(config: Record<string, number> = {}): Previewer {
  return create(settings.parse({ processes: 1, deadlineSeconds: 60, ...config }), {
    log: collectingLog(),
    inheritedEnv: {},
  });
}

function previewOf(result: PreviewResult): PreviewImage {
  if (result.kind !== 'rendered') throw new Error(`Refused: ${result.reason}`);
  if (!result.preview.image) throw new Error('Rendered without an image.');
  return result.preview.image;
}

describePreviewer('local', () => make());

describe('the preview of an image', () => {
  const previewer = make();
  afterAll(() => previewer.close());
  const render = async (image: Buffer): Promise<PreviewImage> => previewOf(await renderBytes(previewer, image));

  it('of a photograph is a JPEG within the limit, its longest edge at most 1568 px', async () => {
    const preview = await render(await noise(1800, 1200, 3).blur(8).jpeg().toBuffer());
    expect(preview.mimeType).toBe('image/jpeg');
    expect(Math.max(preview.width, preview.height)).toBeLessThanOrEqual(1568);
    expect(preview.data.toString('base64').length).toBeLessThanOrEqual(LIMITS.maxEncodedBytes);
    expect(await sharp(preview.data).metadata()).toMatchObject({
      format: 'jpeg',
      width: preview.width,
      height: preview.height,
    });
  });

  it('of what hardly compresses is made smaller until it fits', async () => {
    const preview = await render(await noise(1000, 1000, 3).jpeg().toBuffer());
    expect(preview.data.toString('base64').length).toBeLessThanOrEqual(LIMITS.maxEncodedBytes);
    expect(preview.width).toBeLessThan(1000);
  });

  it('of a photograph from a phone has an edge to which its decoder scales', async () => {
    const photo = await noise(4000, 3000, 3).blur(9).jpeg({ quality: 60 }).toBuffer();
    expect(await render(photo)).toMatchObject({ mimeType: 'image/jpeg', width: 1333, height: 1000 });
  });

  it('of a photograph full of detail has the edge that its bytes will allow', async () => {
    const photo = await noise(4000, 3000, 3).blur(1.2).jpeg({ quality: 92 }).toBuffer();
    expect((await render(photo)).width).toBeLessThanOrEqual(1092);
  });

  it.each([
    ['JPEG', (colours: Sharp) => colours.jpeg({ quality: 95 })],
    ['PNG', (colours: Sharp) => colours.png()],
    ['PNG of 16 bits', (colours: Sharp) => colours.toColourspace('rgb16').png()],
  ])('of a %s with the colours of a wide screen is in sRGB', async (_format, write) => {
    const plain = sharp({ create: { width: 300, height: 200, channels: 3, background: { r: 200, g: 90, b: 40 } } });
    const wide = await write(plain.withIccProfile('p3')).toBuffer();
    const preview = await render(wide);
    expect((await sharp(preview.data).metadata()).hasProfile).toBe(false);
    const { channels } = await sharp(preview.data).stats();
    for (const [at, expected] of [200, 90, 40].entries()) {
      expect(Math.abs((channels[at]?.mean ?? 0) - expected)).toBeLessThan(3);
    }
  });

  it('of a drawing is a PNG', async () => {
    expect(await render(await drawing(1200, 800).png().toBuffer())).toMatchObject({
      mimeType: 'image/png',
      width: 1200,
      height: 800,
    });
  });

  it('of a drawing that was hardly compressed is a PNG', async () => {
    const stored = await drawing(1600, 900).png({ compressionLevel: 0 }).toBuffer();
    expect((await render(stored)).mimeType).toBe('image/png');
  });

  it('of a drawing beside noise, which no PNG can hold, is a JPEG that uses most of the limit', async () => {
    const bar = await drawing(1300, 1000).png().toBuffer();
    const page = await noise(1900, 1000, 3)
      .composite([{ input: bar, left: 0, top: 0 }])
      .png()
      .toBuffer();
    const preview = await render(page);
    expect(preview.mimeType).toBe('image/jpeg');
    const encoded = preview.data.toString('base64').length;
    expect(encoded).toBeLessThanOrEqual(LIMITS.maxEncodedBytes);
    expect(encoded).toBeGreaterThan(LIMITS.maxEncodedBytes / 2);
  });

  it('keeps transparency', async () => {
    const source = await sharp({ create: { width: 300, height: 200, channels: 4, background: '#f008' } })
      .webp()
      .toBuffer();
    const preview = await render(source);
    expect(preview.mimeType).toBe('image/png');
    expect((await sharp(preview.data).stats()).isOpaque).toBe(false);
  });

  it('keeps transparency in the colours of a wide screen', async () => {
    const source = sharp({ create: { width: 300, height: 200, channels: 4, background: '#c85a2880' } });
    const preview = await render(await source.withIccProfile('p3').png().toBuffer());
    expect(preview.mimeType).toBe('image/png');
    const { channels } = await sharp(preview.data).stats();
    for (const [at, expected] of [200, 90, 40, 128].entries()) {
      expect(Math.abs((channels[at]?.mean ?? 0) - expected)).toBeLessThan(3);
    }
  });

  it.each([
    ['as large as its source', 900, (picture: Sharp) => picture],
    ['scaled down', 1800, (picture: Sharp) => picture],
    ['in the colours of a wide screen', 1800, (picture: Sharp) => picture.withIccProfile('p3')],
  ])(
    'with an alpha channel in which nothing is transparent is the one without it: %s',
    async (_what, width, coloured) => {
      const plain = await render(await coloured(drawing(width, 600)).png().toBuffer());
      expect(await render(await coloured(drawing(width, 600).ensureAlpha()).png().toBuffer())).toEqual(plain);
      expect((await sharp(plain.data).metadata()).hasAlpha).toBe(false);
    },
  );

  it('of a photograph with transparency that no PNG can hold is a JPEG', async () => {
    expect((await render(await noise(700, 700, 4).png({ compressionLevel: 1 }).toBuffer())).mimeType).toBe(
      'image/jpeg',
    );
  });

  it('is never larger than its source (BIN-06)', async () => {
    expect(await render(greyPng(20, 10, 10))).toMatchObject({ width: 20, height: 10 });
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])('stands upright for EXIF orientation %i and holds no EXIF', async (orientation) => {
    // Four corners of four colours, so that each turn and mirroring gives another picture.
    const corners = await sharp(Buffer.from([255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 9, 9, 9]), {
      raw: { width: 3, height: 2, channels: 3 },
    })
      .resize(120, 80, { kernel: 'nearest' })
      .withMetadata({ orientation })
      .tiff({ compression: 'lzw' })
      .toBuffer();
    const preview = await render(corners);
    const expected = await sharp(corners).autoOrient().raw().toBuffer({ resolveWithObject: true });
    const actual = await sharp(preview.data).raw().toBuffer({ resolveWithObject: true });
    expect(actual.info).toMatchObject({ width: expected.info.width, height: expected.info.height });
    expect(Buffer.compare(actual.data, expected.data)).toBe(0);
    expect((await sharp(preview.data).metadata()).exif).toBeUndefined();
  });

  it.each([
    ['16-bit PNG', () => noise(64, 64, 3).toColourspace('rgb16').png().toBuffer()],
    ['CMYK JPEG', () => noise(64, 64, 3).toColourspace('cmyk').jpeg().toBuffer()],
    ['grey JPEG', () => noise(64, 64, 3).greyscale().jpeg().toBuffer()],
    ['progressive JPEG', () => noise(64, 64, 3).jpeg({ progressive: true }).toBuffer()],
    ['interlaced PNG', () => noise(64, 64, 3).png({ progressive: true }).toBuffer()],
    ['palette PNG', () => drawing(64, 64).png({ palette: true }).toBuffer()],
    ['WebP', () => noise(64, 64, 3).webp().toBuffer()],
    ['GIF', () => drawing(64, 64).gif().toBuffer()],
    ['AVIF', () => noise(64, 64, 3).avif({ effort: 0 }).toBuffer()],
    ['TIFF', () => noise(64, 64, 3).tiff().toBuffer()],
  ])('is made of a %s', async (_format, source) => {
    expect(await render(await source())).toMatchObject({ width: 64, height: 64 });
  });

  it.each<[string, () => Promise<Buffer>, ContentFacts]>([
    ['an animated GIF', async () => (await series()).gif().toBuffer(), { frames: 3 }],
    ['an animated WebP', async () => (await series()).webp().toBuffer(), { frames: 3 }],
    ['a TIFF of several images', async () => (await series()).tiff().toBuffer(), { images: 3 }],
    ['a GIF', () => noise(64, 48, 3).gif().toBuffer(), {}],
    ['a TIFF', () => noise(64, 48, 3).tiff().toBuffer(), {}],
  ])('is the first image of %s, and tells how many there are', async (_format, source, several) => {
    const result = await renderBytes(previewer, await source());
    expect(previewOf(result)).toMatchObject({ width: 64, height: 48 });
    const preview = { facts: { pixels: { width: 64, height: 48 }, ...several } };
    expect(result).toEqual({ kind: 'rendered', preview: { ...preview, image: expect.anything() } });
  });

  it('is the same however the bytes arrive', async () => {
    const image = await drawing(200, 100).png().toBuffer();
    const bytes = [...image].map((byte) => Buffer.from([byte]));
    const dripping = await previewer.render(
      imageOf(async () => Readable.from(bytes)),
      LIMITS,
      new AbortController().signal,
    );
    expect(previewOf(dripping)).toEqual(await render(image));
  });
});

/** On a busy machine a new process can take longer to start than a short deadline allows; one that never works fails. */
async function expectToRecover(previewer: Previewer): Promise<void> {
  const image = greyPng(20, 10, 10);
  let result = await renderBytes(previewer, image);
  for (let again = 0; again < 5 && result.kind === 'refused'; again++) result = await renderBytes(previewer, image);
  expect(result).toMatchObject({ kind: 'rendered' });
}

describe('the render processes', () => {
  const image = greyPng(20, 10, 10);
  const open: Previewer[] = [];
  const started = (config: Record<string, number>): Previewer => {
    const previewer = make(config);
    open.push(previewer);
    return previewer;
  };
  afterAll(() => Promise.all(open.map((previewer) => previewer.close())));

  it('take one image each at a time and refuse what the queue cannot hold', async () => {
    const previewer = started({ queue: 1 });
    const results = await Promise.all([1, 2, 3].map(() => renderBytes(previewer, image)));
    expect(results.map((result) => (result.kind === 'refused' ? result.reason : 'rendered'))).toEqual([
      'rendered',
      'rendered',
      'busy',
    ]);
  });

  it('open a source only when a process is free', async () => {
    const previewer = started({});
    let opened = 0;
    const stalled = new Readable({ read() {} });
    const stop = new AbortController();
    const source = async (): Promise<Readable> => {
      opened++;
      return stalled;
    };
    const first = previewer.render(imageOf(source), LIMITS, stop.signal);
    const second = previewer.render(imageOf(source), LIMITS, stop.signal);
    await new Promise((resolve) => setImmediate(resolve));
    expect(opened).toBe(1);
    stop.abort();
    expect(await Promise.all([first, second])).toEqual([
      { kind: 'refused', reason: 'aborted' },
      { kind: 'refused', reason: 'aborted' },
    ]);
    expect(stalled.destroyed).toBe(true);
  });

  it('refuse a source that never ends when its time is up, and render the next', async () => {
    const previewer = started({ deadlineSeconds: 2 });
    const stalled = new Readable({ read() {} });
    const result = await previewer.render(
      imageOf(async () => stalled),
      LIMITS,
      new AbortController().signal,
    );
    expect(result).toEqual({ kind: 'refused', reason: 'deadline' });
    expect(stalled.destroyed).toBe(true);
    await expectToRecover(previewer);
  });

  it('refuse a file above maxSourceMiB without reading all of it, and render the next', async () => {
    const previewer = started({ maxSourceMiB: 1 });
    let read = 0;
    const endless = new Readable({
      read() {
        read += 65_536;
        this.push(Buffer.concat([image, Buffer.alloc(65_536 - image.length)]));
      },
    });
    const result = await previewer.render(
      imageOf(async () => endless),
      LIMITS,
      new AbortController().signal,
    );
    expect(result).toEqual({ kind: 'refused', reason: 'too-large' });
    expect(read).toBeLessThan(2 * 1024 * 1024);
    expect(endless.destroyed).toBe(true);
    expect(await renderBytes(previewer, image)).toMatchObject({ kind: 'rendered' });
  });

  it('end with the previewer, and what they render is refused', async () => {
    const previewer = started({});
    const rendering = previewer.render(
      imageOf(async () => new Readable({ read() {} })),
      LIMITS,
      new AbortController().signal,
    );
    await previewer.close();
    expect(await rendering).toMatchObject({ kind: 'refused' });
  });
});
