import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startUploadServer, type UploadServer } from '../../helpers/upload-server.js';
import { openBrowser } from './chromium.js';
import { close, faults, open, type Watched } from './lab.js';
import { look } from './looks.js';

let browser: Browser;
let server: UploadServer;
let watched: Watched;

beforeAll(async () => {
  [browser, server] = await Promise.all([openBrowser(), startUploadServer({ stores: 'filesystem+memory' })]);
});

afterEach(async () => {
  await close(watched?.page);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const FILE = { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a file') };
const INTENT = { isForPerson: true, purpose: { server: 'paperwork', tool: 'read_invoice', argument: 'scan' } } as const;

const give = async (code: string) => {
  await watched.page.getByLabel('Code').fill(code);
  await watched.page.getByRole('button', { name: 'Continue' }).click();
};
const title = (name: string) => watched.page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

it.each([true, false])(
  'asks for the code, says what is wrong with another one, and does not ask again; with script: %s (FB-09)',
  async (javaScriptEnabled) => {
    const { url, code = '' } = await server.authorize(INTENT);
    watched = await open(browser, url, { javaScriptEnabled });
    const { page } = watched;
    await title('Enter the code');
    if (javaScriptEnabled) {
      await look(watched, 'code');
      // letters of twice the size on a phone
      await page.setViewportSize({ width: 360, height: 740 });
      await page.evaluate('document.documentElement.style.fontSize = "200%"');
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    }
    await give('222 222');
    await page.getByText('2 more tries are left').waitFor();
    if (javaScriptEnabled) await look(watched, 'code-wrong');
    await give(code.toLowerCase());
    await title('Upload a file');
    await page.reload();
    await title('Upload a file');
    await page.locator('input[name=file]').setInputFiles(FILE);
    await page.getByRole('button', { name: 'Upload' }).click();
    await title('Uploaded');
  },
);

it('says that the link is for another person after three wrong codes (FB-09)', async () => {
  const { url } = await server.authorize(INTENT);
  watched = await open(browser, url);
  for (const code of ['222222', '333333', '444444']) await give(code);
  await title('This link is for another person');
  expect(await faults(watched)).toEqual([]);
  await watched.page.goto(url);
  await title('This link is for another person');
});
