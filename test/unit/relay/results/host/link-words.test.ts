import { describe, expect, it } from '@jest/globals';
import type { Limits } from '../../../../../gateway/policy/limits.js';
import type { ShownText } from '../../../../../gateway/ports/host.js';
import type { JsonObject } from '../../../../../gateway/ports/json.js';
import { Room } from '../../../../../gateway/relay/client/room.js';
import { LinkWords, type Telling } from '../../../../../gateway/relay/results/host/link-words.js';

const link = (index: number, rest: JsonObject = {}): JsonObject => ({
  type: 'resource_link',
  uri: `doc://r/${index}`,
  name: 'report',
  ...rest,
});
const links = (count: number, rest?: JsonObject) => Array.from({ length: count }, (_, index) => link(index, rest));

interface Given {
  texts?: string[];
  room?: number;
  files?: number;
  limit?: ShownText;
  telling?: Telling;
}

function toldIn(content: readonly JsonObject[], given: Given = {}): string[] {
  return tellerOf(given)(content);
}

function tellerOf({ texts = [], room = 1_000_000, files = 100, limit, telling = 'before' }: Given) {
  const context = { links: [], uses: undefined, limits: { files } as Limits, room: new Room(room, 0) };
  const words = new LinkWords(context);
  return (content: readonly JsonObject[]) => {
    const blocks = content.map((block, index) => ({ path: ['result', 'content', index], block }));
    return [...words.of(blocks, telling, { texts, limit }).values()];
  };
}

describe('the words for links', () => {
  it('are for as many links of a message as it may have files, whatever results they are in', () => {
    const tell = tellerOf({ files: 3 });
    expect(tell(links(2))).toHaveLength(2);
    expect(tell(links(3))).toEqual([
      'Link to a resource: report\ndoc://r/0\n',
      '2 more links of this result have no room here.\n',
    ]);
  });

  it('never make a message longer than it may be', () => {
    const whole = toldIn(links(10)).length;
    const some = toldIn(links(10), { room: 500 });
    expect([whole, some.length]).toEqual([10, 3]);
    expect(toldIn(links(10), { room: 100 })).toEqual([]);
    expect(toldIn([link(0, { annotations: { a: 'x'.repeat(500) } })], { room: 500 })).toEqual([]);
  });

  it('take at most 32 KiB of a result', () => {
    const told = toldIn(links(1000, { description: 'd'.repeat(250) }), { files: 10_000, room: 10_000_000 });
    const length = Buffer.byteLength(told.join(''));
    expect([length > 30_000, length <= 32 * 1024 + 100]).toEqual([true, true]);
    expect(told.at(-1)).toBe(`${1000 - told.length + 1} more links of this result have no room here.\n`);
  });

  it.each<[string, ShownText, number]>([
    ['half of the bytes', { most: 1000, unit: 'bytes', per: 'result' }, 13],
    ['half of the lines', { most: 100_000, unit: 'bytes', per: 'result', lines: 40 }, 6],
    ['all, where each text has a limit of its own', { most: 1000, unit: 'bytes', per: 'block' }, 50],
  ])('take of what a host shows of a result %s', (_what, limit, count) => {
    const told = toldIn(links(50), { limit });
    expect(told.filter((text) => text.startsWith('Link'))).toHaveLength(count);
  });

  it('say how many links have no room, if it is one', () => {
    expect(toldIn(links(3), { files: 2 }).at(-1)).toBe('One more link of this result has no room here.\n');
  });

  it('are left out where a text says it, as long as the texts are not too long to be searched for each link', () => {
    const texts = ['see doc://r/1', 'x'.repeat(100)];
    expect(toldIn(links(2), { texts })).toEqual(['Link to a resource: report\ndoc://r/0\n']);
    expect(toldIn(links(2), { texts: [...texts, 'x'.repeat(5_000_000)] })).toHaveLength(2);
  });

  it('are empty for a link that goes, where none may stay: never for the first block', () => {
    const [first, second] = links(2) as [JsonObject, JsonObject];
    const telling = 'instead';
    expect(toldIn(links(4), { telling, files: 1 })).toEqual([
      'Link to a resource: report\ndoc://r/0\n',
      '',
      '',
      '3 more links of this result have no room here.\n',
    ]);
    expect(toldIn([first, { ...first }, second], { telling, texts: ['doc://r/0 doc://r/1'] })).toEqual([
      'Link to a resource: report\ndoc://r/0\n',
      '',
      '',
    ]);
    // words that are no longer than the block need no room
    const long = { ...first, _meta: { a: 'x'.repeat(300) } };
    expect(toldIn([long], { telling, room: 0 })).toHaveLength(1);
  });
});
