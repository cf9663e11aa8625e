import { afterEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { beginStep } from '../../../../gateway/budget/turn.js';
import { nestedJson, TOO_LARGE } from '../../../../gateway/relay/cut/nested-json.js';
import { runs } from '../../../helpers/effort.js';

const LIMITS = { depth: 20, values: 1000 };

/** A text as the JSON string around it spells it, in pieces of this size. */
function raw(text: string, size = text.length + 1): Buffer[] {
  const bytes = Buffer.from(JSON.stringify(text).slice(1, -1));
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return pieces;
}

/** Every character escaped, as a hostile writer may. */
function escaped(text: string): string {
  return [...text]
    .flatMap((char) => [...Array(char.length).keys()].map((at) => char.charCodeAt(at)))
    .map((code) => `\\u${code.toString(16).padStart(4, '0')}`)
    .join('');
}

/** A value without its numbers and the like. */
const shape = (value: unknown): unknown => {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(shape);
  if (typeof value !== 'object' || value === null) return null;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shape(inner)]));
};

describe('a text that is JSON in a JSON string', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('is read through both levels of escapes, in any pieces', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.jsonValue({ maxDepth: 4 }).filter((value) => typeof value === 'object' && value !== null),
        fc.integer({ min: 1, max: 9 }),
        fc.boolean(),
        async (value, size, isEscaped) => {
          const plain = JSON.stringify(value, null, isEscaped ? 1 : 0);
          const expected = shape(JSON.parse(plain));
          expect(await nestedJson(raw(plain, size), LIMITS, {})).toEqual(expected);
          const hidden = escaped(plain);
          const pieces = Array.from({ length: Math.ceil(hidden.length / size) }, (_, at) =>
            Buffer.from(hidden.slice(at * size, (at + 1) * size)),
          );
          expect(await nestedJson(pieces, LIMITS, {})).toEqual(expected);
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it.each([
    ['line breaks', '\n'],
    ['backslashes', '\\'],
    ['quotes', '"'],
    ['control characters', '\u0001'],
    ['characters beyond two bytes', '\u{1f600}'],
    ['halves of them', '\ud83d'],
    ['plain letters', 'x'],
  ])('may have %s for many steps, in a value and in a key', async (_, char) => {
    for (const shift of ['', 'a', 'ab', 'abc', 'abcd']) {
      const long = shift + char.repeat(140_000);
      const value = { mimeType: 'image/png', [long]: [long, { data: long }] };
      expect(await nestedJson(raw(JSON.stringify(value)), LIMITS, {})).toEqual(value);
    }
  });

  it.each([
    ['more', '{} {}'],
    ['many more', '[]'.repeat(100_000)],
    ['less', '{"a":"b'],
    ['nothing', ' '],
    ['no JSON', '{"a":b}'],
    ['an escape that JSON lacks', '{"a":"\\x"}'],
    ['a raw line break', '{"a":"\n"}'],
    ['a comma too many', '[1,]'],
    ['other words behind it', '[1] x'],
  ])('is none where it is %s than a value', async (_, text) => {
    expect(await nestedJson(raw(text), LIMITS, {})).toBeUndefined();
  });

  it.each(['\\', '\\u00', '\\x'])('is none where the string around it ends with %j', async (end) => {
    expect(await nestedJson([Buffer.from(`[1]${end}`)], LIMITS, {})).toBeUndefined();
  });

  it('is read up to the limits of depth and values', async () => {
    const deep = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    const wide = (values: number) =>
      `[${Array(values - 1)
        .fill('1')
        .join(',')}]`;
    expect(await nestedJson(raw(deep(20)), LIMITS, {})).toBeDefined();
    expect(await nestedJson(raw(deep(21)), LIMITS, {})).toBe(TOO_LARGE);
    expect(await nestedJson(raw(wide(1000)), LIMITS, {})).toBeDefined();
    expect(await nestedJson(raw(wide(1002)), LIMITS, {})).toBe(TOO_LARGE);
  });

  it('keeps a member named __proto__, and of two equal keys the last', async () => {
    const value = await nestedJson(raw('{"__proto__":{"a":"b"},"c":"d","\\u0063":"e"}'), LIMITS, {});
    expect(Object.keys(value as object)).toEqual(['__proto__', 'c']);
    expect((value as { c: string }).c).toBe('e');
  });

  it('is read when its caller has a turn, and not when another has', async () => {
    const [ann, bob] = [{ principal: 'ann' }, { principal: 'bob' }];
    let now = performance.now();
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    beginStep(bob);
    beginStep(ann);
    // more than ann's share
    now += 5;
    const read: string[] = [];
    await Promise.all(
      [ann, bob].map(async (owner) => {
        await nestedJson(raw('["a"]'), LIMITS, owner);
        read.push(owner.principal);
      }),
    );
    expect(read).toEqual(['bob', 'ann']);
  });
});
