import { describe, expect, it } from '@jest/globals';
import { isNotWritten, keptIn, type Shape, textsIn } from '../../../gateway/errors/kept.js';
import { GatewayError } from '../../../gateway/errors.js';

describe('a value of the state store', () => {
  interface Sample {
    name: string;
    size: number;
    at?: number;
    isOld?: true;
    parts?: string[];
    about?: object;
  }
  const SAMPLE: Shape<Sample> = {
    name: 'text',
    size: 'number',
    at: 'number?',
    isOld: 'true?',
    parts: 'list?',
    about: 'object?',
  };

  it('is what Wharf has written, with all that it always has', () => {
    const whole = { name: 'a', size: 0, at: 1.5, isOld: true, parts: [], about: {} };
    for (const one of [whole, { name: '', size: 8e15 }, { ...whole, later: null }])
      expect(keptIn(JSON.stringify(one), SAMPLE)).toEqual(one);
    expect(textsIn('["x"]')).toEqual(['x']);
    expect(textsIn('[]')).toEqual([]);
  });

  it.each([
    '{"size":1}',
    '{"name":"a"}',
    '{"name":5,"size":1}',
    '{"name":"a","size":"1"}',
    '{"name":"a","size":1e300}',
    '{"name":"a","size":-1e999}',
    '{"name":"a","size":1,"at":"soon"}',
    '{"name":"a","size":1,"at":null}',
    '{"name":"a","size":1,"isOld":1}',
    '{"name":"a","size":1,"parts":{}}',
    '{"name":"a","size":1,"about":[]}',
  ])('is refused with a member of another type: %s', (text) => {
    expect(() => keptIn(text, SAMPLE)).toThrow(expect.objectContaining({ code: 'state_unavailable' }));
  });

  it.each(['{}', '"x"', '[1]', '["x",null]'])('is not a list of texts: %s', (text) => {
    expect(() => textsIn(text)).toThrow(expect.objectContaining({ code: 'state_unavailable' }));
  });

  it.each(['', 'private words', 'null', '7', '"a"', '{}', '{"a":null}', '['.repeat(100_000)])(
    'is refused without a word of it when it is %.20s',
    (text) => {
      try {
        keptIn<{ a: number }>(text, { a: 'number' });
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
