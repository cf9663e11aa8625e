import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import type { UploadIntent } from '../../../gateway/files/tickets/upload-intent.js';
import { sha256Url } from '../../helpers/bytes.js';
import { FaultProxy } from '../../helpers/fault-proxy.js';
import { noisePng } from '../../helpers/sdk-servers-bytes.js';
import { startUploadServer, type UploadServer } from '../../helpers/upload-server.js';
import { until } from '../../helpers/wait.js';
import { openBrowser } from './chromium.js';
import { close, faults, open, SLOW, tab, throttle, type Watched } from './lab.js';

let browser: Browser;
let server: UploadServer;
let folder: string;
let now: Watched | undefined;

beforeAll(async () => {
  [browser, server, folder] = await Promise.all([
    openBrowser(),
    startUploadServer({ stores: 'filesystem+memory' }),
    mkdtemp(join(tmpdir(), 'wharf-page-')),
  ]);
});

afterEach(async () => {
  await close(now?.page);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A page for a new ticket. */
async function visit(intent: Partial<UploadIntent> = {}, options: BrowserContextOptions = {}) {
  const { url, uri } = await server.authorize(intent);
  const watched = await open(browser, url, options);
  now = watched;
  const { page } = watched;
  return {
    ...watched,
    watched,
    url,
    uri,
    start: () => page.getByRole('button', { name: /^Upload: / }).click(),
    stored: () => page.getByRole('heading', { name: 'Uploaded', exact: true }).waitFor(),
  };
}

const fileOf = (buffer: Buffer, name = 'notes.txt', mimeType = 'text/plain') => ({ name, mimeType, buffer });
const BIG = fileOf(Buffer.alloc(2_000_000, 'wharf'), 'big.bin', 'application/octet-stream');

describe('the upload page, in Chromium', () => {
  it('takes what is picked, shows it, and sends nothing before it is told to', async () => {
    const { page, watched, uri, start, stored } = await visit();
    const buffer = noisePng(64);
    await page.getByLabel('Choose a file').setInputFiles(fileOf(buffer, 'harbour.png', 'image/png'));
    const picture = page.getByRole('img', { name: 'Preview of harbour.png' });
    await picture.waitFor();
    expect(await picture.getAttribute('src')).toMatch(/^blob:/);
    expect(await page.getByRole('listitem').textContent()).toMatch(/harbour\.png\s*[\d.]+ kB · Not sent yet/);
    expect(await server.digestOf(uri)).toBeUndefined();
    expect(await page.title()).toBe('Ready to upload · Wharf');
    await start();
    await stored();
    expect(await server.digestOf(uri)).toBe(sha256Url(buffer));
    expect(await page.title()).toBe('Uploaded · Wharf');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Uploaded');
    expect(await faults(watched)).toEqual([]);
  });

  it('keeps what is picked while its script is on its way', async () => {
    const { url, uri } = await server.authorize();
    const page = await tab(browser);
    let arrive = () => {};
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    await page.route('**/assets/**', async (route) => {
      await arrived;
      await route.continue();
    });
    await page.goto(url, { waitUntil: 'commit' });
    await page.locator('#file').setInputFiles(BIG);
    arrive();
    await page.getByText('2 MB · Not sent yet').waitFor();
    // the button has the focus
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Uploaded', exact: true }).waitFor();
    expect(await server.digestOf(uri)).toBe(sha256Url(BIG.buffer));
    await close(page);
  });

  it('takes what is dropped on it, with nothing but keys after that', async () => {
    const { page, cdp, uri, stored, watched } = await visit();
    const path = join(folder, 'dropped.txt');
    await writeFile(path, 'from the desktop');
    const data = { items: [], files: [path], dragOperationsMask: 1 };
    const drag = (type: 'dragEnter' | 'dragOver' | 'drop') =>
      cdp.send('Input.dispatchDragEvent', { type, x: 450, y: 450, data });
    await drag('dragEnter');
    await drag('dragOver');
    expect(await page.locator('main').getAttribute('class')).toContain('over');
    await drag('drop');
    await page.getByText(/ · Not sent yet$/).waitFor();
    // the button has the focus
    await page.keyboard.press('Enter');
    await stored();
    expect(await server.digestOf(uri)).toBe(sha256Url(Buffer.from('from the desktop')));
    expect(await faults(watched)).toEqual([]);
  });

  it('takes what is pasted', async () => {
    const { page, uri, start, stored } = await visit();
    await page.evaluate(`{
      const clipboardData = new DataTransfer();
      clipboardData.items.add(new File(['from the clipboard'], 'image.png', { type: 'image/png' }));
      document.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
    }`);
    await start();
    await stored();
    expect(await server.digestOf(uri)).toBe(sha256Url(Buffer.from('from the clipboard')));
  });

  it('offers the camera where pictures are taken and a finger is what points', async () => {
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    const { page, uri, start, stored } = await visit({ accept: ['image/*'] }, phone);
    await page.getByText('Take a photo').waitFor();
    const camera = page.locator('#camera');
    expect(await camera.getAttribute('capture')).toBe('environment');
    // with a keyboard, too
    await page.getByLabel('Choose a file').focus();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.id')).toBe('camera');
    const buffer = noisePng(32);
    await camera.setInputFiles(fileOf(buffer, 'photo.png', 'image/png'));
    await start();
    await stored();
    expect(await server.digestOf(uri)).toBe(sha256Url(buffer));
    await close(page);
    const { page: other } = await visit({ accept: ['application/pdf'] }, phone);
    expect(await other.locator('#camera').count()).toBe(0);
  });

  it('shows how far it is, how fast and for how long, and says so each 25 %', async () => {
    const { page, watched, start, stored } = await visit();
    await page.evaluate(`{
      window.told = [];
      const place = document.getElementById('said');
      new MutationObserver(() => told.push(place.textContent)).observe(place, { childList: true });
      // a look from here comes too seldom where the machine is busy
      window.shown = [];
      new MutationObserver((changes) => shown.push(...changes.map(({ target }) => Number(target.getAttribute('value')))))
        .observe(document, { subtree: true, attributes: true, attributeFilter: ['value'] });
    }`);
    await page.getByLabel('Choose a file').setInputFiles(BIG);
    await throttle(watched, SLOW);
    await start();
    await page.getByRole('progressbar', { name: 'Upload of big.bin' }).waitFor();
    const seen = new Set<number>();
    await until(async () => {
      for (const value of await page.evaluate<number[]>('shown')) seen.add(value);
      return Math.max(0, ...seen) >= 0.3;
    });
    expect(seen.size).toBeGreaterThanOrEqual(5);
    await page.getByText(/^[\d.]+ [kM]B of 2 MB · [\d.]+ [kM]?B\/s · \d+ s left$/).waitFor();
    expect(await page.title()).toMatch(/^\d+ % · Uploading · Wharf$/);
    expect(await faults(watched)).toEqual([]);
    await throttle(watched, -1);
    await stored();
    const told = await page.evaluate<string[]>('told');
    expect(told).toContain('25 % uploaded');
    expect(told.filter((text) => text.endsWith('uploaded')).length).toBeLessThanOrEqual(3);
  });

  it('says so again when it begins again, and leaves nothing said that is no longer so', async () => {
    const { page, watched, start } = await visit();
    const said = page.locator('#said');
    await page.getByLabel('Choose a file').setInputFiles(BIG);
    await throttle(watched, SLOW);
    await start();
    await said.getByText('25 % uploaded').waitFor();
    await page.getByRole('button', { name: 'Cancel: big.bin' }).click();
    await page.locator('#said:empty').waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Try again: big.bin' }).click();
    await said.getByText('25 % uploaded').waitFor();
  });

  it('is cancelled, stores nothing, and can be told to try again', async () => {
    const { page, watched, uri, start, stored } = await visit();
    await page.getByLabel('Choose a file').setInputFiles(BIG);
    await throttle(watched, SLOW);
    await start();
    await page.getByText(/[kM]B of 2 MB/).waitFor();
    await page.getByRole('button', { name: 'Cancel: big.bin' }).click();
    await page.getByText('Cancelled. Nothing has been stored.').waitFor();
    expect(await server.digestOf(uri)).toBeUndefined();
    await throttle(watched, -1);
    await page.getByRole('button', { name: 'Try again: big.bin' }).click();
    await stored();
    expect(await server.digestOf(uri)).toBe(sha256Url(BIG.buffer));
    expect(watched.complaints).toEqual([]);
  });

  it('outlives a network that goes and comes back', async () => {
    const { uri, url } = await server.authorize();
    const network = await FaultProxy.start(url);
    const watched = await open(browser, url.replace(server.url, network.url));
    now = watched;
    const { page } = watched;
    await page.getByLabel('Choose a file').setInputFiles(BIG);
    await throttle(watched, SLOW);
    await page.getByRole('button', { name: /^Upload: / }).click();
    await page.getByText(/[kM]B of 2 MB/).waitFor();
    await network.refuse();
    await page.getByText(/^The connection was lost. Trying again in/).waitFor();
    expect(await page.title()).toBe('Waiting to try again · Wharf');
    expect(await faults(watched)).toEqual([]);
    await throttle(watched, -1);
    await network.accept();
    await page.getByRole('heading', { name: 'Uploaded', exact: true }).waitFor();
    expect(await server.digestOf(uri)).toBe(sha256Url(BIG.buffer));
    await network.close();
  });

  it('says why the server takes nothing now, and goes on by itself when it does', async () => {
    const { page, watched, uri, url, start, stored } = await visit();
    const message = 'The antivirus is not available. Try again later.';
    await page.route(`${url}*`, (route) =>
      route.fulfill({ status: 503, headers: { 'retry-after': '1' }, json: { error: { code: 'any', message } } }),
    );
    await page.getByLabel('Choose a file').setInputFiles(BIG);
    await start();
    await page.getByText(/^The antivirus is not available\. Trying again in \d s\.$/).waitFor();
    expect(await page.locator('#said').textContent()).toBe('The antivirus is not available. It will be tried again.');
    expect(await faults(watched)).toEqual([]);
    await page.unroute(`${url}*`);
    await stored();
    expect(await server.digestOf(uri)).toBe(sha256Url(BIG.buffer));
  });

  it('says at once why the server takes nothing for hours', async () => {
    const { page, watched, url, start } = await visit();
    const message = '6 files may be stored for you within 24 hours here. There is room again in 7 h.';
    await page.route(`${url}*`, (route) =>
      route.fulfill({ status: 429, headers: { 'retry-after': '25200' }, json: { error: { code: 'any', message } } }),
    );
    await page.getByLabel('Choose a file').setInputFiles(BIG);
    await start();
    await page.getByRole('alert').getByText(message, { exact: true }).waitFor();
    expect(await faults(watched)).toEqual([]);
  });

  it.each([
    [{ maxSize: 1000 }, fileOf(Buffer.alloc(1001)), /^notes\.txt: This file has 1001 bytes\. .* is 1000 bytes\.$/],
    [{ size: 3 }, fileOf(Buffer.alloc(4)), /^notes\.txt: This file has 4 bytes, and one of 3 bytes is expected\.$/],
    [{ accept: ['image/png', '.pdf'] }, fileOf(Buffer.alloc(4)), /This file is plain text\. Taken here: PNG, PDF\.$/],
  ])('refuses what %j does not allow before it is sent', async (intent, file, words) => {
    const { page, watched } = await visit(intent);
    const sent: string[] = [];
    page.on('request', (request) => sent.push(request.method()));
    await page.getByLabel('Choose a file').setInputFiles(file);
    const alert = page.getByRole('alert');
    expect(await alert.textContent()).toMatch(words);
    expect(await page.evaluate('document.activeElement.id')).toBe('problem');
    expect(sent.filter((method) => method !== 'GET')).toEqual([]);
    expect(await faults(watched)).toEqual([]);
  });

  it('tells why the server refused what only the bytes could show, and takes another file', async () => {
    const { page, watched, uri, start, stored } = await visit({ accept: ['image/png'] });
    const pdf = Buffer.from('%PDF-1.7\nnot a picture');
    await page.getByLabel('Choose a file').setInputFiles(fileOf(pdf, 'picture.png', 'image/png'));
    await start();
    await page.getByRole('alert').getByText('This file is PDF. Taken here: PNG.', { exact: true }).waitFor();
    expect(await page.title()).toBe('The file was not uploaded · Wharf');
    expect(await page.locator('#said').textContent()).toBe('');
    // the same file would be refused again
    expect(await page.getByRole('listitem').getByRole('button').allInnerTexts()).toEqual(['Remove']);
    expect(await faults(watched)).toEqual([]);
    const buffer = noisePng(32);
    await page.getByLabel('Choose another file').setInputFiles(fileOf(buffer, 'picture.png', 'image/png'));
    await start();
    await stored();
    expect(await server.digestOf(uri)).toBe(sha256Url(buffer));
  });

  it('takes one file, and says so to who drops two or none', async () => {
    const { page } = await visit();
    const drop = (files: number) =>
      page.evaluate(`{
        const dataTransfer = new DataTransfer();
        for (let n = 0; n < ${files}; n += 1) dataTransfer.items.add(new File(['x'], n + '.txt'));
        document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true }));
      }`);
    await drop(2);
    expect(await page.getByRole('alert').textContent()).toBe(
      'This link takes one file, and you gave 2. Choose one of them.',
    );
    await drop(0);
    expect(await page.getByRole('alert').textContent()).toBe('There was no file in what you gave.');
  });

  it('learns while it is open that its link has been used elsewhere, and asks no more', async () => {
    const { page, watched, url } = await visit();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.method()));
    await fetch(url, { method: 'PUT', body: 'by somebody else' });
    await page.getByRole('heading', { name: 'Already uploaded' }).waitFor();
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Already uploaded');
    const { length } = asked;
    await page.waitForTimeout(2500);
    expect(asked).toHaveLength(length);
    expect(await faults(watched)).toEqual([]);
  });

  it('learns that the file is no longer wanted, also while it is on its way', async () => {
    const { page, watched, start, url, uri } = await visit();
    await page.getByLabel('Choose a file').setInputFiles(BIG);
    await throttle(watched, SLOW);
    await start();
    await page.getByText(/[kM]B of 2 MB/).waitFor();
    await server.uploadLinks.revoke(url.slice(url.lastIndexOf('/') + 1));
    await page.getByRole('heading', { name: 'No longer needed' }).waitFor();
    expect(await page.title()).toBe('No longer needed · Wharf');
    expect(await server.digestOf(uri)).toBeUndefined();
    expect(await faults(watched)).toEqual([]);
  });

  it('is a form without JavaScript, whose answers are pages', async () => {
    const { page, uri, url } = await visit({ maxSize: 100 }, { javaScriptEnabled: false });
    const submit = async (buffer: Buffer) => {
      await page.getByLabel('File', { exact: true }).setInputFiles(fileOf(buffer));
      await page.getByRole('button', { name: 'Upload' }).click();
    };
    await submit(Buffer.alloc(101));
    await page.getByRole('heading', { name: 'The file was not stored' }).waitFor();
    await page.getByRole('link', { name: 'Choose another file' }).click();
    await submit(Buffer.from('plain'));
    await page.getByRole('heading', { name: 'Uploaded', exact: true }).waitFor();
    expect(await server.digestOf(uri)).toBe(sha256Url(Buffer.from('plain')));
    await page.goto(url);
    await page.getByRole('heading', { name: 'Already uploaded' }).waitFor();
  });

  it('shows what a hostile server and a hostile file are called as text', async () => {
    const nasty = '</script><img src=x onerror="document.title=\'owned\'">\u202egnp.exe';
    const { page, watched, start, stored } = await visit({
      name: nasty,
      purpose: { server: nasty, tool: nasty, argument: nasty, message: `${nasty}\n`.repeat(12) },
    });
    const shown = nasty.replace('\u202e', '\ufffd');
    expect(await page.locator('.lead strong').allInnerTexts()).toEqual([shown, shown]);
    expect((await page.locator('.message p').textContent())?.length).toBeLessThanOrEqual(600);
    await page.getByLabel('Choose a file').setInputFiles(fileOf(Buffer.from('x'), '<b onclick=1>\u202egnp.txt'));
    await start();
    await stored();
    expect(await page.locator('dd bdi').textContent()).toBe('<b onclick=1>\ufffdgnp.txt');
    expect(await page.locator('img, script:not([src]), main b').count()).toBe(0);
    expect(await faults(watched)).toEqual([]);
  });

  it('asks a person who leaves while a file is on its way, and no other', async () => {
    const { page, watched, start } = await visit();
    const asked: string[] = [];
    page.on('dialog', async (dialog) => {
      asked.push(dialog.type());
      await dialog.dismiss();
    });
    await page.getByLabel('Choose a file').setInputFiles(BIG);
    await throttle(watched, SLOW);
    await start();
    await page.getByText(/[kM]B of 2 MB/).waitFor();
    await page.close({ runBeforeUnload: true });
    await until(() => asked.length > 0);
    expect(asked).toEqual(['beforeunload']);
  });
});
