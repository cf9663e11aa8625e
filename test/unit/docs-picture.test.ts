import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const svg = readFileSync(join(import.meta.dirname, '../../../docs/how-it-works.svg'), 'utf8');

/** The colour that a class of the picture is filled with. */
function fill(name: string): string {
  const found = new RegExp(`\\.${name} \\{[^}]*fill: (#[0-9a-f]{6})`).exec(svg)?.[1];
  if (found === undefined) throw new Error(`.${name} has no fill`);
  return found;
}

/** WCAG's relative luminance. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

describe('the picture of the README', () => {
  // a page may be dark while its reader's system is light, so the picture cannot follow either
  it('brings its own ground, so that it is the same on a dark page and on a light one (U19)', () => {
    expect(svg).toMatch(/<rect class="ground" x="0.5" y="0.5" width="959" height="419"/);
    expect(svg).toContain('viewBox="0 0 960 420"');
    expect(svg).not.toContain('prefers-color-scheme');
  });

  it.each(['title', 'lane', 'note'])('writes its %s texts so that they can be read on every ground (U19)', (name) => {
    for (const ground of ['ground', 'box', 'wharf']) {
      const [light, dark] = [luminance(fill(ground)), luminance(fill(name))];
      // 7:1 is WCAG's level AAA
      expect((light + 0.05) / (dark + 0.05)).toBeGreaterThan(7);
    }
  });
});
