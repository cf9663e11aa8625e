import { describe, expect, it } from '@jest/globals';
import { Base64Decoder, type Base64DecoderOptions } from '../../../../gateway/wire/base64/decode.js';
import { WireError } from '../../../../gateway/wire/errors.js';
import { chunkings } from '../../../helpers/chunked.js';

interface Decoded {
  text: string;
  canonical: boolean;
  canonicalChars: number;
}

function decodeChunks(
  chunks: readonly Buffer[],
  options: Base64DecoderOptions = {},
): Decoded | { error: string; offset: number } {
  const decoder = new Base64Decoder(options);
  const parts: Buffer[] = [];
  try {
    for (const chunk of chunks) {
      const out = Buffer.alloc(((chunk.length * 3) >> 2) + 3);
      parts.push(out.subarray(0, decoder.push(chunk, 0, chunk.length, out, 0)));
    }
    const out = Buffer.alloc(3);
    parts.push(out.subarray(0, decoder.finish(out, 0)));
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return { error: error.code, offset: error.offset };
  }
  const bytes = Buffer.concat(parts);
  expect(decoder.bytes).toBe(bytes.length);
  const { canonical, canonicalChars } = decoder;
  return { text: bytes.toString('latin1'), canonical, canonicalChars };
}

function decode(raw: string, options?: Base64DecoderOptions): ReturnType<typeof decodeChunks> {
  const bytes = Buffer.from(raw);
  const whole = decodeChunks([bytes], options);
  for (const { name, chunks } of chunkings(bytes))
    expect({ name, ...decodeChunks(chunks, options) }).toEqual({ name, ...whole });
  return whole;
}

/** Long enough for native decoding. */
const BYTES = Buffer.from(Array.from({ length: 300 }, (_, index) => (index * 89 + 7) % 256));
const LONG = BYTES.toString('base64');
const TEXT = BYTES.toString('latin1');

describe('base64 is decoded', () => {
  it.each([
    ['', ''],
    ['QQ==', 'A'],
    ['QUI=', 'AB'],
    ['QUJD', 'ABC'],
    [LONG, TEXT],
    [BYTES.subarray(1).toString('base64'), TEXT.slice(1)],
    [BYTES.subarray(2).toString('base64'), TEXT.slice(2)],
  ])('and is canonical: %.20s', (raw, text) => {
    expect(decode(raw)).toEqual({ text, canonical: true, canonicalChars: raw.length });
  });

  it.each([
    ['escaped slashes', 'QUJD\\/\\/\\/\\/', 'ABC\xff\xff\xff', 4],
    ['escaped plus, either case', '\\u002b\\u002B\\u002bA', '\xfb\xef\x80', 0],
    ['everything escaped', [...'QUI='].map((char) => `\\u00${char.charCodeAt(0).toString(16)}`).join(''), 'AB', 0],
    ['escaped padding', 'QUI\\u003d', 'AB', 0],
    ['line feeds', 'QUJD\\nREVG\\n', 'ABCDEF', 4],
    ['line breaks inside quads', 'Q\\r\\nU\\nJ\\rD', 'ABC', 0],
    ['escaped line breaks', 'QUJD\\r\\nREVG\\u000d\\u000a', 'ABCDEF', 4],
    ['blanks at line breaks', 'QUJD \\t\\n\\t  REVG\\t\\n', 'ABCDEF', 4],
    ['a line break before and after padding', 'QUI\\n=\\n', 'AB', 0],
    ['the url-safe alphabet', 'QUJD-_-_', 'ABC\xfb\xff\xbf', 4],
    ['both alphabets', 'QUJD-/+_', 'ABC\xfb\xff\xbf', 4],
    ['no padding', 'QUJDQQ', 'ABCA', 4],
    ['no padding of one', 'QUJDQUI', 'ABCAB', 4],
    ['half a padding', 'QUJDQQ=', 'ABCA', 4],
    ['bits that are left over', 'QUJDQR==', 'ABCA', 4],
    ['bits that are left over, with one padding', 'QUJDQUJ=', 'ABCAB', 4],
    ['a line break after the padding', 'QUJDQUI=\\n', 'ABCAB', 4],
  ])('and is not canonical: %s', (_, raw, text, canonicalChars) => {
    expect(decode(raw)).toEqual({ text, canonical: false, canonicalChars });
  });

  it.each([
    ['lines of 76', LONG.replaceAll(/.{76}/g, '$&\\r\\n'), 76],
    ['the url-safe alphabet', `${LONG.slice(0, 200)}--__${LONG}`, 200],
    [
      'an escape in the middle',
      `${LONG.slice(0, 203)}\\u00${LONG.charCodeAt(203).toString(16)}${LONG.slice(204)}`,
      200,
    ],
  ])('also where a native decoder has begun: %s', (_, raw, canonicalChars) => {
    const plain = JSON.parse(`"${raw}"`) as string;
    expect(decode(raw)).toEqual({
      text: Buffer.from(plain, 'base64').toString('latin1'),
      canonical: false,
      canonicalChars,
    });
  });
});

describe('what is not base64 is refused, with its place', () => {
  it.each([
    ['a stray character', 'QUJD!UJD', 4],
    ['a blank in the text', 'QUJD REVG', 5],
    ['a blank at the start', ' QUJD', 1],
    ['a blank at the end', 'QUJD ', 5],
    ['a blank before padding', 'QQ ==', 3],
    ['a single character left over', 'QUJDQ', 5],
    ['padding of one character', 'QUJDQ===', 5],
    ['padding of nothing', 'QUJD=', 4],
    ['nothing but padding', '==', 0],
    ['too much padding', 'QUI==', 4],
    ['three paddings', 'QQ===', 4],
    ['text after padding', 'QUI=QUJD', 4],
    ['text after half a padding', 'QQ=Q', 3],
    ['padding in the middle', `${LONG.slice(0, 126)}==${LONG.slice(128)}`, 128],
    ['a NUL', 'QU\\u0000', 7],
    ['a surrogate', 'QU\\ud83d\\ude00', 7],
    ['an unknown escape', 'QU\\x41', 3],
    ['an escaped quote', 'QU\\"', 3],
    ['a bad unicode escape', 'QU\\u00G1', 6],
    ['an unfinished escape', 'QUJD\\u00', 8],
    ['UTF-8', 'QUJDé', 4],
    ['words', 'Hello, world', 5],
    ['a data URI', 'data:image/png;base64,QUJD', 4],
    ['a late character', `${LONG.slice(0, 333)}*${LONG.slice(334)}`, 333],
    ['a late character of another alphabet', `${LONG.slice(0, 333)}é${LONG.slice(334)}`, 333],
    ['a blank in a line', `${LONG.slice(0, 76)}\\n${LONG.slice(76, 152)} ${LONG.slice(152)}`, 155],
    ['a late character after a line break', `${LONG.slice(0, 76)}\\n${LONG.slice(76, 333)}*${LONG.slice(334)}`, 335],
    ['padding in a later line', `${LONG.slice(0, 76)}\\n${LONG.slice(76, 150)}==${LONG.slice(152)}`, 154],
  ])('%s', (_, raw, offset) => {
    expect(decode(raw)).toEqual({ error: 'base64', offset });
  });

  it.each([
    ['in the text', 'QUJD REVG', 'ABCDEF'],
    ['at the start', ' \\tQUJD', 'ABC'],
    ['at the end', 'QUJD ', 'ABC'],
    ['before and behind padding', 'QQ = = ', 'A'],
    ['within a quad', 'Q U J D', 'ABC'],
    ['in long lines', `${LONG.slice(0, 154)} ${LONG.slice(154)}`, Buffer.from(LONG, 'base64').toString('latin1')],
  ])('but blanks %s, where only base64 may be', (_, raw, text) => {
    expect(decode(raw, { anyBlanks: true })).toMatchObject({ text, canonical: false });
  });

  it('and a stray character, where blanks may be anywhere', () => {
    expect(decode('QUJD U!JD', { anyBlanks: true })).toEqual({ error: 'base64', offset: 6 });
  });

  it.each([
    ['a line feed', 'QUJD\nREVG', 4],
    ['a tab at a line break', 'QUJD\\n\tREVG', 6],
    ['a late line break', `${LONG.slice(0, 76)}\r\n${LONG.slice(76)}`, 76],
    ['a line feed after an escape', `${LONG.slice(0, 200)}\\n\n${LONG}`, 202],
  ])('%s that is not escaped makes it no JSON string', (_, raw, offset) => {
    expect(decode(raw)).toEqual({ error: 'syntax', offset });
  });

  it('counts nothing of the piece it stands in', () => {
    const decoder = new Base64Decoder();
    const out = Buffer.alloc(1000);
    const good = Buffer.from(`${LONG.slice(0, 101)}`);
    decoder.push(good, 0, good.length, out, 0);
    const bad = Buffer.from(`${LONG.slice(101)}!`);
    expect(() => decoder.push(bad, 0, bad.length, out, 0)).toThrow(WireError);
    const { chars, bytes, canonical, canonicalChars } = decoder;
    expect({ chars, bytes, canonical, canonicalChars }).toEqual({
      chars: 101,
      bytes: 75,
      canonical: false,
      canonicalChars: 100,
    });
  });
});

describe('canonicalChars', () => {
  it('stands for three decoded bytes in each four, so that they can be encoded again', () => {
    for (const raw of [
      `${LONG}\\n`,
      `${BYTES.subarray(1).toString('base64')}\\n`,
      `${LONG.slice(0, 150)}\\/${LONG}`,
      `${LONG.slice(0, 97)}-${LONG.slice(98)}`,
      'QUJDQUI',
    ]) {
      const decoded = decode(raw) as Decoded;
      expect(decoded.canonicalChars % 4).toBe(0);
      const again = Buffer.from(decoded.text.slice(0, (decoded.canonicalChars / 4) * 3), 'latin1').toString('base64');
      expect(again).toBe(raw.slice(0, decoded.canonicalChars));
    }
  });

  it('needs no search when it is not asked for', () => {
    const decoder = new Base64Decoder({ trackCanonical: false });
    const raw = Buffer.from(LONG);
    const out = Buffer.alloc(raw.length);
    expect(out.subarray(0, decoder.push(raw, 0, raw.length, out, 0)).toString('latin1')).toBe(TEXT);
  });
});

it('a piece may be any part of a buffer, and go to any place of another', () => {
  const src = Buffer.from(`xx${LONG}yy`);
  const out = Buffer.alloc(400, 0xee);
  const decoder = new Base64Decoder();
  let written = decoder.push(src, 2, 100, out, 10);
  written += decoder.push(src, 100, src.length - 2, out, 10 + written);
  expect(out.toString('latin1', 10, 10 + written)).toBe(TEXT);
  expect([...out.subarray(0, 10)]).toEqual(Array(10).fill(0xee));
  expect(decoder.chars).toBe(LONG.length);
});

it('a slice longer than what is decoded in one go is no different', () => {
  const bytes = Buffer.alloc(1_000_000, BYTES);
  const raw = Buffer.from(bytes.toString('base64'));
  const out = Buffer.alloc(bytes.length + 3);
  const decoder = new Base64Decoder();
  const written = decoder.push(raw, 0, raw.length, out, 0);
  expect(written + decoder.finish(out, written)).toBe(bytes.length);
  expect(out.subarray(0, bytes.length).equals(bytes)).toBe(true);
  expect(decoder.canonical).toBe(true);
});
