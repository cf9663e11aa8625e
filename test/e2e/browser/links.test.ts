import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { openBrowser, openWholeBrowser } from './chromium.js';
import { close, open, tab, type Watched } from './lab.js';
import { hostile, pdf, pictures, RED, type Sample, SIZE, wav, webm } from './link-files.js';
import { look } from './looks.js';

/** Milliseconds until a browser has shown what it shows. */
const PATIENCE_MS = 30_000;

/** Hostile files that are shown all the same. */
const SEEN = new Set(['a PDF with a script', 'a PDF with an address that is a script']);

/** Small, since what is in it is looked at dot by dot. */
const WINDOW = { viewport: { width: 480, height: 360 } };

/** Sizes of what stays in a result: nothing. */
const LIMITS = { inlineImage: 1, inlineOther: 1 };

let browser: Browser;
/** The one for PDFs. */
let whole: Browser;
let upstream: RecordingUpstream;
/** What the tool gives, by name. */
const files: Record<string, Sample> = {};
/** Calls that a file has made. */
const calls: string[] = [];
const wharfs: Record<string, { wharf: Wharf; client: RawClient }> = {};
let page: Page | undefined;
/** Where another page comes after a hostile one, in each browser. */
const besides = new Map<Browser, Page>();

beforeAll(async () => {
  [browser, whole] = await Promise.all([openBrowser(), openWholeBrowser()]);
  for (const each of [browser, whole]) besides.set(each, await tab(each, WINDOW));
  upstream = await RecordingUpstream.start({
    tools: [{ name: 'get', inputSchema: { type: 'object' } }],
    methods: {
      'tools/call': ({ arguments: { name } = {} as never }: { arguments?: { name: string } }) => {
        const { mimeType, bytes } = files[name] as Sample;
        const resource = { uri: 'file:///report', mimeType, blob: bytes.toString('base64') };
        return { content: [{ type: 'resource', resource }] };
      },
    },
    http: ({ url = '' }) => {
      if (url.startsWith('/control')) {
        const { bytes } = hostile(`${upstream.origin}/beacon/control`)['a page'] as Sample;
        return { status: 200, headers: { 'content-type': 'text/html' }, body: bytes };
      }
      calls.push(url);
      return { status: 200, headers: { 'content-type': 'text/plain' }, body: Buffer.alloc(0) };
    },
  });
  const words = Buffer.from('Grüße, 世界\n'.repeat(100));
  Object.assign(files, await pictures(), hostile(`${upstream.origin}/beacon`), {
    pdf: { mimeType: 'application/pdf', bytes: pdf() },
    text: { mimeType: 'text/plain', bytes: words },
    'old text': { mimeType: 'text/plain', bytes: Buffer.from('Grüße aus Köln, mit Äpfeln\n'.repeat(100), 'latin1') },
    'wide text': { mimeType: 'text/plain', bytes: Buffer.from(`\ufeff${words}`, 'utf16le') },
    markdown: { mimeType: 'text/markdown', bytes: words },
    film: { mimeType: 'video/webm', bytes: await webm(browser) },
    sound: { mimeType: 'audio/wav', bytes: wav() },
  });
  const servers = { docs: { url: upstream.url, transport: 'streamable-http' } };
  for (const [name, stores, style] of [
    ['Wharf’s', 'filesystem+memory', 'gateway'],
    ['Wharf’s, which leads to the store,', 's3+redis', 'gateway'],
    ['the store’s', 's3+redis', 'presigned'],
  ] as const) {
    const wharf = await startWharf({ servers, stores, config: { limits: LIMITS, links: { style } } });
    wharfs[name] = { wharf, client: await RawClient.connect(wharf.mcp) };
  }
});

afterEach(async () => {
  await close(page);
  page = undefined;
  calls.length = 0;
});

afterAll(async () => {
  await Promise.all([browser?.close(), whole?.close()]);
  for (const { wharf } of Object.values(wharfs)) await wharf.stop();
  await upstream?.stop();
});

async function linkTo(name: string, whose: string): Promise<string> {
  const { result } = await (wharfs[whose] as { client: RawClient }).client.call('get', { name });
  const [file] = ((result?._meta as Record<string, unknown>)?.['dev.wharf/files'] ?? []) as { url: string }[];
  return file?.url ?? '';
}

/** Opens an address in a tab of its own. @returns the name under which it was saved instead of being shown */
async function visit(url: string, shower = browser): Promise<string | undefined> {
  page = await tab(shower, WINDOW);
  const saved = page
    .waitForEvent('download', { timeout: PATIENCE_MS })
    .then((download) => download.suggestedFilename());
  const shown = page.goto(url, { waitUntil: 'load', timeout: PATIENCE_MS }).then(() => undefined);
  // a navigation that becomes a download fails, and a page that is shown is never downloaded
  return Promise.any([saved, shown]);
}

const ask = <T>(script: string): Promise<T> => (page as Page).evaluate<T>(script);

async function turnsTrue(isSo: () => Promise<boolean>): Promise<boolean> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; ) {
    if (await isSo()) return true;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return false;
}

/** True when a good part of what is seen is red. */
async function isRed(): Promise<boolean> {
  const { data, info } = await sharp(await (page as Page).screenshot())
    .raw()
    .toBuffer({ resolveWithObject: true });
  let count = 0;
  for (let at = 0; at < data.length; at += info.channels) {
    const near = (channel: number, wanted: number) => Math.abs((data[at + channel] as number) - wanted) < 12;
    if (near(0, RED.r) && near(1, RED.g) && near(2, RED.b)) count += 1;
  }
  return count > 10_000;
}

describe.each(['Wharf’s', 'Wharf’s, which leads to the store,', 'the store’s'])(
  'in Chromium, a link of %s',
  (whose) => {
    it.each(['png', 'jpeg', 'webp', 'gif', 'avif'])('shows a picture: %s', async (name) => {
      expect(await visit(await linkTo(name, whose))).toBeUndefined();
      expect(await ask('document.images[0].naturalWidth')).toBe(SIZE.width);
    });

    it('shows a PDF', async () => {
      expect(await visit(await linkTo('pdf', whose), whole)).toBeUndefined();
      expect(await turnsTrue(isRed)).toBe(true);
    });

    it.each(['text', 'markdown'])('shows text as UTF-8: %s', async (name) => {
      expect(await visit(await linkTo(name, whose))).toBeUndefined();
      expect(await ask<string>('document.body.innerText')).toMatch(/^Grüße, 世界\n/);
    });

    it('shows text that is not UTF-8 as what it is', async () => {
      expect(await visit(await linkTo('old text', whose))).toBeUndefined();
      expect(await ask<string>('document.body.innerText')).toMatch(/^Grüße aus Köln, mit Äpfeln\n/);
      expect(await visit(await linkTo('wide text', whose))).toBeUndefined();
      expect(await ask<string>('document.body.innerText')).toMatch(/^Grüße, 世界\n/);
    });

    it.each(['film', 'sound'])('plays a %s', async (name) => {
      expect(await visit(await linkTo(name, whose))).toBeUndefined();
      const isPlayed = 'document.querySelector("video, audio")?.readyState >= 2';
      expect(await turnsTrue(() => ask<boolean>(isPlayed))).toBe(true);
    });

    // the names of files that tests make up are known before the browser is
    it.each(Object.keys(hostile('')))('runs nothing of %s (G14)', async (name) => {
      const shower = name.includes('PDF') ? whole : browser;
      await visit(await linkTo(name, whose), shower);
      // what a PDF does when it is opened, it has done when it is seen; the rest, when another page has come
      if (SEEN.has(name)) expect(await turnsTrue(isRed)).toBe(true);
      await besides.get(shower)?.goto(`${upstream.origin}/other`);
      expect(calls.filter((url) => url !== '/other' && url !== '/favicon.ico')).toEqual([]);
    });
  },
);

it('a page that nothing holds back would have called', async () => {
  await visit(`${upstream.origin}/control`);
  expect(await turnsTrue(async () => calls.includes('/beacon/control'))).toBe(true);
});

describe('a link of Wharf’s with ?download', () => {
  it.each([
    ['png', 'png.png'],
    ['pdf', 'pdf.pdf'],
    ['text', 'text.txt'],
    ['film', 'film.webm'],
  ])('saves what it would show: %s', async (name, saved) => {
    // one that shows no PDF saves it in any case
    expect(await visit(`${await linkTo(name, 'Wharf’s')}?download`, whole)).toBe(saved);
  });

  it('saves it from the store, too', async () => {
    expect(await visit(`${await linkTo('png', 'Wharf’s, which leads to the store,')}?download`)).toBe('png.png');
  });
});

describe('everybody can use, in light and dark, on a phone and at 400 %,', () => {
  it.each([
    ['link-file-unknown', (url: string) => url.replace(/[^/]*$/, 'A'.repeat(43)), 404],
    ['link-file-expired', (url: string) => url, 410],
  ])('the page of a link that shows no file: %s', async (name, alter, status) => {
    const servers = { docs: { url: upstream.url, transport: 'streamable-http' } };
    const short = { retention: '1s', links: { ttl: '1s' } };
    const wharf = await startWharf({ servers, config: { limits: LIMITS, ...(status === 410 && short) } });
    wharfs.short = { wharf, client: await RawClient.connect(wharf.mcp) };
    const url = alter(await linkTo('text', 'short'));
    const statusOf = async () => (await fetch(url, { headers: { accept: 'text/html' } })).status;
    expect(await turnsTrue(async () => (await statusOf()) === status)).toBe(true);
    const watched: Watched = await open(browser, url);
    await look(watched, name);
    await close(watched.page);
    await wharf.stop();
    delete wharfs.short;
  });
});
