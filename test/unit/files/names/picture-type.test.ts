import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fileTypeFromBuffer } from 'file-type';
import { pictureType } from '../../../../gateway/files/names/picture-type.js';

const PNG = '\x89PNG\r\n\x1a\n';

const bytes = (text: string) => Buffer.from(text, 'latin1');

/** A chunk of a PNG, whose announced length may be wrong. */
function chunk(type: string, data: string, announced = data.length): string {
  const length = Buffer.alloc(4);
  length.writeInt32BE(announced);
  return `${length.toString('latin1')}${type}${data}CSUM`;
}

const IHDR = chunk('IHDR', '0123456789abc');

describe("a picture's type", () => {
  it.each([
    ['a JPEG', '\xff\xd8\xff\xe0\0\x10JFIF', 'image/jpeg'],
    ['the three bytes that every JPEG begins with', '\xff\xd8\xff', 'image/jpeg'],
    ['a GIF', 'GIF89a', 'image/gif'],
    ['a WebP', 'RIFF\x10\0\0\0WEBPVP8 ', 'image/webp'],
    ['a PNG', `${PNG}${IHDR}${chunk('IDAT', 'pixels')}`, 'image/png'],
    ['a PNG with a comment', `${PNG}${IHDR}${chunk('tEXt', 'Comment\0x')}${chunk('IDAT', '')}`, 'image/png'],
    ['a PNG whose profile is longer than what is there', `${PNG}${IHDR}${chunk('iCCP', 'x', 90_000)}`, 'image/png'],
    ['an animated PNG', `${PNG}${IHDR}${chunk('acTL', '01234567')}${chunk('IDAT', '')}`, 'image/png'],
  ])('is seen in %s', (_, text, mime) => {
    expect(pictureType(bytes(text))?.mime).toBe(mime);
  });

  it.each([
    ['nothing', ''],
    ['a JPEG-LS', '\xff\xd8\xff\xf7'],
    ['two bytes of a JPEG', '\xff\xd8'],
    ['a WAV', 'RIFF\x10\0\0\0WAVEfmt '],
    ['a signature without a header', `${PNG}${chunk('IDAT', '')}`],
    ['a signature alone', PNG],
    ['a header of a wrong length', `${PNG}${chunk('IHDR', '0123456789ab')}`],
    ['a chunk of a negative length', `${PNG}${IHDR}${chunk('tEXt', '', -1)}${chunk('IDAT', '')}`],
    ['a PDF', '%PDF-1.7'],
  ])('is left open for %s', (_, text) => {
    expect(pictureType(bytes(text))).toBeUndefined();
  });

  it('is the one that file-type gives, a PNG where it is animated, whatever follows the first bytes and wherever they end', async () => {
    const length = fc.oneof(fc.nat(40), fc.constantFrom(13, -1, 4000, 2 ** 31 - 1));
    const type = fc.constantFrom('IHDR', 'IDAT', 'acTL', 'tEXt', 'iCCP', 'CgBI', '\0\0\0\0');
    const anyChunk = fc.tuple(type, fc.string({ unit: 'binary-ascii', maxLength: 30 }), fc.option(length));
    const chunks = fc.array(anyChunk, { maxLength: 6 });
    const start = fc.constantFrom(
      PNG,
      `${PNG}${IHDR}`,
      '\xff\xd8\xff',
      '\xff\xd8',
      'GIF',
      'RIFF1234WEBP',
      'RIFF',
      '\x89',
    );
    await fc.assert(
      fc.asyncProperty(start, chunks, fc.option(fc.nat(120)), async (begin, parts, end) => {
        const whole =
          begin + parts.map(([name, data, announced]) => chunk(name, data, announced ?? undefined)).join('');
        const head = bytes(end === null ? whole : whole.slice(0, end));
        const seen = pictureType(head);
        const found = await fileTypeFromBuffer(head);
        if (seen !== undefined) expect(seen).toEqual(found?.ext === 'apng' ? { mime: 'image/png', ext: 'png' } : found);
      }),
      { numRuns: 2000 },
    );
  });
});
