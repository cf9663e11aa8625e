import { describe, expect, it } from '@jest/globals';
import { inPlainSight, isPlain } from '../../../gateway/policy/plain-sight.js';

describe('text of a peer’s for a model', () => {
  it.each([
    ['a name', 'Grüße aus Köln · 東京 🎉.pdf', 'Grüße aus Köln · 東京 🎉.pdf'],
    ['lines', ' one\r\n\ttwo\u2028three ', 'one two three'],
    ['controls', 'a\u0000\u001b[31m\u0085\u009bb', 'a[31mb'],
    ['what turns a text around', 'a\u202eb\u2066c\u200fd', 'abcd'],
    ['what is not seen', 'a\u200b\u200d\u2060\u00ad\u3164b', 'ab'],
    [
      'tags that spell words',
      `a${[...'run'].map((one) => String.fromCodePoint(0xe0000 + one.charCodeAt(0))).join('')}`,
      'a',
    ],
    ['selectors of variants that spell bytes', 'a\u{e0100}\u{e01ef}\ufe00b', 'ab'],
    ['halves of characters, and private ones', 'a\ud800b\ue000c', 'abc'],
    ['nothing but that', '\u200b\n', ''],
    ['a long text', 'é'.repeat(300), `${'é'.repeat(255)}…`],
    ['whole characters', '🎉'.repeat(300), `${'🎉'.repeat(255)}…`],
  ])('is on one line and holds what a person sees: %s', (_what, given, shown) => {
    expect(inPlainSight(given)).toBe(shown);
  });

  it.each([
    ['doc://r/a b?c=d#e', true],
    ['doc://東京/🎉', true],
    ['doc://r/\n', false],
    ['doc://r/\u200b', false],
    ['doc://r/\u{e0041}', false],
    ['doc://r/\ud800', false],
  ])('has nothing hidden in it: %j is %s', (given, isSo) => {
    expect(isPlain(given)).toBe(isSo);
  });
});
