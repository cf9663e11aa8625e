import { describe, expect, it } from '@jest/globals';
import { linesOf, shortened } from '../../../../../gateway/relay/results/host/shortened-text.js';
import { TextRoom } from '../../../../../gateway/relay/results/host/text-room.js';

const words = (length: number) => 'w'.repeat(length);

describe('the room of a result’s texts', () => {
  it('is that of each alone, where a host looks at one block at a time', () => {
    const texts = [words(9000), words(10_001), words(10_000)];
    const room = new TextRoom({ most: 10_000, unit: 'characters', per: 'block' }, texts, 0);
    expect(texts.map((text) => room.limitFor(text)?.most)).toEqual([undefined, 10_000, undefined]);
  });

  it.each<[string, number[], (number | undefined)[]]>([
    ['nothing, when all fit', [4000, 6000], [undefined, undefined]],
    ['what the short ones leave, for the long ones', [1000, 2000, 20_000], [undefined, undefined, 7000]],
    ['an equal part each, when all are long', [9000, 20_000], [5000, 5000]],
    ['never so little that a text would be longer shortened', Array(50).fill(900), Array(50).fill(undefined)],
    ['a thousand characters at least', Array(50).fill(1100), Array(50).fill(1000)],
  ])('is shared where a host joins them: %s', (_what, lengths, rooms) => {
    const texts = lengths.map(words);
    const room = new TextRoom({ most: 10_000, unit: 'characters', per: 'result' }, texts, 0);
    expect(texts.map((text) => room.limitFor(text)?.most)).toEqual(rooms);
  });

  it.each<[number, number | undefined]>([
    [0, undefined],
    [2, undefined],
    [3, 8000],
    [7, 1000],
  ])('is what %d images leave of a limit that they share', (images, most) => {
    const withImages = { most: 20_000, each: 4000 };
    const room = new TextRoom({ most: 10_000, unit: 'characters', per: 'result', withImages }, [words(9000)], images);
    expect(room.limitFor(words(9000))?.most).toBe(most);
  });

  it('counts bytes or lines where the host does', () => {
    const bytes = new TextRoom({ most: 1000, unit: 'bytes', per: 'block' }, [], 0);
    expect([bytes.limitFor('ö'.repeat(500)), bytes.limitFor('ö'.repeat(501))?.most]).toEqual([undefined, 1000]);
    const list = (lines: number) => Array.from({ length: lines }, (_, index) => `${index}`).join('\n');
    const both = [list(1500), list(400)];
    const lines = new TextRoom({ most: 50_000, unit: 'bytes', per: 'result', lines: 1000 }, both, 0);
    expect(both.map((text) => lines.limitFor(text)?.lines)).toEqual([600, undefined]);
  });
});

describe('a text that is shortened', () => {
  it.each([100, 101, 1000])('has no more lines than its host shows (%d)', (lines) => {
    const text = Array.from({ length: 5000 }, (_, index) => `line ${index}`).join('\n');
    const shown = shortened(text, { most: 1_000_000, unit: 'characters', per: 'result', lines });
    expect(linesOf(shown)).toBeLessThanOrEqual(lines);
    expect(linesOf(shown)).toBeGreaterThan(lines / 2);
    expect([shown.startsWith('line 0\n'), shown.endsWith('\nline 4999')]).toEqual([true, true]);
  });

  it.each([
    ['between words', 'See ', ' and so on.'],
    ['in Markdown', '# A picture\n\n![it](data:image/png;base64,', ')\n\nThe end.\n'],
    ['alone', '', ''],
  ])('has nothing of a file that is base64 in it: %s', (_where, before, after) => {
    const file = Buffer.from(Array.from({ length: 90_001 }, (_, at) => (at * at) % 251)).toString('base64');
    const text = `${before}${file}${after}`;
    const shown = shortened(text, { most: 10_000, unit: 'characters', per: 'block' });
    const left = `[${file.length} of ${text.length} characters are left out here; the file above has the whole text]`;
    expect(shown).toBe(`${before}\n${left}\n${after}`);
  });

  it('is cut in one line, too', () => {
    const shown = shortened(words(100_000), { most: 10_000, unit: 'characters', per: 'block', lines: 100 });
    expect(shown.length).toBeGreaterThan(7000);
    expect(shown.length).toBeLessThan(10_000);
  });
});
