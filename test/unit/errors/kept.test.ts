import { describe, expect, it } from '@jest/globals';
import { isNotWritten, keptIn } from '../../../gateway/errors/kept.js';
import { GatewayError } from '../../../gateway/errors.js';

describe('a value of the state store', () => {
  it('is what Wharf has written, with all that it always has', () => {
    expect(keptIn<{ a: number; b?: number }>('{"a":0}', 'a')).toEqual({ a: 0 });
    expect(keptIn<string[]>('["x"]', 'length')).toEqual(['x']);
  });

  it.each(['', 'private words', 'null', '7', '"a"', '{}', '{"a":null}', '['.repeat(100_000)])(
    'is refused without a word of it when it is %.20s',
    (text) => {
      try {
        keptIn<{ a: number }>(text, 'a');
        throw new Error('taken');
      } catch (error) {
        expect(isNotWritten(error)).toBe(true);
        expect(error).toMatchObject({ code: 'state_unavailable' });
        expect(String((error as Error).cause)).not.toContain('private');
      }
    },
  );

  it('is told apart from a store that does not answer', () => {
    expect(isNotWritten(new GatewayError('state_unavailable', {}, new Error('no answer')))).toBe(false);
  });
});
