import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { keyHash } from '../../helpers/bytes.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const KEY = 'ann-0123456789';

let folder: string;
let wharf: Wharf;
let cookie: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-audit-search-'));
  wharf = await startWharf({
    servers: { absent: { url: 'http://127.0.0.1:9' } },
    config: {
      audit: { use: 'file', path: join(folder, 'audit.jsonl') },
      console: { users: [{ name: 'ann', hash: keyHash(KEY) }] },
    },
  });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const login = { method: 'POST', headers, body: `key=${KEY}`, redirect: 'manual' } as const;
  cookie = (await fetch(`${wharf.adminUrl}/login`, login)).headers.get('set-cookie')?.split(';')[0] ?? '';
});

afterAll(async () => {
  await wharf?.stop();
  await rm(folder, { recursive: true, force: true });
});

const page = async (query: string) => {
  const answer = await fetch(`${wharf.adminUrl}/audit?${query}`, { headers: { cookie, accept: 'text/html' } });
  return { status: answer.status, text: await answer.text() };
};
const data = async (path: string) => {
  const answer = await fetch(wharf.adminUrl + path, { headers: { authorization: `Bearer ${KEY}` } });
  return { status: answer.status, text: await answer.text() };
};

const WRONG: readonly (readonly [query: string, told: string])[] = [
  ['from=garbage', '"from" is not a time such as 2026-08-01T14:30:00: garbage'],
  ['from=garbage+1', '"from" is not a time such as 2026-08-01T14:30:00: garbage 1'],
  ['until=2026-13-40T00:00', '"until" is not a time such as 2026-08-01T14:30:00: 2026-13-40T00:00'],
  ['what=cal', '"what" is none of call, file,'],
  ['outcome=maybe', '"outcome" is none of allowed, refused: maybe'],
];

describe('a search of the audit log by what cannot be read', () => {
  it.each(WRONG)('%s finds nothing, and is told on the page and to programs', async (query, told) => {
    const shown = await page(`principal=bob&${query}`);
    expect(shown.status).toBe(400);
    expect(shown.text.replaceAll('&quot;', '"')).toContain(told);
    expect(shown.text).not.toContain('<table');
    expect(shown.text).toMatch(/name="principal" value="bob"/);
    for (const path of ['/api/audit', '/audit.csv']) {
      const answer = await data(`${path}?${query}`);
      expect([path, answer.status]).toEqual([path, 400]);
      expect((JSON.parse(answer.text) as { error: { message: string } }).error.message).toContain(told);
    }
  });

  it('keeps a time as it was typed, which no field for a time could show', async () => {
    expect((await page('from=garbage')).text).toMatch(/type="text" name="from" value="garbage"[^>]*aria-invalid/);
  });

  it('is searched by what can be', async () => {
    for (const query of [
      '',
      'from=2026-08-01',
      'from=2026-08-01T14:30',
      'until=2026-08-01T14:30:00Z&outcome=refused&what=',
    ]) {
      const { status, text } = await page(query);
      expect([query, status]).toEqual([query, 200]);
      expect(text).toMatch(/\d+ lines? w(as|ere) looked at/);
    }
    expect((await page('from=2020-01-01&outcome=allowed')).text).toContain('<table');
  });
});
