import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { keyHash, sha256 } from '../../helpers/bytes.js';
import { startEverything } from '../../helpers/sdk-servers.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { openBrowser } from './chromium.js';
import { close, faults, open as openPage, type Watched } from './lab.js';
import { LOOKS, look } from './looks.js';

const OPERATOR = 'the-key-of-an-operator';
const VIEWER = 'the-key-of-a-viewer';

const ODD = [process.execPath, fileURLToPath(new URL('../../helpers/odd-tools.js', import.meta.url))];

let browser: Browser;
let watched: Watched;
let wharf: Wharf;

beforeAll(async () => {
  browser = await openBrowser();
  const { command } = await startEverything('stdio');
  const files = { image_base64: { encoding: 'base64', accept: ['image/*'], maxSize: '1MiB' } };
  wharf = await startWharf({
    servers: {
      everything: { command },
      harbour: {
        command: ODD,
        tools: { weigh: { files }, bind: { files: { 'pages[].scan': { encoding: 'base64' } } } },
      },
    },
    config: {
      console: {
        users: [
          { name: 'ann', role: 'operator', hash: keyHash(OPERATOR) },
          { name: 'bob', hash: keyHash(VIEWER) },
        ],
      },
    },
  });
});

afterEach(async () => {
  await close(watched?.page);
});

afterAll(async () => {
  await browser?.close();
  await wharf?.stop();
});

/** Opens a server's page, as a user who has logged in. */
async function openServer(name: string, key = OPERATOR): Promise<Watched> {
  watched = await openPage(browser, `${wharf.adminUrl}/`);
  const { page } = watched;
  await page.getByLabel('Your key').fill(key);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('link', { name: 'Servers' }).click();
  await page.getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { name, level: 1 }).waitFor();
  return watched;
}

async function openTool(server: string, tool: string): Promise<Watched> {
  const { page } = await openServer(server);
  await page.getByRole('link', { name: `Try it: ${tool}`, exact: true }).click();
  await page.getByRole('heading', { name: tool, level: 1 }).waitFor();
  return watched;
}

const callIt = () => watched.page.getByRole('button', { name: 'Call the tool' }).click();

/** Expects that a page can be used on a phone, which is the narrowest look at it. */
async function expectUsable(): Promise<void> {
  const { page } = watched;
  const { width, height } = LOOKS.phone;
  await page.setViewportSize({ width, height });
  expect(await faults(watched)).toEqual([]);
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(width);
}

describe('trying a tool in a browser', () => {
  it('leads from a server to a tool, and shows what came of a call, for everybody', async () => {
    const { page } = await openServer('everything');
    await look(watched, 'console-server');
    await page.getByRole('link', { name: 'Try it: get-sum', exact: true }).click();
    await page.getByLabel('a (required)').fill('40');
    await page.getByLabel('b (required)').fill('2');
    await look(watched, 'console-try');
    await callIt();
    await page.getByText('The sum of 40 and 2 is 42.').waitFor();
    await look(watched, 'console-tried');
    expect(await page.getByLabel('a (required)').inputValue()).toBe('40');
  });

  it('has a field of its kind for each argument, with its default', async () => {
    const { page } = await openTool('harbour', 'survey');
    await look(watched, 'console-try-fields');
    await page.getByLabel('name (required)').fill('Aber\nystwyth');
    await page.getByLabel('depth (required)').fill('4.5');
    expect(await page.getByLabel('berths').inputValue()).toBe('12');
    await page.getByLabel('unit').selectOption('ft');
    await page.getByLabel('Open at night').selectOption('true');
    await page.getByLabel('moles').fill('["east", "west"]');
    await callIt();
    const given = '{"name":"Aber\\nystwyth","depth":4.5,"berths":12,"unit":"ft","isOpen":true,"moles":["east","west"]}';
    await page.getByText(given).first().waitFor();
  });

  it('shows what is wrong beside its field', async () => {
    const { page } = await openTool('harbour', 'survey');
    await page.getByLabel('name (required)').fill('x');
    await page.getByLabel('depth (required)').fill('deep');
    await callIt();
    await page.getByRole('alert').getByText('The tool was not called.').waitFor();
    await look(watched, 'console-try-wrong');
    expect(await page.getByLabel('depth (required)').inputValue()).toBe('deep');
  });

  it('sends a file, and keeps its handle for the next call', async () => {
    const { page } = await openTool('harbour', 'weigh');
    const buffer = randomBytes(100_000);
    await page.getByLabel('image_base64').setInputFiles({ name: 'quay.png', mimeType: 'image/png', buffer });
    await callIt();
    const digest = sha256(buffer);
    await page.getByText(`100000 bytes, ${digest}`).first().waitFor();
    expect(await faults(watched)).toEqual([]);
    await callIt();
    await page.getByText(`100000 bytes, ${digest}`).first().waitFor();
  });

  it('puts files into the items of a list, in order', async () => {
    const { page } = await openTool('harbour', 'bind');
    const sheet = (text: string) => ({ name: `${text}.txt`, mimeType: 'text/plain', buffer: Buffer.from(text) });
    await page.getByLabel('pages[].scan').setInputFiles([sheet('east'), sheet('west')]);
    await look(watched, 'console-try-list');
    await callIt();
    await page.getByText('2 pages: east (undefined), west (undefined)').first().waitFor();
    // the handles of before are still there
    await page.getByLabel('pages (required)').fill('[{"caption": "one"}, {"caption": "two"}, {"caption": "three"}]');
    await callIt();
    await page.getByText('3 pages: east (one), west (two), ').first().waitFor();
    await page.getByLabel('pages (required)').fill('["one"]');
    await callIt();
    await page.getByText('What is written in pages is not a list of objects.').waitFor();
    expect(await faults(watched)).toEqual([]);
    await page.getByLabel('pages (required)').fill('');
    await page.getByLabel('or handles, one a line').fill('');
    await callIt();
    await page.getByText('This is required.').waitFor();
  });

  it('shows pictures', async () => {
    const { page } = await openTool('harbour', 'picture');
    await callIt();
    const pictures = page.getByRole('img', { name: 'What the tool gave' });
    await pictures.first().waitFor();
    const widths = "[...document.querySelectorAll('main img')].map((one) => one.naturalWidth > 0)";
    expect(await page.evaluate<boolean[]>(widths)).toEqual([true, true]);
    await expectUsable();
  });

  it('asks before a tool that may destroy', async () => {
    const { page } = await openTool('harbour', 'sink');
    await callIt();
    // the browser itself asks for the tick
    expect(await page.getByRole('heading', { name: 'Result' }).count()).toBe(0);
    await page.getByLabel('Call it all the same').check();
    await callIt();
    await page.getByText('sink is done.').waitFor();
  });

  it('runs nothing of what a server says, and stays usable with it', async () => {
    const { page } = await openTool('harbour', 'evil');
    await expectUsable();
    await callIt();
    await page.getByRole('heading', { name: 'Result' }).waitFor();
    await expectUsable();
    expect(await page.title()).toBe('evil · Wharf');
    for (const tool of ['thousand', 'recursive', 'huge', 'nested']) {
      await page.goto(`${wharf.adminUrl}/servers/harbour/try?tool=${tool}`);
      await expectUsable();
    }
    for (const tool of ['huge', 'nested']) {
      await page.goto(`${wharf.adminUrl}/servers/harbour/try?tool=${tool}`);
      await callIt();
      await page.getByRole('heading', { name: 'Result' }).waitFor();
      await expectUsable();
    }
  });

  it('shows a viewer the tools, and no form', async () => {
    const { page } = await openServer('harbour', VIEWER);
    await page.getByRole('link', { name: 'Look: survey' }).click();
    await page.getByText('only an operator may try it').waitFor();
    await expectUsable();
    expect(await page.getByRole('button', { name: 'Call the tool' }).count()).toBe(0);
  });
});
