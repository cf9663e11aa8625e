import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, CDPSession, Page } from 'playwright-core';
import sharp from 'sharp';
import { ROOT } from '../../helpers/tree-copy.js';

/**
 * What of the machine's network is let through while something must be seen under way: bytes a second. So few that what
 * follows finds it under way for ten seconds more: a browser that is told another rate lets what it has begun go at once.
 */
export const SLOW = 150_000;
/** Where nothing of it need arrive. */
export const CRAWL = 40_000;

const AXE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Pixels around what a picture shows. */
const MARGIN = 24;

/** WCAG 2.2 up to AA, and what is good practice besides. */
const AXE_TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** A page and whatever it complained of: its policy's reports and its script's errors among it. */
export interface Watched {
  page: Page;
  cdp: CDPSession;
  complaints: string[];
}

/** A browser's windows by what they are opened with: a new one takes a second of a processor, a tab a third of that. */
const WINDOWS = new WeakMap<Browser, Map<string, Promise<BrowserContext>>>();

function windowOf(browser: Browser, options: BrowserContextOptions): Promise<BrowserContext> {
  const windows = WINDOWS.get(browser) ?? new Map<string, Promise<BrowserContext>>();
  WINDOWS.set(browser, windows);
  const key = JSON.stringify(options);
  const window = windows.get(key) ?? newWindow(browser, options);
  windows.set(key, window);
  return window;
}

async function newWindow(browser: Browser, options: BrowserContextOptions): Promise<BrowserContext> {
  const window = await browser.newContext(options);
  // it stays when its other tabs are closed
  await window.newPage();
  return window;
}

/** Opens a tab in a window with these options. What a page keeps goes with `close`, before the next one comes. */
export async function tab(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  return (await windowOf(browser, options)).newPage();
}

/** Closes a tab, and takes away what its pages have kept. */
export async function close(page: Page | undefined): Promise<void> {
  if (page === undefined || page.isClosed()) return;
  const { origin } = new URL(page.url());
  const cdp = await page.context().newCDPSession(page);
  if (origin !== 'null') await cdp.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
  await page.context().clearCookies();
  await page.close();
}

/** Opens an address in a tab of its own. */
export async function open(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Watched> {
  const page = await tab(browser, { viewport: { width: 900, height: 900 }, ...options });
  const complaints: string[] = [];
  page.on('console', (message) => {
    // a closed link, and a network that a test takes away, are no faults of the page
    const isAnswer = /^Failed to load resource: (?:the server responded with a status of [45]|net::ERR_)/.test(
      message.text(),
    );
    if (['error', 'warning'].includes(message.type()) && !isAnswer) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  const cdp = await page.context().newCDPSession(page);
  await page.goto(url);
  return { page, cdp, complaints };
}

/** Lets so many bytes a second out of a page, or none at all. */
export function throttle({ cdp }: Watched, bytesPerSecond: number): Promise<unknown> {
  return cdp.send('Network.emulateNetworkConditions', {
    offline: bytesPerSecond === 0,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: bytesPerSecond,
  });
}

/** Whatever keeps a person from using the page as it is now, and whatever went wrong on it. */
export async function faults({ cdp, complaints }: Watched): Promise<string[]> {
  // by the debugger: the page's own policy lets no such script in
  const { result: there } = await cdp.send('Runtime.evaluate', { expression: 'typeof axe' });
  if (there.value !== 'object') await cdp.send('Runtime.evaluate', { expression: AXE });
  const { result } = await cdp.send('Runtime.evaluate', {
    expression: `axe.run(document, { runOnly: ${JSON.stringify(AXE_TAGS)} }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html, failureSummary }) => html + failureSummary)))`,
    awaitPromise: true,
    returnByValue: true,
  });
  return [...(result.value as string[]), ...complaints];
}

/** Takes a picture for people to look at, where that is wanted: `WHARF_SCREENSHOTS=1`. @param file from the root */
export async function picture({ page }: Watched, file: string): Promise<void> {
  if (process.env.WHARF_SCREENSHOTS === undefined) return;
  const size = page.viewportSize();
  const tall = (await page.locator('main').boundingBox())?.height ?? 0;
  // what does not fit into the window is of interest too
  if (size && tall + 2 * MARGIN > size.height)
    await page.setViewportSize({ width: size.width, height: Math.ceil(tall) + 4 * MARGIN });
  // and what is around the page's card is not
  const { width = 0, height = 0 } = page.viewportSize() ?? {};
  const box = await page.locator('main').boundingBox();
  const top = Math.max(0, (box?.y ?? 0) - MARGIN);
  const clip = { x: 0, y: top, width, height: Math.min(height - top, (box?.height ?? 0) + 2 * MARGIN) };
  const png = await page.screenshot({ clip, animations: 'disabled' });
  if (size) await page.setViewportSize(size);
  await sharp(png).png({ palette: true, colours: 64 }).toFile(join(ROOT, file));
}
