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
    [
      'what joins emoji',
      '👩🏽\u200d🚀 👩\u200d❤\ufe0f\u200d👩 1\ufe0f\u20e3',
      '👩🏽\u200d🚀 👩\u200d❤\ufe0f\u200d👩 1\ufe0f\u20e3',
    ],
    ['what parts letters that join', 'می\u200cخواهم نامه\u200cها ه\u200d.ش', 'می\u200cخواهم نامه\u200cها ه\u200d.ش'],
    ['what joins letters', 'क्\u200dष র\u200d্য ශ්\u200dරී അവന്\u200d', 'क्\u200dष র\u200d্য ශ්\u200dරී അവന്\u200d'],
    ['joiners that join nothing', 'a\u200cb \u200d🚀\u200d x\ufe0f 1\ufe0f م\u200c م\u200da', 'ab 🚀 x 1 م مa'],
    [
      'joiners in a row, or behind what is hidden',
      'م\u200c\u200cم\u061c\u200cم 🚀\u200d\u200d🚀❤\ufe0f\ufe0f ه\u200d\u200d',
      'ممم 🚀🚀❤\ufe0f ه',
    ],
    ['an emoji that is cut off', `${'x'.repeat(253)}👩\u200d🚀${'x'.repeat(9)}`, `${'x'.repeat(253)}👩…`],
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
    ['doc://r/می\u200cخواهم', true],
    ['doc://r/\u200cخواهم', false],
  ])('has nothing hidden in it: %j is %s', (given, isSo) => {
    expect(isPlain(given)).toBe(isSo);
  });
});
