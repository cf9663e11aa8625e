import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { openBrowser } from './chromium.js';
import { close, open, type Watched } from './lab.js';
import { look } from './looks.js';

const url = 'http://127.0.0.1:1/mcp';
const AUTH = { use: 'apiKeys', keys: [{ name: 'ci', hash: `sha256:${'ab'.repeat(32)}` }] };

let browser: Browser;
let watched: Watched;
const running: Record<'one' | 'several' | 'keys', Wharf> = {} as never;

beforeAll(async () => {
  browser = await openBrowser();
  running.one = await startWharf({ servers: { files: { url } } });
  running.several = await startWharf({ servers: { files: { url }, ocr: { url } } });
  running.keys = await startWharf({ servers: { files: { url } }, config: { auth: AUTH } });
});

afterEach(async () => {
  await close(watched?.page);
});

afterAll(async () => {
  await browser?.close();
  for (const wharf of Object.values(running)) await wharf.stop();
});

describe('the page that connects a client', () => {
  it.each([
    ['connect', () => `${running.one.url}/`],
    ['connect-servers', () => `${running.several.url}/`],
    ['connect-key', () => `${running.keys.url}/files/mcp`],
  ] as const)('can be used by everybody: %s', async (name, address) => {
    watched = await open(browser, address());
    const { page } = watched;
    await page.getByRole('button', { name: 'Copy' }).first().waitFor();
    await look(watched, name);
  });

  it('can be used by everybody: the page of an address that leads nowhere', async () => {
    watched = await open(browser, `${running.one.url}/nowhere`);
    await look(watched, 'nowhere');
    await watched.page.getByRole('link', { name: 'Connect an MCP client' }).click();
    await watched.page.getByRole('button', { name: 'Copy' }).first().waitFor();
  });

  it('copies the lines of a host, and says so', async () => {
    watched = await open(browser, `${running.one.url}/files/mcp`, {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const { page } = watched;
    await page.getByRole('button', { name: 'Copy: Cursor' }).click();
    await page.getByText('Copied: Cursor').waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(JSON.parse(copied)).toEqual({ mcpServers: { files: { url: `${running.one.url}/files/mcp` } } });
    expect(watched.complaints).toEqual([]);
  });

  it('selects the lines where the browser does not let it copy', async () => {
    watched = await open(browser, `${running.one.url}/`);
    const { page } = watched;
    await page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('no'))");
    await page.getByRole('button', { name: 'Copy: MCP URL' }).click();
    await page.getByText('copy it by hand').waitFor();
    expect(await page.evaluate<string>('String(getSelection())')).toBe(running.one.mcp);
  });

  it('is complete without JavaScript', async () => {
    watched = await open(browser, `${running.several.url}/`, { javaScriptEnabled: false });
    const { page } = watched;
    await page.getByRole('link', { name: 'Connect a client to ocr' }).click();
    await page.getByText(`claude mcp add --transport http ocr ${running.several.url}/ocr/mcp`).waitFor();
    for (const host of ['Claude Code', 'Claude Desktop', 'Codex', 'Cursor', 'Gemini CLI', 'Goose', 'VS Code', 'Zed'])
      expect(await page.getByRole('heading', { name: host, exact: true }).count()).toBe(1);
    expect(await page.getByRole('button').count()).toBe(0);
  });
});
