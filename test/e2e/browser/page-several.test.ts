import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { UploadIntent } from '../../../gateway/files/tickets/upload-intent.js';
import { sha256Url } from '../../helpers/bytes.js';
import { noisePng } from '../../helpers/sdk-servers-bytes.js';
import { startUploadServer, type UploadServer } from '../../helpers/upload-server.js';
import { openBrowser } from './chromium.js';
import { CRAWL, close, faults, open, SLOW, throttle, type Watched } from './lab.js';

const PRINCIPAL = 'anonymous';

let browser: Browser;
let server: UploadServer;
let folder: string;
let watched: Watched;

beforeAll(async () => {
  [browser, server, folder] = await Promise.all([
    openBrowser(),
    startUploadServer({ stores: 'filesystem+memory' }),
    mkdtemp(join(tmpdir(), 'wharf-several-')),
  ]);
});

afterEach(async () => {
  await close(watched?.page);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

const TWO_OR_THREE = { several: { least: 2, most: 3 } };

async function visit(intent: Partial<UploadIntent> = TWO_OR_THREE, options: BrowserContextOptions = {}) {
  const { url, uri, ticket } = await server.authorize(intent);
  watched = await open(browser, url, options);
  return { page: watched.page, url, uri, ticket };
}

const fileOf = (text: string | Buffer, name: string, mimeType = 'text/plain') => ({
  name,
  mimeType,
  buffer: Buffer.from(text),
});
const BIG = fileOf(Buffer.alloc(2_000_000, 'wharf'), 'big.bin', 'application/octet-stream');

const pick = (files: ReturnType<typeof fileOf>[]) => watched.page.locator('#file').setInputFiles(files);
const press = (name: RegExp | string) => watched.page.getByRole('button', { name }).click();
const heading = (name: string) => watched.page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
const row = (name: string) => watched.page.getByRole('listitem').filter({ hasText: name });
const arrived = (name: string) =>
  row(name)
    .getByText(/ · Uploaded$/)
    .waitFor();
const done = () => watched.page.getByRole('button', { name: 'Done' });

/** Digests of the files that a handle stands for, in order; undefined before they are given. */
async function given(uri: string): Promise<(string | undefined)[] | undefined> {
  const found = await server.library.bundles.resolve(uri, PRINCIPAL);
  if (found.kind !== 'ready') return undefined;
  return Promise.all(found.handles.map((handle) => server.digestOf(handle)));
}

const digests = (...texts: (string | Buffer)[]) => texts.map((text) => sha256Url(Buffer.from(text)));

async function drop(page: Page, names: readonly string[]): Promise<void> {
  await page.evaluate(`{
    const dataTransfer = new DataTransfer();
    for (const name of ${JSON.stringify(names)}) dataTransfer.items.add(new File([name], name));
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true }));
  }`);
}

describe('a page that takes several files', () => {
  it('takes two that are picked, and gives them in the order of its list when it is told that they are all', async () => {
    const before = await server.keys();
    const { page, uri } = await visit();
    expect(await page.locator('dl').first().textContent()).toContain('Number of files2 to 3 files');
    await pick([fileOf('one', 'one.txt'), fileOf('two', 'two.txt')]);
    expect(await page.locator('#all p').textContent()).toBe('0 of at least 2 files have arrived.');
    expect(await done().isVisible()).toBe(false);
    expect(await server.keys()).toEqual(before);
    expect(await faults(watched)).toEqual([]);
    // the button has the focus
    await page.keyboard.press('Enter');
    await done().waitFor();
    expect(await page.title()).toBe('Uploaded: press Done · Wharf');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Done');
    expect(await faults(watched)).toEqual([]);
    expect(await given(uri)).toBeUndefined();
    await page.keyboard.press('Enter');
    await heading('Uploaded');
    expect(await page.locator('dt bdi').allTextContents()).toEqual(['one.txt', 'two.txt']);
    expect(await given(uri)).toEqual(digests('one', 'two'));
    expect(await faults(watched)).toEqual([]);
  });

  it('gives what has arrived also after the link has expired, since it was there in time', async () => {
    const short = await startUploadServer({ stores: 'filesystem+memory', linkMs: 20_000 });
    try {
      const { url, uri } = await short.authorize(TWO_OR_THREE);
      watched = await open(browser, url);
      await pick([fileOf('one', 'one.txt'), fileOf('two', 'two.txt')]);
      await press('Upload 2 files');
      await done().waitFor();
      await watched.page.locator('#left:empty').waitFor({ state: 'attached' });
      await watched.page.waitForTimeout(3000);
      await done().click();
      await heading('Uploaded');
      expect((await short.library.bundles.resolve(uri, PRINCIPAL)).kind).toBe('ready');
    } finally {
      await short.stop();
    }
  });

  it('takes two that are dropped, and refuses a fourth by its number', async () => {
    const { page, uri } = await visit();
    await drop(page, ['a.txt', 'b.txt']);
    await drop(page, ['c.txt', 'd.txt']);
    expect(await page.getByRole('alert').textContent()).toBe(
      'This link takes at most 3 files, and with these there would be 4. Choose fewer, or remove one.',
    );
    expect(await page.evaluate('document.activeElement.id')).toBe('problem');
    expect(await faults(watched)).toEqual([]);
    await press(/^Upload 2 files$/);
    await done().click();
    await heading('Uploaded');
    expect(await given(uri)).toEqual(digests('a.txt', 'b.txt'));
  });

  it('refuses what is too much together, with both sizes', async () => {
    const { page } = await visit({ several: { least: 1, most: 3, together: { bytes: 1000, limit: 'accepts' } } });
    await pick([fileOf(Buffer.alloc(600), 'a.bin'), fileOf(Buffer.alloc(600), 'b.bin')]);
    expect(await page.getByRole('alert').textContent()).toBe(
      'The files would have 1.2 kB together. The most that is taken here is 1 kB. Choose fewer or smaller ones.',
    );
    expect(await page.getByRole('listitem').count()).toBe(0);
  });

  it('refuses one by its type while the others go on', async () => {
    const { page, uri } = await visit({ ...TWO_OR_THREE, accept: ['image/png'] });
    const [one, two] = [noisePng(16), noisePng(24)];
    await pick([
      fileOf(one, 'one.png', 'image/png'),
      fileOf('%PDF-1.7\nis not a picture', 'pdf.png', 'image/png'),
      fileOf(two, 'two.png', 'image/png'),
    ]);
    await press('Upload 3 files');
    await page
      .getByRole('alert')
      .getByText(/^pdf\.png: This file is PDF\. Taken here: PNG\.$/)
      .waitFor();
    await arrived('one.png');
    await arrived('two.png');
    expect(await page.locator('#all p').textContent()).toBe(
      '2 files have arrived. Press Done if that is all. 1 file of the list is not uploaded, and is left out.',
    );
    expect(await page.title()).toBe('A file was not uploaded · Wharf');
    expect(await faults(watched)).toEqual([]);
    await done().click();
    await heading('Uploaded');
    expect(await given(uri)).toEqual(digests(one, two));
  });

  it('lets each be paused, resumed and cancelled for itself, and removed after it has arrived', async () => {
    const before = await server.keys();
    const { uri } = await visit();
    await pick([{ ...BIG, name: 'paused.bin' }, { ...BIG, name: 'cancelled.bin' }, fileOf('small', 'small.txt')]);
    await throttle(watched, SLOW);
    await press('Upload 3 files');
    for (const name of ['paused.bin', 'cancelled.bin'])
      await row(name)
        .getByText(/[kM]B of 2 MB/)
        .waitFor();
    await press('Pause: paused.bin');
    await press('Cancel: cancelled.bin');
    await row('cancelled.bin').getByText('Cancelled. Nothing has been stored.').waitFor();
    await throttle(watched, -1);
    await arrived('small.txt');
    await press('Remove: small.txt');
    await press('Resume: paused.bin');
    await arrived('paused.bin');
    expect(await done().isVisible()).toBe(false);
    await press('Try again: cancelled.bin');
    await arrived('cancelled.bin');
    await done().click();
    await heading('Uploaded');
    expect(await given(uri)).toEqual(digests(BIG.buffer, BIG.buffer));
    expect(await server.keys()).toHaveLength(before.length + 2);
  });

  it('shows after a reload what has come, and goes on with what was begun', async () => {
    const { page, uri } = await visit();
    await writeFile(join(folder, 'big.bin'), BIG.buffer);
    await writeFile(join(folder, 'small.txt'), 'small');
    page.on('dialog', (dialog) => void dialog.accept());
    const input = page.locator('#file');
    await input.setInputFiles(join(folder, 'small.txt'));
    await press('Upload 1 file');
    await arrived('small.txt');
    await input.setInputFiles(join(folder, 'big.bin'));
    await throttle(watched, SLOW);
    await press('Upload: big.bin');
    await row('big.bin')
      .getByText(/^1(?:\.\d)? MB of 2 MB/)
      .waitFor();
    await page.reload();
    await arrived('small.txt');
    await row('big.bin')
      .getByText(/ of 2 MB · Choose the same file again/)
      .waitFor();
    expect(await faults(watched)).toEqual([]);
    await throttle(watched, -1);
    const offsets: number[] = [];
    page.on('request', (request) => {
      if (request.method() === 'PATCH') offsets.push(Number(request.headers()['upload-offset']));
    });
    await input.setInputFiles(join(folder, 'big.bin'));
    await press('Upload: big.bin');
    await arrived('big.bin');
    expect(offsets.at(-1)).toBeGreaterThan(0);
    expect(await page.getByRole('listitem').count()).toBe(2);
    await done().click();
    await heading('Uploaded');
    expect(await given(uri)).toEqual(digests('small', BIG.buffer));
  });

  it('has no more than three on their way at a time', async () => {
    const { page, uri } = await visit({ several: { least: 1, most: 5 } });
    const names = ['1.bin', '2.bin', '3.bin', '4.bin', '5.bin'];
    await throttle(watched, CRAWL);
    await pick(names.map((name) => fileOf(Buffer.alloc(200_000, name), name)));
    await press('Upload 5 files');
    await row('5.bin').getByText('Waits for the files before it').waitFor();
    expect(await page.getByText('Waits for the files before it').count()).toBe(2);
    await throttle(watched, -1);
    await done().click();
    await heading('Uploaded');
    expect(await given(uri)).toEqual(digests(...names.map((name) => Buffer.alloc(200_000, name))));
  });

  it('learns that the files are no longer wanted, and nothing of them is left', async () => {
    const { ticket, uri } = await visit();
    const there = (await server.keys()).length;
    await pick([fileOf('one', 'one.txt'), fileOf('two', 'two.txt')]);
    await press('Upload 2 files');
    await done().waitFor();
    await server.uploadLinks.revoke(ticket);
    await heading('No longer needed');
    expect(await given(uri)).toBeUndefined();
    expect(await server.keys()).toHaveLength(there);
    expect(await faults(watched)).toEqual([]);
  });

  it('is a form without JavaScript, and takes two in it or nothing', async () => {
    const { page, uri } = await visit(TWO_OR_THREE, { javaScriptEnabled: false });
    await pick([fileOf('one', 'one.txt')]);
    await press('Upload');
    await page.getByText('The number of files is 1, and at least 2 are taken here.').waitFor();
    expect(await given(uri)).toBeUndefined();
    await page.getByRole('link', { name: 'Try again' }).click();
    await pick([fileOf('one', 'one.txt'), fileOf('two', 'two.txt')]);
    await press('Upload');
    await heading('Uploaded');
    expect(await given(uri)).toEqual(digests('one', 'two'));
  });
});
