import { describe, expect, it } from '@jest/globals';
import { read, readOne } from '../record.js';

const TREE = { keys: { id: { capture: 'id', watch: 'id' }, data: { slot: 'data' } }, watch: 'all' };
const DATA = 'QUJDREVGR0hJSktM';

describe('what is not JSON', () => {
  it.each([
    ['{"a" 1}', 5],
    ['{"a":1 "b"}', 7],
    ['{"a":1,}', 7],
    ['{,}', 1],
    ['{a:1}', 1],
    ["{'a':1}", 1],
    ['[1,]', 3],
    ['[1 2]', 3],
    ['[1}', 2],
    ['{"a":1]', 6],
    ['[01]', 2],
    ['[-]', 2],
    ['[+1]', 1],
    ['[.5]', 1],
    ['[1.]', 3],
    ['[1e]', 3],
    ['[1e+]', 4],
    ['[1.5.5]', 4],
    ['[1e5e5]', 4],
    ['[0x1]', 2],
    ['[NaN]', 1],
    ['[nul]', 4],
    ['[truE]', 4],
    ['[falsee]', 6],
    ['["\\x"]', 3],
    ['["\\u12G4"]', 6],
    ['["a\tb"]', 3],
    ['["\u0000"]', 2],
    [`["${'long enough to be scanned in words, '.repeat(3)}\u001f"]`, 110],
    ['[1]]', 3],
    ['{}x', 2],
    ['[/* */]', 1],
    ['\ufeff\ufeff{}', 0],
    ['{}\ufeff', 2],
    ['[1\u00a0]', 2],
    ['-', 1],
    ['12x', 2],
    ['"a"b', 3],
  ])('is held raw from the first wrong byte on: %s', (json, offset) => {
    const { messages, error } = read('json', TREE, json);
    const last = messages.at(-1);
    if (error !== undefined) expect([error, messages]).toEqual(['truncated', []]);
    else {
      const before = messages
        .slice(0, -1)
        .map(({ whole }) => whole)
        .join('').length;
      expect([last?.malformed, before + (last?.malformed ?? 0)]).toEqual([last?.malformed, offset]);
      expect(messages.map(({ whole }) => whole).join('')).toBe(
        Buffer.from(json.replace(/^\ufeff/, '')).toString('latin1'),
      );
    }
  });

  it('is opaque to its end: nothing more is cut, watched or captured', () => {
    const json = `{"id":1,,"data":"${DATA}","id":2}  {"id":3}\n`;
    const message = readOne('json', TREE, json);
    expect(message).toMatchObject({ slots: [], captures: { id: '1' }, malformed: 8, whole: json });
    expect(message.ranges.map(({ name }) => name)).toEqual(['id']);
  });

  it('may begin after a cut', () => {
    const json = `{"data":"${DATA}",]`;
    const message = readOne('json', TREE, json);
    expect(message).toMatchObject({ malformed: json.length - 1, whole: json });
    expect(message.slots).toMatchObject([{ text: DATA, ended: true }]);
  });

  it('keeps the beginning of a string that could have become a cut', () => {
    const json = '{"data":"abc\u0001def"}';
    expect(readOne('json', TREE, json)).toMatchObject({ slots: [], malformed: 12, whole: json });
  });

  it('is for the sink to judge inside a cut string', () => {
    const message = readOne('json', TREE, '{"data":"AAAAAAAA\u0001\\x"}');
    expect(message).toMatchObject({ malformed: undefined, slots: [{ text: 'AAAAAAAA\u0001\\x', ended: true }] });
  });
});

describe('a body that ends inside a value', () => {
  it.each(['{', '[', '"abc', '{"a"', '{"a":', '{"a":1', '[1,', 'tru', '-', '1e', '{"data":"AAAAAAAAAAAA', '"\\u00'])(
    'is truncated: %s',
    (json) => {
      expect(read('json', TREE, json)).toMatchObject({ error: 'truncated', messages: [], inMessage: true });
    },
  );

  it('is complete when a bare number could have gone on', () => {
    expect(readOne('json', TREE, '12.5')).toMatchObject({ whole: '12.5', malformed: undefined });
  });
});

describe('a body of several values', () => {
  it('is one message for each, with the whitespace between told at once', () => {
    const { events, messages } = read('json', TREE, ' {"id":1}\n{"id":2}\r\n[3]\n');
    expect(events.filter((event) => !event.startsWith('closed'))).toEqual([
      'space  ',
      'message',
      'space \n',
      'message',
      'space \r\n',
      'message',
      'space \n',
    ]);
    expect(messages.map(({ whole }) => whole)).toEqual(['{"id":1}', '{"id":2}', '[3]']);
  });

  it('must have whitespace between them', () => {
    const { messages } = read('json', TREE, '{"id":1}{"id":2}');
    expect(messages.map(({ malformed }) => malformed)).toEqual([undefined, 0]);
  });

  it('may be none', () => {
    expect(read('json', TREE, ' \n').messages).toEqual([]);
    expect(read('json', TREE, '')).toMatchObject({ messages: [], error: undefined, inMessage: false });
  });
});
