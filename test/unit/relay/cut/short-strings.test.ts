import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { shortStrings } from '../../../../gateway/relay/cut/short-strings.js';
import { runs as cases } from '../../../helpers/effort.js';

const MIN = 200;
const raw = (value: unknown) => Buffer.from(JSON.stringify(JSON.stringify(value)).slice(1, -1));
const skipped = (chunk: Buffer, begun = 0) => shortStrings(chunk, { start: 0, end: chunk.length, begun, min: MIN });

/** Pieces of a text in a JSON string: short and long runs of base64, quotes of both levels, other characters. */
const token = fc.oneof(
  fc.integer({ min: 1, max: 40 }).map((length) => 'A'.repeat(length)),
  fc.integer({ min: MIN - 5, max: MIN + 60 }).map((length) => 'B'.repeat(length)),
  fc.constantFrom('\\"', '\\\\\\"', '\\\\n', ':', ',', ' ', '\\u0022', 'ö'),
);

describe('the short strings of a text that may be JSON', () => {
  it('are passed over up to the last quote, however dense', () => {
    const text = raw(Array.from({ length: 500 }, (_, index) => ({ a: index, b: `w ${index}` })));
    expect(skipped(text)).toEqual({ to: text.lastIndexOf('\\"') + 2 });
  });

  it('end before a string that may be a file', () => {
    const text = raw(['a', 'b', 'C'.repeat(MIN), 'd']);
    expect(skipped(text)).toEqual({ to: text.indexOf('C') });
    expect(skipped(text.subarray(text.indexOf('C')))).toEqual({ notBefore: MIN });
  });

  it('begin with the end of one that began earlier', () => {
    const text = Buffer.from(`${'A'.repeat(100)}\\",\\"${'w '.repeat(40)}`);
    expect(skipped(text, MIN - 101)).toEqual({ to: 105 });
    expect(skipped(text, MIN - 100)).toEqual({ notBefore: 100 });
  });

  it('are not looked for again where there is no quote, or none of the text’s own', () => {
    expect(skipped(Buffer.from('w '.repeat(100)))).toEqual({ notBefore: 200 });
    expect(skipped(Buffer.from('\\\\\\"w '.repeat(30)))).toEqual({ notBefore: 180 });
    expect(skipped(Buffer.from('\\"a\\"'))).toEqual({ notBefore: 5 });
  });

  it('never hide a long one, and end behind a quote of the text’s own', () => {
    fc.assert(
      fc.property(fc.array(token, { maxLength: 60 }), fc.nat(MIN), (tokens, begun) => {
        const text = Buffer.from(tokens.join(''));
        const found = skipped(text, begun);
        if (!('to' in found)) return;
        const passed = text.subarray(0, found.to).toString('latin1');
        expect(passed).toMatch(/(?:^|[^\\])\\"$/);
        const runs = `${'A'.repeat(begun)}${passed}`.split('\\"');
        expect(Math.max(...runs.map(({ length }) => length))).toBeLessThanOrEqual(MIN);
      }),
      { numRuns: cases(2000) },
    );
  });
});
