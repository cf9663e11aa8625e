import { describe, expect, it } from '@jest/globals';
import { lightValue } from '../../../gateway/json/light-value.js';

const TEXT = Buffer.from('{"a":[[],[],[]]}');
/** The list in it, which has four values: itself and three more. */
const LIST = { start: 5, end: 15, values: 4 };

/** A message that counts how often its bytes are read. */
function countingMessage() {
  const message = {
    reads: 0,
    slice(start: number, end: number) {
      message.reads += 1;
      return TEXT.subarray(start, end);
    },
  };
  return message;
}

describe('a value of a message', () => {
  it('is made when it has as many values as are allowed', () => {
    expect(lightValue(countingMessage(), LIST, { values: 4 })).toEqual([[], [], []]);
  });

  it('is not made, nor its bytes read, when it has one more than is allowed', () => {
    const message = countingMessage();
    expect(lightValue(message, LIST, { values: 3 })).toBeUndefined();
    expect(message.reads).toBe(0);
  });
});
