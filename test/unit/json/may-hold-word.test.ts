import { describe, expect, it } from '@jest/globals';
import { mayHoldWord } from '../../../gateway/json/may-hold-word.js';

const mayHold = (json: string) => mayHoldWord(Buffer.from(json), 'input_required');

describe('whether a JSON text may hold a word', () => {
  it.each(['"input_required"', '"input\\u005frequired"', '"\\u0069nput_required"', '"é input\\u005Frequired"'])(
    '%s may',
    (json) => {
      expect(mayHold(json)).toBe(true);
    },
  );

  it.each(['"complete"', '"a \\u2014 dash, \\u00e9, \\u0022, and \\\\n"', '{}'])('%s does not', (json) => {
    expect(mayHold(json)).toBe(false);
  });
});
