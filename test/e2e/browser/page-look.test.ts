import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { GatewayError } from '../../../gateway/errors.js';
import type { UploadIntent } from '../../../gateway/files/tickets/upload-intent.js';
import { CLOSED, type Closed } from '../../../gateway/http/browser/texts.js';
import { refuse } from '../../../gateway/http/routes/download-refusal.js';
import { closedPage, refused } from '../../../gateway/http/routes/upload-answers.js';
import { startUploadServer, type UploadServer } from '../../helpers/upload-server.js';
import { openBrowser } from './chromium.js';
import { close, faults, open, picture, SLOW, throttle, type Watched } from './lab.js';
import { look as lookAt } from './looks.js';

let browser: Browser;
let server: UploadServer;
let watched: Watched;
/** A picture of a sheet of paper. */
let invoice: Buffer;
let folder: string;

beforeAll(async () => {
  [browser, server, folder] = await Promise.all([
    openBrowser(),
    startUploadServer({ stores: 'filesystem+memory' }),
    mkdtemp(join(tmpdir(), 'wharf-look-')),
  ]);
  const sheet = await browser.newPage({ viewport: { width: 220, height: 220 } });
  const line = '<hr style="border: 0; height: 8px; margin: 14px 0; background: #b9c4cf">';
  await sheet.setContent(`<body style="margin: 24px; color: #0a5a88"><h2>Invoice</h2>${line.repeat(4)}`);
  invoice = await sheet.screenshot();
  await sheet.close();
});

afterEach(async () => {
  await close(watched?.page);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

const INTENT = {
  maxSize: 25_000_000,
  accept: ['image/png', 'image/jpeg', 'application/pdf'],
  purpose: {
    server: 'paperwork',
    tool: 'read_invoice',
    argument: 'scan',
    message: 'Please upload the scan of the invoice that you spoke of.',
  },
};

/** The others look alike in forced colours. */
const FORCED = new Set(['open', 'chosen', 'paused', 'done', 'several-open', 'several-come']);

const look = (name: string) => lookAt(watched, name, FORCED.has(name) ? ['forced'] : []);

async function visit(): Promise<void> {
  watched = await open(browser, (await server.authorize(INTENT)).url);
}

/** As where JavaScript is switched off, but for the tests' own, which looks for faults. */
async function visitWithoutScript(intent: Partial<UploadIntent>): Promise<void> {
  watched = await open(browser, (await server.authorize(intent)).url);
  await watched.page.route('**/assets/**', (route) => route.abort());
  await watched.page.reload();
}

/**
 * A file on the disk, which the browser reads by itself: what is handed to it in memory it gets as base64.
 * @param size of what follows the picture, which no viewer minds
 */
async function written(name: string, size: number): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, invoice);
  await truncate(path, invoice.length + size);
  return path;
}

async function pick(name: string, size: number): Promise<void> {
  await watched.page.getByLabel('Choose a file').setInputFiles(await written(name, size));
}

const SEVERAL: Partial<UploadIntent> = {
  ...INTENT,
  several: { least: 2, most: 5, together: { bytes: 60_000_000, limit: 'limits.message' } },
  purpose: {
    ...INTENT.purpose,
    tool: 'read_pages',
    argument: 'pages',
    message: 'Please upload all pages of the contract.',
  },
};

async function pickSeveral(...names: string[]): Promise<void> {
  const files = names.map((name, at) => written(name, 1_000_000 * (at + 1)));
  await watched.page.locator('#file').setInputFiles(await Promise.all(files));
}

const press = (name: RegExp) => watched.page.getByRole('button', { name }).click();

/** Shows an answer of the server's that is hard to come by. */
async function serve(answer: Response): Promise<void> {
  await visit();
  const { page } = watched;
  const reply = { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() };
  await page.route('**/u/*', (route) => route.fulfill(reply));
  await page.reload();
}

describe('everybody can use, in light and dark, on a phone and at 400 %,', () => {
  it('the page as it comes', async () => {
    await visit();
    await look('open');
  });

  it('a file that is chosen, on its way, and there', async () => {
    await visit();
    await pick('invoice 2026-114.png', 3_000_000);
    await look('chosen');
    await throttle(watched, SLOW);
    await press(/^Upload: /);
    await watched.page.getByText(/^1\.\d MB of 3 MB.* left$/).waitFor();
    await picture(watched, 'docs/upload-page.png');
    expect(await faults(watched)).toEqual([]);
    await press(/^Pause: /);
    await look('paused');
    await throttle(watched, -1);
    await press(/^Resume: /);
    await watched.page.getByRole('heading', { name: 'Uploaded', exact: true }).waitFor();
    await look('done');
  });

  it('a file that was cancelled', async () => {
    await visit();
    await pick('invoice 2026-114.png', 3_000_000);
    await throttle(watched, SLOW);
    await press(/^Upload: /);
    await watched.page.getByText(/ of 3 MB/).waitFor();
    await press(/^Cancel: /);
    await look('cancelled');
  });

  it('a file that was refused, before it was sent and after', async () => {
    await visit();
    await pick('video of the invoice.png', 25_000_000);
    await look('too-large');
    const buffer = Buffer.from('GIF89a\x01\0\x01\0 is no picture that is taken');
    const file = { name: 'invoice.png', mimeType: 'image/png', buffer };
    await watched.page.getByLabel('Choose a file').setInputFiles(file);
    await press(/^Upload: /);
    await watched.page.getByRole('alert').waitFor();
    await look('refused');
  });

  it('several files that are chosen, on their way, refused, there, and given', async () => {
    watched = await open(browser, (await server.authorize(SEVERAL)).url);
    const { page } = watched;
    const row = (name: string) => page.getByRole('listitem').filter({ hasText: name });
    await look('several-open');
    await pickSeveral('page 1.png', 'page 2.png');
    await look('several-chosen');
    await press(/^Upload 2 files$/);
    await page.getByText('2 files have arrived.').waitFor();
    await pickSeveral('page 3.png', 'page 4.png', 'page 5.png', 'page 6.png');
    await page
      .getByRole('alert')
      .getByText(/^This link takes at most 5 files/)
      .waitFor();
    await look('several-too-many');
    const gif = {
      name: 'page 3.png',
      mimeType: 'image/png',
      buffer: Buffer.from('GIF89a\x01\0\x01\0 is no picture that is taken'),
    };
    await page.locator('#file').setInputFiles(gif);
    await press(/^Upload: page 3/);
    await page
      .getByRole('alert')
      .getByText(/^page 3\.png: This file is GIF\. Taken here: /)
      .waitFor();
    await pickSeveral('page 4.png', 'page 5.png');
    await throttle(watched, SLOW);
    await press(/^Upload 2 files$/);
    await row('page 4.png')
      .getByText(/B of 1 MB.* left$/)
      .waitFor();
    await press(/^Pause: page 5/);
    await row('page 5.png')
      .getByText(/ · Paused$/)
      .waitFor();
    expect(await faults(watched)).toEqual([]);
    await throttle(watched, -1);
    await row('page 4.png')
      .getByText(/ · Uploaded$/)
      .waitFor();
    await look('several-come');
    await press(/^Done$/);
    await page.getByRole('heading', { name: 'Uploaded', exact: true }).waitFor();
    await look('several-done');
  });

  it('several files in a form without JavaScript, and its answer', async () => {
    await visitWithoutScript(SEVERAL);
    await look('several-no-script');
    await pickSeveral('page 1.png', 'page 2.png');
    await press(/^Upload$/);
    await watched.page.getByRole('heading', { name: 'Uploaded', exact: true }).waitFor();
    await look('several-form-done');
  });

  it('the form without JavaScript', async () => {
    await visitWithoutScript(INTENT);
    await look('no-script');
    expect(await watched.page.getByRole('button', { name: 'Upload' }).count()).toBe(1);
    expect(await watched.page.getByText('or drop it here').isVisible()).toBe(false);
  });

  it.each(Object.keys(CLOSED) as Closed[])('a link that is %s', async (closed) => {
    await serve(closedPage(closed, 200));
    await look(`link-${closed}`);
  });

  it.each(['link_expired', 'file_gone', 'store_unavailable'] as const)(
    'a link to a file that ends with %s',
    async (code) => {
      await serve(refuse(new GatewayError(code), 'text/html', {}, '?'));
      await look(`file-${code.replace('_', '-')}`);
    },
  );

  it('an upload whose network is gone', async () => {
    await visit();
    await pick('invoice 2026-114.png', 3_000_000);
    await watched.page.route('**/u/*', (route) => route.abort('internetdisconnected'));
    await press(/^Upload: /);
    await watched.page.getByText(/Trying again in \d+ s\.$/).waitFor();
    await look('waiting');
  });

  it('a link that cannot be looked at now', async () => {
    const visit = { method: 'GET', headers: { accept: 'text/html' } };
    await serve(refused(new GatewayError('state_unavailable'), visit));
    await look('link-unavailable');
  });

  it('a refusal as the form gets it', async () => {
    await serve(
      refused(new GatewayError('upload_too_large', { allowed: 10, actual: 11 }), {
        method: 'POST',
        headers: { accept: 'text/html' },
      }),
    );
    await look('form-refused');
  });
});
