import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Base64Decoder } from '../../gateway/wire/base64/decode.js';
import { decodeStrictBase64 } from '../../gateway/wire/base64/decode-text.js';
import { Base64Encoder } from '../../gateway/wire/base64/encode.js';
import { WireError } from '../../gateway/wire/errors.js';
import { cutAt } from '../helpers/chunked.js';
import { runs } from '../helpers/effort.js';
import { cuts, expectSame, positions } from './wire-oracle.js';

const RUNS = 12_000;

interface Decoded {
  bytes: Buffer;
  canonical: boolean;
  canonicalChars: number;
}

function decode(chunks: readonly Buffer[]): Decoded | number {
  const decoder = new Base64Decoder();
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
    return error.offset;
  }
  return { bytes: Buffer.concat(parts), canonical: decoder.canonical, canonicalChars: decoder.canonicalChars };
}

/** What the decoder's rules say, written as one expression over the unescaped text. */
function oracle(raw: string): Buffer | undefined {
  let text: string;
  try {
    text = JSON.parse(`"${raw}"`) as string;
  } catch {
    return undefined;
  }
  const joined = text.replaceAll(/[ \t]*[\r\n]+(?:[ \t]|[\r\n])*/g, '');
  const match = /^((?:[\w+/-]{4})*)(?:([\w+/-]{2}={0,2})|([\w+/-]{3}=?))?$/.exec(joined);
  return match && !/[^\x20-\x7e]/.test(joined) ? Buffer.from(joined, 'base64') : undefined;
}

const sizes = fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.uint8Array({ minLength: 40, maxLength: 400 }));

/** Base64 spelled in ways that are legitimate, or nearly. */
const spellings = fc.tuple(
  sizes.map((bytes) => Buffer.from(bytes).toString('base64')),
  fc.array(
    fc.tuple(
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.integer({ min: 0, max: 4 }),
      fc.constantFrom(
        '\\n',
        '\\r\\n',
        '\n',
        ' \\n',
        '\\n  ',
        '\\/',
        '\\u002b',
        '\\u003d',
        '-',
        '_',
        '=',
        '==',
        ' ',
        '*',
        '\\x',
        '\\u00e9',
        'é',
        'A',
        '',
        '\\',
      ),
    ),
    { maxLength: 4 },
  ),
);

function spell([text, changes]: [string, [number, number, string][]]): string {
  let result = text;
  for (const [at, remove, insert] of changes) {
    const start = Math.floor(at * (result.length + 1));
    result = result.slice(0, start) + insert + result.slice(start + remove);
  }
  return result;
}

describe('base64 in any chunks', () => {
  it('gives the bytes back, canonically', () => {
    fc.assert(
      fc.property(sizes, cuts, cuts, (bytes, encodeCuts, decodeCuts) => {
        const encoder = new Base64Encoder();
        const parts = cutAt(bytes, positions(encodeCuts, bytes.length)).map((chunk) => encoder.push(chunk));
        const encoded = Buffer.concat([...parts, encoder.finish()]);
        expectSame(encoded.toString(), Buffer.from(bytes).toString('base64'));
        const decoded = decode(cutAt(encoded, positions(decodeCuts, encoded.length)));
        expectSame(decoded, { bytes: Buffer.from(bytes), canonical: true, canonicalChars: encoded.length });
      }),
      { numRuns: runs(RUNS) },
    );
  });

  it('of any spelling is decoded or refused as the rules say, the same in any chunks', () => {
    fc.assert(
      fc.property(spellings, cuts, (spelling, fractions) => {
        const text = spell(spelling);
        const raw = Buffer.from(text);
        const whole = decode([raw]);
        const expected = oracle(text);
        expectSame(
          [text, typeof whole === 'number' ? undefined : whole.bytes.toString('hex')],
          [text, expected?.toString('hex')],
        );
        expectSame(decode(cutAt(raw, positions(fractions, raw.length))), whole);
      }),
      { numRuns: runs(2 * RUNS) },
    );
  });

  it('is canonical exactly when encoding gives the same text, and its canonical part can be put back', () => {
    fc.assert(
      fc.property(spellings, (spelling) => {
        const text = spell(spelling);
        const decoded = decode([Buffer.from(text)]);
        if (typeof decoded === 'number') return;
        const { bytes, canonical, canonicalChars } = decoded;
        expectSame([text, canonical], [text, bytes.toString('base64') === text]);
        if (!canonical) {
          const again = bytes.subarray(0, (canonicalChars / 4) * 3).toString('base64');
          expectSame(again, text.slice(0, canonicalChars));
        }
      }),
      { numRuns: runs(RUNS) },
    );
  });
});

/** RFC 4648 §4, the padding complete or absent. */
const STRICT = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

describe('a text', () => {
  /** What is not base64, for Node's decoder too; what it takes for base64; and letters whose lower bytes are digits of it. */
  const other = fc.constantFrom(...'=-_ \n\t\0.%*é\ud800', '==', 'Ł', '\u2041', '😀');
  const piece = fc.oneof(
    { weight: 3, arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('base64')) },
    { weight: 1, arbitrary: other },
    { weight: 1, arbitrary: fc.stringMatching(/^[A-Za-z0-9+/]{0,5}$/) },
  );

  it('is strict base64 exactly where its specification says so, and then has the bytes that Node reads from it', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 3 }), (pieces) => {
        const text = pieces.join('');
        expect(decodeStrictBase64(text)).toEqual(STRICT.test(text) ? Buffer.from(text, 'base64') : undefined);
      }),
      { numRuns: runs(RUNS) },
    );
  });
});
