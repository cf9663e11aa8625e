import { describe, expect, it } from '@jest/globals';
import { WireError } from '../../../../gateway/wire/errors.js';
import { createReader, type HeldMessage } from '../../../../gateway/wire/json/reader.js';
import { compileWatchTree } from '../../../../gateway/wire/json/watch-tree.js';
import { chunked } from '../../../helpers/chunked.js';
import { read, readChunks } from '../record.js';

const TREE = { keys: { id: { capture: 'id' }, data: { slot: 'data' } } };
const DATA = 'QUJDREVGR0hJSktM'.repeat(100);

describe('maxHeld', () => {
  it('is the bytes that one message may hold', () => {
    const body = `{"a":"${'x'.repeat(92)}"}`;
    expect(read('json', TREE, body, { maxHeld: 100 })).toMatchObject({ error: undefined });
    expect(read('json', TREE, body, { maxHeld: 99 })).toMatchObject({ error: 'held', messages: [] });
  });

  it('does not count the bytes of cut strings, and no string that may become one', () => {
    const body = `{"data":"${DATA}"}`;
    expect(read('json', TREE, body, { maxHeld: 300, slotMin: 1000 })).toMatchObject({ error: undefined });
    expect(read('json', TREE, body, { maxHeld: 300, slotMin: 10_000 })).toMatchObject({ error: 'held' });
  });

  it('counts what is noted beside a message beyond 300 places', () => {
    const of = (places: number) => `[${'{},'.repeat(places - 1)}{}]`;
    const tree = { watch: 'each' };
    expect(read('json', tree, of(300), { maxHeld: of(300).length })).toMatchObject({ error: undefined });
    expect(read('json', tree, of(301), { maxHeld: of(301).length + 200 })).toMatchObject({ error: undefined });
    expect(read('json', tree, of(301), { maxHeld: of(301).length + 199 })).toMatchObject({
      error: 'held',
      messages: [],
    });
    expect(read('json', {}, of(301), { maxHeld: of(301).length })).toMatchObject({ error: undefined });
  });

  it('counts places in which a key is repeated, and the keys on the way to a slot', () => {
    const free = 300 * 200;
    // ten repetitions of a key are noted
    const repeated = `{${'"id":1,'.repeat(399)}"id":1}`;
    const most = repeated.length + (400 + 10) * 200 - free;
    expect(read('json', TREE, repeated, { maxHeld: most })).toMatchObject({ error: undefined });
    expect(read('json', TREE, repeated, { maxHeld: most - 1 })).toMatchObject({ error: 'held' });
    const far = { others: { keys: { data: { slot: 'data' } } } };
    const long = `{"${'k'.repeat(70_000)}":{"data":"${DATA}"}}`;
    const held = long.length - DATA.length + 70_204 - free;
    expect(read('json', far, long, { maxHeld: held, slotMin: 100 })).toMatchObject({ error: undefined });
    expect(read('json', far, long, { maxHeld: held - 1, slotMin: 100 })).toMatchObject({ error: 'held' });
  });

  it('holds for a malformed message, too', () => {
    expect(read('json', TREE, `{]${'x'.repeat(100)}`, { maxHeld: 100 })).toMatchObject({ error: 'held' });
  });

  it('is each message anew', () => {
    const { messages, error } = read('lines', TREE, `{"a":"${'x'.repeat(80)}"}\n`.repeat(5), { maxHeld: 100 });
    expect([messages.length, error]).toEqual([5, undefined]);
  });
});

describe('maxDepth', () => {
  it('is the containers that may be open', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    expect(read('json', TREE, nested(20), { maxDepth: 20 })).toMatchObject({ error: undefined });
    expect(read('json', TREE, nested(21), { maxDepth: 20 })).toMatchObject({ error: 'depth' });
  });

  it('may be very high: there is no recursion', () => {
    const nested = Buffer.from(`${'{"a":['.repeat(100_000)}${']}'.repeat(100_000)}`);
    for (const size of [1000, nested.length]) {
      const { messages } = readChunks('json', { deep: 'x' }, chunked(nested, size), { maxDepth: 200_000 });
      expect(messages.map(({ malformed, whole }) => [malformed, whole.length])).toEqual([[undefined, nested.length]]);
    }
  });
});

describe('a passed limit', () => {
  it('can be the message’s alone, when it is discarded', () => {
    const failures: string[] = [];
    const { messages, error } = read('lines', TREE, `{"a":"${'x'.repeat(400)}","data":"${DATA}","id":1}\n{"id":2}\n`, {
      maxHeld: 300,
      handler: {
        limit: (failure, message) => {
          failures.push(failure.code);
          message.discard();
        },
      },
    });
    expect(error).toBeUndefined();
    expect(new Set(failures)).toEqual(new Set(['held']));
    expect(messages.map(({ captures, slots, whole }) => ({ captures, slots, whole }))).toEqual([
      { captures: { id: '1' }, slots: [], whole: '' },
      { captures: { id: '2' }, slots: [], whole: '{"id":2}' },
    ]);
  });

  it('of depth leaves the rest of a discarded message unread', () => {
    const { messages, error } = read('lines', TREE, `{"id":1,"x":[[[[]]]],"data":"${DATA}"}\n{"id":2}\n`, {
      maxDepth: 3,
      handler: { limit: (_, message) => message.discard() },
    });
    expect(error).toBeUndefined();
    expect(messages.map(({ captures, malformed }) => [captures, malformed !== undefined])).toEqual([
      [{ id: '1' }, true],
      [{ id: '2' }, false],
    ]);
  });

  it('is final otherwise: nothing is read after it', () => {
    const reader = createReader('json', {
      tree: compileWatchTree({}),
      maxHeld: 10,
      maxDepth: 10,
      slotMin: 0,
      handler: { slot: () => ({ write: () => {}, end: () => {} }), message: () => {} },
    });
    expect(() => reader.feed(Buffer.from('"a long enough string"'))).toThrow(WireError);
    expect(() => reader.feed(Buffer.from('1'))).toThrow(expect.objectContaining({ code: 'closed' }));
    expect(() => reader.end()).not.toThrow();
  });
});

describe('held', () => {
  function account(body: string, size: number, after?: (message: HeldMessage) => void) {
    let now = 0;
    let peak = 0;
    const ends: number[] = [];
    readChunks('lines', TREE, chunked(Buffer.from(body), size), {
      slotMin: 100,
      handler: {
        held: (delta) => {
          now += delta;
          peak = Math.max(peak, now);
        },
        message: (message) => {
          ends.push(now);
          after?.(message);
        },
      },
    });
    return { now, peak, ends };
  }

  it.each([1, 7, 100_000])('comes to nothing once every message is discarded (chunks of %i)', (size) => {
    const body = `{"id":1,"data":"${DATA}"}\n{"data":"short","id":"x"}\n{"malformed\n`;
    expect(account(body, size, (message) => message.discard()).now).toBe(0);
  });

  it('is the bytes held, and what is recorded', () => {
    const line = '{"data":"short","x":1}';
    expect(account(`${line}\n`, 1).ends).toEqual([line.length]);
  });

  it.each([1, 7])('never comes to the size of a cut string (chunks of %i)', (size) => {
    expect(account(`{"data":"${DATA}"}\n`, size).peak).toBeLessThan(100 + 10 + 300);
  });

  it('comes to nothing when a message is discarded while a string may still become a cut', () => {
    let now = 0;
    let current: HeldMessage | undefined;
    const reader = createReader('json', {
      tree: compileWatchTree(TREE),
      maxHeld: 1000,
      maxDepth: 10,
      slotMin: 100,
      handler: {
        slot: () => ({ write: () => {}, end: () => {} }),
        message: () => {},
        held: (delta, message) => {
          now += delta;
          current = message;
        },
      },
    });
    reader.feed(Buffer.from('{"data":"QUJD'));
    expect(now).toBeGreaterThan(0);
    current?.discard();
    expect(now).toBe(0);
    reader.feed(Buffer.from(`${DATA}","data":"QUJD"}`));
    reader.end();
    expect(now).toBe(0);
  });

  it('may throw, and what it throws comes out', () => {
    const fault = new Error('no room');
    const read = () =>
      readChunks('json', TREE, chunked(Buffer.from('{"a":1}'), 3), {
        handler: {
          held: () => {
            throw fault;
          },
        },
      });
    expect(read).toThrow(fault);
  });
});

describe('a discarded message', () => {
  it('reports no slot and no watch, and its sink is left where it was', () => {
    const body = `{"data":"${DATA}","data":"${DATA}","id":7}`;
    for (const size of [1, 7, 64]) {
      let written = 0;
      let slots = 0;
      const { messages } = readChunks('json', { ...TREE, watch: 'all' }, chunked(Buffer.from(body), size), {
        handler: {
          slot: (_, message) => {
            slots++;
            return {
              write: (_chunk, start, end) => {
                written += end - start;
                if (written > 50) message.discard();
              },
              end: () => {
                throw new Error('must not end');
              },
            };
          },
          message: (message) => {
            expect(message.captured('id')).toBe('7');
            expect([message.size, message.discarded, message.ranges, message.slots[0]?.complete]).toEqual([
              0,
              true,
              [],
              false,
            ]);
          },
        },
      });
      expect([messages, slots]).toEqual([[], 1]);
      expect(written).toBeLessThan(50 + 65);
    }
  });

  it('captures no more than a bounded number of values', () => {
    const body = `[${Array(5000).fill('{"id":1}').join(',')}]`;
    let captures = 0;
    readChunks('json', TREE, [Buffer.from(body)], {
      maxHeld: 1000,
      handler: {
        limit: (_, message) => message.discard(),
        message: (message) => {
          captures = message.captures.length;
          expect(message.overlong).toEqual(['id']);
        },
      },
    });
    expect(captures).toBe(1000);
  });

  it('keeps the very capture that passes the limit', () => {
    const seen: (string | undefined)[] = [];
    for (let maxHeld = 0; maxHeld < 300; maxHeld += 10) {
      readChunks('json', TREE, [Buffer.from('{"a":1,"id":7}')], {
        maxHeld,
        handler: {
          limit: (_, message) => message.discard(),
          message: (message) => seen.push(message.captured('id')),
        },
      });
    }
    expect(seen).toEqual(Array(30).fill('7'));
  });
});
