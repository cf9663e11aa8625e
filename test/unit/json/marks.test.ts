import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Marks } from '../../../gateway/json/marks.js';
import { runs } from '../../helpers/effort.js';

const TEXTS = ['"uri"', '"resource_link"', 'a.b/c+d'];

describe('the texts that a message is searched for', () => {
  it('are found wherever they are, among many quotes, few and none, and nothing else is', () => {
    const marks = new Marks(TEXTS);
    const filling = fc.constantFrom('"a":1,', 'prose without them ', '"ur i" "resource-link" a-b/c+d a.b/ccd ', '');
    fc.assert(
      fc.property(
        filling,
        fc.nat(6000),
        fc.option(fc.constantFrom(...TEXTS)),
        fc.nat(6000),
        (text, before, mark, after) => {
          const around = (length: number) => text.repeat(length).slice(0, length);
          const piece = Buffer.from(`${around(before)}${mark ?? ''}${around(after)}`);
          expect(marks.areIn(piece)).toBe(mark !== null);
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it('have a longest one, of which a part may be in the piece before', () => {
    expect(new Marks(TEXTS).longest).toBe('"resource_link"'.length);
  });
});
