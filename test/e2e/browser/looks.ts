import { expect } from '@jest/globals';
import { faults, picture, type Watched } from './lab.js';

/** What a page is looked at as; the window is that of a desk where nothing else is said. */
export const LOOKS = {
  light: { width: 900, height: 900 },
  dark: { width: 900, height: 900, colorScheme: 'dark' },
  phone: { width: 390, height: 844 },
  'phone-dark': { width: 390, height: 844, colorScheme: 'dark' },
  // 1280 pixels at 400 %
  zoomed: { width: 320, height: 256 },
  forced: { width: 900, height: 900, forcedColors: 'active' },
} as const;

/** Those of which every page has a picture. */
const PICTURED: readonly string[] = ['light', 'dark', 'phone', 'phone-dark'];

const shot = (name: string, kind: string) => `test/e2e/screenshots/${name}-${kind}.png`;

/** Expects that everybody can use a page, however it is looked at. @param also further looks to take a picture of */
export async function look(watched: Watched, name: string, also: readonly string[] = []): Promise<void> {
  const { page } = watched;
  for (const [kind, { width, height, ...media }] of Object.entries(LOOKS)) {
    await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none', reducedMotion: 'reduce', ...media });
    await page.setViewportSize({ width, height });
    expect([name, kind, await faults(watched)]).toEqual([name, kind, []]);
    // what does not fit is read line by line, and never from side to side
    expect([name, kind, await page.evaluate<number>('document.documentElement.scrollWidth')]).toEqual([
      name,
      kind,
      width,
    ]);
    expect(await page.title()).toMatch(/^\S.* · Wharf$/);
    expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
    if (PICTURED.includes(kind) || also.includes(kind)) await picture(watched, shot(name, kind));
  }
  await page.emulateMedia({ colorScheme: 'light', forcedColors: 'none', reducedMotion: 'reduce' });
  await page.setViewportSize(LOOKS.light);
}
