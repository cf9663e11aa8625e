import { describe, expect, it } from '@jest/globals';
import { withoutMark } from '../../../gateway/wire/byte-order-mark.js';
import { readChunks } from './record.js';

const MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const JSON_TEXT = Buffer.from('{"id":1}\n');
const OF = { json: JSON_TEXT, lines: JSON_TEXT, sse: Buffer.from('data: {"id":1}\n\n') };

describe.each(['json', 'lines', 'sse'] as const)('a byte order mark before %s', (kind) => {
  it('is dropped, wherever a chunk ends', () => {
    const body = Buffer.concat([MARK, OF[kind]]);
    for (let cut = 0; cut <= body.length; cut++) {
      const { messages } = readChunks(kind, {}, [body.subarray(0, cut), body.subarray(cut)]);
      expect(messages.map(({ whole, malformed }) => [whole.trim(), malformed])).toEqual([['{"id":1}', undefined]]);
    }
  });

  it('that is only the beginning of one is kept', () => {
    for (const length of [1, 2]) {
      const begun = MARK.subarray(0, length);
      for (const rest of [OF[kind], Buffer.alloc(0)]) {
        const whole = readChunks(kind, {}, [Buffer.concat([begun, rest])]);
        const apart = readChunks(kind, {}, [begun, rest]);
        expect(apart.messages).toEqual(whole.messages);
        if (kind === 'json') expect(whole.messages[0]?.malformed).toBe(0);
      }
    }
  });
});

it('a whole body loses only the mark itself', () => {
  expect(withoutMark(Buffer.concat([MARK, JSON_TEXT]))).toEqual(JSON_TEXT);
  expect(withoutMark(JSON_TEXT)).toEqual(JSON_TEXT);
  expect(withoutMark(MARK.subarray(0, 2))).toEqual(MARK.subarray(0, 2));
});
