import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { sha256Url } from '../../helpers/bytes.js';
import { FaultProxy } from '../../helpers/fault-proxy.js';
import { startUploadServer, type UploadServer } from '../../helpers/upload-server.js';
import { Replicas } from '../uploads/replicas.js';
import { openBrowser } from './chromium.js';
import { close, faults, open, SLOW, throttle, type Watched } from './lab.js';
import { look } from './looks.js';

/** More than one part of an S3 upload: what a process that is killed has noted. */
const BIG = Buffer.alloc(30_000_000, 'wharf');
const SMALL = BIG.subarray(0, 3_000_000);

let browser: Browser;
let server: UploadServer;
let folder: string;
let watched: Watched;
/** Offsets at which the page went on. */
let offsets: number[];

beforeAll(async () => {
  [browser, server, folder] = await Promise.all([
    openBrowser(),
    startUploadServer({ stores: 'filesystem+memory' }),
    mkdtemp(join(tmpdir(), 'wharf-resume-')),
  ]);
  await writeFile(join(folder, 'small.bin'), SMALL);
  await writeFile(join(folder, 'big.bin'), BIG);
  await writeFile(join(folder, 'same-size.bin'), Buffer.alloc(SMALL.length, 'other'));
  await writeFile(join(folder, 'other.bin'), 'another one');
});

afterEach(async () => {
  await close(watched?.page);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function visit(url: string): Promise<Page> {
  watched = await open(browser, url);
  offsets = [];
  const { page } = watched;
  page.on('request', (request) => {
    if (request.method() === 'PATCH') offsets.push(Number(request.headers()['upload-offset']));
  });
  page.on('dialog', (dialog) => void dialog.accept());
  return page;
}

const pick = (name: string) => watched.page.locator('#file').setInputFiles(join(folder, name));
const press = (name: RegExp) => watched.page.getByRole('button', { name }).click();
const stored = () => watched.page.getByRole('heading', { name: 'Uploaded', exact: true }).waitFor({ timeout: 60_000 });

/** A page on which so much of the small file has gone, over a slow line. */
async function onItsWay(share: number): Promise<{ page: Page; uri: string }> {
  const { url, uri } = await server.authorize();
  const page = await visit(url);
  await pick('small.bin');
  await throttle(watched, SLOW);
  await press(/^Upload: /);
  await sent(share);
  return { page, uri };
}

/** Waits until so much of the file has gone. */
async function sent(share: number): Promise<void> {
  const bar = watched.page.getByRole('progressbar');
  for (let tries = 0; tries < 600; tries += 1) {
    if (Number(await bar.getAttribute('value')) >= share) return;
    await watched.page.waitForTimeout(50);
  }
  throw new Error('nothing moves');
}

describe('an upload that the page interrupts', () => {
  it('is paused, and goes on after what has arrived', async () => {
    const { page, uri } = await onItsWay(0.4);
    await press(/^Pause: /);
    await page.getByText(/ of 3 MB · Paused$/).waitFor();
    expect(await page.title()).toBe('Upload paused · Wharf');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Resume');
    expect(await faults(watched)).toEqual([]);
    await throttle(watched, -1);
    await page.keyboard.press('Enter');
    await stored();
    expect(offsets[0]).toBe(0);
    expect(offsets.at(-1)).toBeGreaterThan(0);
    expect(await server.digestOf(uri)).toBe(sha256Url(SMALL));
  });

  it('goes on in a page that is loaded anew, when the same file is chosen again', async () => {
    const { page, uri } = await onItsWay(0.4);
    await page.reload();
    const words = page.locator('#begun');
    await words.waitFor();
    expect(await words.textContent()).toMatch(
      /^[\d.]+ [kM]B of “small\.bin” have already arrived\. Choose the same file/,
    );
    await look(watched, 'begun');
    await throttle(watched, -1);
    await pick('other.bin');
    expect(await words.textContent()).toMatch(/not the file that was begun, “small\.bin”/);
    await pick('small.bin');
    expect(await words.textContent()).toMatch(/its upload goes on after [\d.]+ [kM]B\.$/);
    await press(/^Upload: /);
    await stored();
    expect(offsets.at(-1)).toBeGreaterThan(0);
    expect(await server.digestOf(uri)).toBe(sha256Url(SMALL));
  });

  it('is not mixed with one of the same size that another window has begun since', async () => {
    const { page, uri } = await onItsWay(0.4);
    await page.reload();
    const first = watched;
    await page.locator('#begun').waitFor();
    const second = await open(browser, page.url());
    await throttle(second, SLOW);
    await second.page.locator('#file').setInputFiles(join(folder, 'same-size.bin'));
    await second.page.getByRole('button', { name: /^Upload: / }).click();
    await second.page.getByText(/ of 3 MB · /).waitFor();
    watched = first;
    await throttle(first, -1);
    await pick('small.bin');
    await press(/^Upload: /);
    // neither ends the other time and again: the person says which it is to be
    await page.getByText('Another window or another person uploads a file with this link now').waitFor();
    await second.page.getByText(/ of 3 MB · /).waitFor();
    await press(/^Try again: /);
    await stored();
    await close(second.page);
    expect(await server.digestOf(uri)).toBe(sha256Url(SMALL));
  });

  it('is given up for another file, and leaves nothing behind', async () => {
    const before = await server.keys();
    const { page, uri } = await onItsWay(0.3);
    await press(/^Cancel: /);
    await page.getByText('Cancelled. Nothing has been stored.').waitFor();
    await throttle(watched, -1);
    await pick('other.bin');
    await press(/^Upload: /);
    await stored();
    expect(await server.digestOf(uri)).toBe(sha256Url(Buffer.from('another one')));
    expect(await server.keys()).toHaveLength(before.length + 1);
  });
});

describe('an upload whose gateway is killed', () => {
  let replicas: Replicas;
  let network: FaultProxy;

  beforeAll(async () => {
    [replicas, network] = await Promise.all([Replicas.open(), FaultProxy.start('http://127.0.0.1:9')]);
  });

  afterAll(async () => {
    await network?.close();
    await replicas?.close();
  });

  it('goes on with the next gateway, by itself', async () => {
    const config = { publicUrl: network.url };
    const first = await replicas.start(config);
    network.pointTo(first.url);
    const { ticket, uri } = await replicas.authorize();
    const page = await visit(`${network.url}/u/${ticket}`);
    await pick('big.bin');
    await throttle(watched, 2_000_000);
    await press(/^Upload: /);
    await sent(0.7);
    process.kill(first.pid, 'SIGKILL');
    await page.getByText(/Trying again in \d+ s\.$/).waitFor();
    await throttle(watched, -1);
    const second = await replicas.start(config);
    network.pointTo(second.url);
    try {
      await stored();
      expect(offsets.at(-1)).toBeGreaterThan(0);
      expect(await replicas.parts.digestOf(uri)).toBe(sha256Url(BIG));
    } finally {
      await first.stop();
      await second.stop();
    }
  });
});
