import { describe, expect, it } from '@jest/globals';
import sharp, { type Sharp } from 'sharp';
import { hasLateSize, longestEdge } from '../../../../gateway/files/names/picture-size.js';

const picture = (width: number, height: number): Sharp =>
  sharp({ create: { width, height, channels: 3, background: '#fff' } });
const FORMATS: [string, (picture: Sharp) => Sharp][] = [
  ['PNG', (one) => one.png()],
  ['JPEG', (one) => one.jpeg()],
  ['progressive JPEG with a colour profile', (one) => one.withIccProfile('srgb').jpeg({ progressive: true })],
  ['GIF', (one) => one.gif()],
  ['WebP', (one) => one.webp()],
  ['lossless WebP', (one) => one.webp({ lossless: true })],
  ['WebP with a colour profile', (one) => one.withIccProfile('srgb').webp()],
];

describe("a picture's longer edge", () => {
  it.each(FORMATS)('is read from the head of a %s', async (_, write) => {
    for (const [width, height] of [
      [9001, 3],
      [5, 8123],
    ] as const) {
      const bytes = await write(picture(width, height)).toBuffer();
      expect(longestEdge(bytes)).toBe(Math.max(width, height));
    }
  });

  it.each(FORMATS)('is not known from less of a %s, and nothing is thrown', async (_, write) => {
    const bytes = await write(picture(40, 30)).toBuffer();
    for (let length = 0; length < Math.min(bytes.length, 700); length++) {
      expect([40, undefined]).toContain(longestEdge(bytes.subarray(0, length)));
    }
  });

  it('of a JPEG comes late where its metadata is longer than what has been read', async () => {
    const jpeg = await picture(9001, 3).jpeg().toBuffer();
    const segment = Buffer.concat([Buffer.from('ffe2ffff', 'hex'), Buffer.alloc(0xffff - 2)]);
    const late = Buffer.concat([jpeg.subarray(0, 2), segment, segment, jpeg.subarray(2)]);
    expect(hasLateSize(late.subarray(0, 1500))).toBe(true);
    expect([hasLateSize(late), longestEdge(late)]).toEqual([false, 9001]);
    expect(hasLateSize(await picture(9001, 3).png().toBuffer())).toBe(false);
  });

  it('is unknown for what is not such a picture', () => {
    expect(longestEdge(Buffer.from('%PDF-1.7'))).toBeUndefined();
    expect(longestEdge(Buffer.from('ffd8ffffffffff', 'hex'))).toBeUndefined();
    expect(longestEdge(Buffer.from('RIFF____WEBPABCD____________________'))).toBeUndefined();
  });
});
