import { describe, expect, it } from '@jest/globals';
import type { WatchNode } from '../../../../gateway/wire/json/watch-tree.js';
import { chunked } from '../../../helpers/chunked.js';
import { type Kind, read, readChunks, readOne } from '../record.js';

const TREE: WatchNode = {
  keys: {
    id: { capture: 'id', watch: 'id' },
    method: { capture: 'method' },
    params: { keys: { progressToken: { capture: 'token' } } },
    result: {
      keys: {
        content: { items: { watch: 'holder', keys: { data: { slot: 'image' }, type: {} } } },
        structuredContent: { deep: 'structured' },
      },
    },
  },
};

const DATA = 'QUJDREVGR0hJSktM';

function result(block: string): string {
  return `{"jsonrpc":"2.0","id":1,"result":{"content":[${block}]}}`;
}

describe('a string at a slot', () => {
  it('is cut out, and the rest of the message stays as it came', () => {
    const message = readOne('json', TREE, result(`{ "type" : "image","data":"${DATA}", "mimeType":"image/png"}`));
    expect(message.skeleton).toBe(result(`{ "type" : "image","data":"", "mimeType":"image/png"}`));
    expect(message.slots).toEqual([
      {
        slot: 'image',
        path: 'result/content/0/data',
        offset: message.skeleton.indexOf('"data":"') + '"data":"'.length,
        text: DATA,
        ended: true,
      },
    ]);
    expect(message.whole).toBe(result(`{ "type" : "image","data":"${DATA}", "mimeType":"image/png"}`));
  });

  it.each([
    ['a byte less than slotMin', 15, 0],
    ['just slotMin bytes', 16, 1],
    ['a byte more', 17, 1],
  ])('with %s', (_, length, cuts) => {
    const body = result(`{"data":"${'A'.repeat(length)}"}`);
    const message = readOne('json', TREE, body, { slotMin: 16 });
    expect(message.slots).toHaveLength(cuts);
    expect(message.whole).toBe(body);
  });

  it('counts raw bytes, escapes included', () => {
    expect(readOne('json', TREE, result('{"data":"\\u0041\\u0042\\/"}'), { slotMin: 14 }).slots).toHaveLength(1);
    expect(readOne('json', TREE, result('{"data":"\\u0041\\u0042\\/"}'), { slotMin: 15 }).slots).toHaveLength(0);
  });

  it('is always cut when slotMin is 0, also when it is empty', () => {
    const message = readOne('json', TREE, result('{"data":""},{"data":"A"}'), { slotMin: 0 });
    expect(message.slots.map(({ text, ended, path }) => [text, ended, path])).toEqual([
      ['', true, 'result/content/0/data'],
      ['A', true, 'result/content/1/data'],
    ]);
  });

  it('is never cut when slotMin is Infinity', () => {
    const body = result(`{"data":"${DATA}"}`);
    const message = readOne('json', TREE, body, { slotMin: Number.POSITIVE_INFINITY });
    expect([message.slots, message.skeleton]).toEqual([[], body]);
  });

  it.each([
    '\\"quoted\\" and \\\\',
    '\\\\\\\\\\"\\\\',
    '\\/\\/\\/\\/\\/\\/\\/\\/',
    'AAAAAAA\\"',
    'AAAAAAAA\\"',
    'AAAAAAAAA\\"',
    'AAAAAA\\u0022',
    'AAAAA\\u0022AAAAAAAA',
    'caf\u00e9 \u{1f600} \u2028',
  ])('ends at its own quote: %s', (content) => {
    const body = result(`{"data":"${content}","type":"image"}`);
    const message = readOne('json', TREE, body);
    expect(message.slots.map(({ text }) => text)).toEqual([Buffer.from(content).toString('latin1')]);
    expect(message.whole).toBe(Buffer.from(body).toString('latin1'));
  });

  it('passes bytes that are not UTF-8 as they are', () => {
    const body = Buffer.from(result('{"data":"AAAAAAAA\xff\xc0\x80","type":"\xfe\xff"}'), 'latin1');
    const message = readOne('json', TREE, body);
    expect(message.slots[0]?.text).toBe('AAAAAAAA\xff\xc0\x80');
    expect(message.whole).toBe(body.toString('latin1'));
  });

  it('is a string: other values at a slot stay', () => {
    for (const value of ['null', '12345678901234', 'true', `["${DATA}"]`, `{"data":"${DATA}"}`]) {
      const body = result(`{"data":${value}}`);
      expect(readOne('json', TREE, body)).toMatchObject({ slots: [], skeleton: body });
    }
  });

  it('may come many times in one message', () => {
    const blocks = Array.from({ length: 20 }, (_, index) => `{"data":"${DATA}${index}"}`);
    const message = readOne('json', TREE, result(blocks.join(',')));
    expect(message.slots.map(({ path, text }) => [path, text])).toEqual(
      blocks.map((_, index) => [`result/content/${index}/data`, `${DATA}${index}`]),
    );
  });

  it('is told in time: its sink has bytes before the message is complete', () => {
    const body = Buffer.from(result(`{"data":"${DATA}"}`));
    const { messages, events, inMessage } = readChunks('json', TREE, [body.subarray(0, body.indexOf(DATA) + 9)]);
    expect({ messages, events, inMessage }).toEqual({
      messages: [],
      events: ['closed id 1', 'slot image'],
      inMessage: true,
    });
  });
});

describe('a key on the tree', () => {
  it('is known in any spelling', () => {
    const message = readOne('json', TREE, result(`{"d\\u0061t\\u0061":"${DATA}","\\u0074ype":"image"}`));
    expect(message.slots.map(({ path }) => path)).toEqual(['result/content/0/data']);
    expect(message.skeleton).toContain('"d\\u0061t\\u0061":""');
  });

  it.each(['Data', 'data ', 'dat', 'datab', 'd\\u0041ta', '', '\\"data', '__proto__'])('is not "%s"', (key) => {
    const body = result(`{"${key}":"${DATA}"}`);
    expect(readOne('json', TREE, body)).toMatchObject({ slots: [], skeleton: body });
  });

  it('is known by UTF-8 bytes, not by characters', () => {
    const tree = { keys: { größe: { slot: 'a' }, '\u{1f600}': { slot: 'b' } } };
    const message = readOne('json', tree, `{"gr\\u00f6ße":"${DATA}","\\ud83d\\ude00":"${DATA}","größe":"${DATA}"}`);
    expect(message.slots.map(({ slot }) => slot)).toEqual(['a', 'b', 'a']);
    expect(message.duplicates).toEqual([' größe']);
  });

  it('that comes twice in an object is noted', () => {
    const message = readOne('json', TREE, result(`{"type":"a","data":"x","d\\u0061ta":"${DATA}"},{"data":"y"}`));
    expect(message.duplicates).toEqual(['/result/content/0 data']);
  });

  it('is noted with a JSON Pointer', () => {
    const tree = { keys: { 'a/b': { keys: { 'm~n': { keys: { x: {} } } } } } };
    expect(readOne('json', tree, '{"a/b":{"m~n":{"x":1,"x":2}}}').duplicates).toEqual(['/a~1b/m~0n x']);
  });

  it('is found among more than 64', () => {
    const keys = Object.fromEntries(Array.from({ length: 70 }, (_, index) => [`k${index}`, { watch: `w${index}` }]));
    const message = readOne('json', { keys }, '{"k1":1,"k33":2,"k69":3,"k1":4}');
    expect(message.ranges.map(({ name, text }) => [name, text])).toEqual([
      ['w1', '1'],
      ['w33', '2'],
      ['w69', '3'],
      ['w1', '4'],
    ]);
    expect(message.duplicates).toEqual([' k1']);
  });

  it('is not one that is longer than all of them, whatever its escapes', () => {
    const body = result(`{"${'\\u0064'.repeat(60)}":"${DATA}"}`);
    expect(readOne('json', TREE, body)).toMatchObject({ slots: [], skeleton: body });
  });

  it('may be a megabyte long elsewhere', () => {
    const body = `{"${'k'.repeat(1_000_000)}":1,"id":2}`;
    const { messages } = readChunks('json', TREE, chunked(Buffer.from(body), 1000));
    expect(messages.map(({ whole, captures }) => [whole === body, captures])).toEqual([[true, { id: '2' }]]);
  });
});

describe('a deep slot', () => {
  it('is every string at any depth below, with its path', () => {
    const body = `{"result":{"structuredContent":{"a b":[0,{"\\u0078\\"y":"${DATA}"}],"c":"short","d":"${DATA}"}}}`;
    const message = readOne('json', TREE, body);
    expect(message.slots.map(({ path }) => path)).toEqual([
      'result/structuredContent/a b/1/x"y',
      'result/structuredContent/d',
    ]);
    expect(message.whole).toBe(body);
  });

  it('gives way to a slot of its own further down', () => {
    const tree = { deep: 'any', keys: { files: { items: { keys: { data: { slot: 'file' } } } } } };
    const message = readOne('json', tree, `{"files":[{"data":"${DATA}","more":"${DATA}"}],"x":"${DATA}"}`);
    expect(message.slots.map(({ slot }) => slot)).toEqual(['file', 'any', 'any']);
  });

  it('does not take keys for values', () => {
    const body = `{"result":{"structuredContent":{"${DATA}":1}}}`;
    expect(readOne('json', TREE, body)).toMatchObject({ slots: [], skeleton: body });
  });
});

describe('what is watched', () => {
  it('is told when it is complete, with its text', () => {
    const { events } = read('json', TREE, result(`{"data":"${DATA}","x":[1,{}]},{}`));
    expect(events).toEqual([
      'closed id 1',
      'slot image',
      'closed holder {"data":"","x":[1,{}]}',
      'closed holder {}',
      'message',
    ]);
  });

  it.each(['17', '-1.5e3', '"abc"', 'null', 'true', '[1,[2]]', '{"a":{}}', '"\\u00e9"'])('may be %s', (value) => {
    const tree = { keys: { v: { watch: 'v' } } };
    for (const body of [`{"v":${value}}`, `{"v": ${value} ,"w":0}`, `[0,{"v":\n${value}\n}]`]) {
      expect(readOne('json', tree, body).ranges.map(({ text }) => text)).toEqual([value]);
    }
  });

  it('may be the whole message', () => {
    expect(readOne('json', { watch: 'all' }, ' 12 ').ranges).toEqual([{ name: 'all', path: '', text: '12' }]);
    expect(readOne('json', { watch: 'all' }, '{"a":1}').ranges).toEqual([{ name: 'all', path: '', text: '{"a":1}' }]);
  });

  it('may be a cut string: its quotes and nothing between', () => {
    const tree = { keys: { v: { watch: 'v', slot: 's' } } };
    expect(readOne('json', tree, `{"v":"${DATA}"}`).ranges).toEqual([{ name: 'v', path: 'v', text: '""' }]);
  });
});

describe('what is captured', () => {
  it.each([
    ...['1', '"a-1"', '1e400', '12345678901234567890', 'null', 'true'].map((id) => [id, id]),
    ['-0', '0'],
    ['"\\u00e9é"', '"éé"'],
  ])('has its text, spelled as JSON.stringify does: %s', (id, plain) => {
    const message = readOne('json', TREE, `{"method":"tools\\/call","id":${id},"params":{"progressToken":${id}}}`);
    expect(message.captures).toEqual({ method: '"tools/call"', id: plain, token: plain });
  });

  it('is a scalar', () => {
    expect(readOne('json', TREE, '{"id":{"id":1},"method":["x"]}').captures).toEqual({});
  });

  it('is left out when it is longer than 1 KiB', () => {
    const of = (length: number) => `{"id":"${'x'.repeat(length - 2)}"}`;
    expect(readOne('json', TREE, of(1024)).captures.id).toHaveLength(1024);
    expect(readOne('json', TREE, of(1025)).captures).toEqual({});
  });
});

describe('a batch', () => {
  it('has every element matched from the root', () => {
    const body = `[${result(`{"data":"${DATA}"}`)}, {"id":"b"},[{"id":3}]]`;
    const message = readOne('json', TREE, body);
    expect(message.slots.map(({ path }) => path)).toEqual(['0/result/content/0/data']);
    expect(message.ranges.filter(({ name }) => name === 'id').map(({ path, text }) => [path, text])).toEqual([
      ['0/id', '1'],
      ['1/id', '"b"'],
    ]);
    expect(message.whole).toBe(body);
  });
});

describe.each(['json', 'sse', 'lines'] as const)('everything outside of the tree, as %s,', (kind: Kind) => {
  const wrap = (json: string) => ({ json, sse: `data: ${json}\n\n`, lines: `${json}\n` })[kind];

  it.each([
    ['exotic numbers', '{"a":1e400,"b":-0,"c":123456789012345678901234567890,"d":1E+2,"e":0.10,"id":-0.0e-0}'],
    ['a huge literal', `{"n":1${'0'.repeat(300)}.5}`],
    ['duplicates in order', '{"x":1,"y":2,"x":3}'],
    ['prototype keys', '{"__proto__":{"a":1},"constructor":1,"hasOwnProperty":2}'],
    ['every escape', '{"s":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\uFFFF\\u00Af"}'],
    ['lone surrogates', '{"s":"\\ud800","\\udfff":1}'],
    ['line separators', '{"s":"\u2028\u2029\u0085\u007f"}'],
    ['emoji', `{"s":"${'\u{1f600}'.repeat(20)}"}`],
    ['whitespace', '{ "a" :\t[ 1 , 2 ] , "b" : { } , "c" : [ ] }'],
    [
      'strings around the length that is scanned in words',
      `["${'a'.repeat(11)}","${'b'.repeat(12)}","${'c'.repeat(13)}","${'d'.repeat(47)}é"]`,
    ],
  ])('keeps its bytes: %s', (_, json) => {
    const message = readOne(kind, TREE, wrap(json));
    expect([message.whole, message.malformed]).toEqual([Buffer.from(json).toString('latin1'), undefined]);
  });
});

describe('a long key of the tree', () => {
  const key = 'é'.repeat(3000);
  const tree: WatchNode = { keys: { [key]: { watch: 'wanted' }, short: { watch: 'short' } } };

  it.each([
    ['as it is', key],
    ['with each character escaped', '\\u00e9'.repeat(3000)],
  ])('is found however it is cut into chunks: %s', (_, written) => {
    const text = Buffer.from(`{"short":1,"${written}x":2,"${written}":3,"x${written.slice(1)}":4}`);
    for (const size of [1, 7, 1000, 4096, text.length]) {
      const [message] = readChunks('json', tree, chunked(text, size)).messages;
      expect(message?.ranges.map(({ name, text }) => [name, text])).toEqual([
        ['short', '1'],
        ['wanted', '3'],
      ]);
    }
  });
});
