import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const docs = (name: string) => readFileSync(join(import.meta.dirname, '../../../docs', name), 'utf8');
const pictures = { light: docs('how-it-works.svg'), dark: docs('how-it-works-dark.svg') };

/** The colour that a class of a picture is filled with. */
function fill(svg: string, name: string): string {
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
  // a page may be dark while its reader's system is light, so no picture follows the system by itself
  it.each(Object.entries(pictures))('brings its own ground in the %s one', (_scheme, svg) => {
    expect(svg).toMatch(/<rect class="ground" x="0.5" y="0.5" width="959" height="419"/);
    expect(svg).toContain('viewBox="0 0 960 420"');
    expect(svg).not.toContain('prefers-color-scheme');
  });

  it('says and draws the same in both', () => {
    const plain = (svg: string) => svg.replace(/#[0-9a-f]{6}/g, '#');
    expect(plain(pictures.dark)).toBe(plain(pictures.light));
    expect(pictures.dark).not.toBe(pictures.light);
  });

  it('is chosen by the page that shows it', () => {
    const readme = docs('../README.md');
    expect(readme).toContain('<source media="(prefers-color-scheme: dark)" srcset="docs/how-it-works-dark.svg">');
    expect(readme).toMatch(/<img src="docs\/how-it-works\.svg" alt="[^"]{100,}">/);
  });

  it.each(['title', 'lane', 'note'])('writes its %s texts so that they can be read on every ground', (name) => {
    for (const svg of Object.values(pictures)) {
      for (const ground of ['ground', 'box', 'wharf']) {
        const [one, other] = [luminance(fill(svg, ground)), luminance(fill(svg, name))];
        // 7:1 is WCAG's level AAA
        expect((Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)).toBeGreaterThan(7);
      }
    }
  });
});
