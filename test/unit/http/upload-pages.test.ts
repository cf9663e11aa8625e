import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { UploadState } from '../../../gateway/files/upload.js';
import { shown } from '../../../gateway/http/routes/upload-answers.js';
import { startUploadServer, type UploadServer } from '../../helpers/upload-server.js';

let server: UploadServer;

beforeAll(async () => {
  server = await startUploadServer({ stores: 'filesystem+memory' });
});

afterAll(() => server?.stop());

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const textOf = (html: string) =>
  html
    .replace(/<style>[\s\S]*?<\/style>/, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');

async function submit(url: string, name: string, content: string): Promise<Response> {
  const form = new FormData();
  form.set('file', new File([content], name, { type: 'text/plain' }));
  return fetch(url, { method: 'POST', body: form, headers: { ...BROWSER, origin: server.url } });
}

describe('the upload page', () => {
  it('says what the file is for, what is taken, and until when', async () => {
    const { url, expiresAt } = await server.authorize({
      maxSize: 5 * 1024 * 1024,
      accept: ['image/png', '.pdf'],
      purpose: { server: 'crm', tool: 'import_contacts', argument: 'pages[0].data' },
    });
    const response = await fetch(url, { headers: BROWSER });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const html = await response.text();
    for (const said of ['crm', 'import_contacts', 'pages[0].data', '5.2 MB', 'image/png, .pdf', expiresAt.slice(0, 10)])
      expect(textOf(html)).toContain(said);
    expect(html).toMatch(/<form method="post" enctype="multipart\/form-data">/);
    expect(html).toMatch(/<input id="file" name="file" type="file" required="" accept="image\/png,.pdf"\/>/);
  });

  it('loads and runs nothing, is framed and cached by nobody, and sends its address nowhere', async () => {
    const { url } = await server.authorize();
    const response = await fetch(url, { headers: BROWSER });
    const html = await response.text();
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
    });
    const style = /<style>([\s\S]*)<\/style>/.exec(html)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(response.headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    );
    expect(html).not.toMatch(/<script|<link|<img|src=|https?:|style=|\bon\w+=/i);
  });

  it('is shown any number of times, also as HEAD, and uses nothing up', async () => {
    const { url } = await server.authorize();
    for (const method of ['HEAD', 'GET', 'HEAD', 'GET']) {
      const response = await fetch(url, { method, headers: BROWSER });
      expect(response.status).toBe(200);
      expect((await response.text()) === '').toBe(method === 'HEAD');
    }
    expect((await submit(url, 'a.txt', 'x')).status).toBe(201);
  });

  it('answers a browser’s form with a page, of what was stored or of why not', async () => {
    const { url, uri } = await server.authorize({ maxSize: 10 });
    const refused = await submit(url, 'a.txt', 'x'.repeat(11));
    expect(refused.status).toBe(413);
    expect(textOf(await refused.text())).toMatch(
      /not stored .*larger than the 10 bytes allowed \(11 bytes\).*Try again/,
    );
    const stored = await submit(url, 'a.txt', 'x');
    expect(stored.status).toBe(201);
    expect(stored.headers.get('content-security-policy')).toContain("default-src 'none'");
    const text = textOf(await stored.text());
    for (const said of ['Uploaded', 'a.txt', '1 byte', 'text/plain', uri]) expect(text).toContain(said);
    const again = await submit(url, 'a.txt', 'x');
    expect(again.status).toBe(409);
    expect(textOf(await again.text())).toMatch(/Already uploaded/);
  });

  it('says in words that a link has been used, has expired, or is unknown', async () => {
    const { url } = await server.authorize();
    await submit(url, 'a.txt', 'x');
    const used = await fetch(url, { headers: BROWSER });
    expect([used.status, textOf(await used.text())]).toEqual([200, expect.stringContaining('Already uploaded')]);
    const unknown = await fetch(`${server.url}/u/nothing`, { headers: BROWSER });
    expect([unknown.status, textOf(await unknown.text())]).toEqual([404, expect.stringContaining('Unknown link')]);
    const expired = shown({ kind: 'expired' });
    expect([expired.status, textOf(await expired.text())]).toEqual([410, expect.stringContaining('has expired')]);
  });
});

describe('whatever a peer said, on the page', () => {
  it.each([
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "'-alert(1)-'",
    '</title><script>alert(1)</script>',
    '</style><script>alert(1)</script>',
    '&quot;&lt;',
    'javascript:alert(1)',
    '{{alert(1)}}',
    '\u2028\u202e<svg/onload=alert(1)>',
    'x" autofocus onfocus="alert(1)',
    '\0<\0script>',
  ])('is text: %j', async (nasty) => {
    const state: UploadState = {
      kind: 'open',
      fileId: 'f',
      expiresAt: 0,
      largest: { limit: 'limits.file', allowed: 1 },
      intent: {
        principal: 'p',
        name: nasty,
        mimeType: nasty,
        accept: [nasty],
        purpose: { server: nasty, tool: nasty, argument: nasty },
      },
    };
    const html = await shown(state).text();
    const plain = await shown({
      ...state,
      intent: {
        principal: 'p',
        name: 'X',
        mimeType: 'X',
        accept: ['X'],
        purpose: { server: 'X', tool: 'X', argument: 'X' },
      },
    }).text();
    const tags = (page: string) => (page.match(/<[^>]*>/g) ?? []).map((tag) => tag.replace(/accept="[^"]*"/, ''));
    expect(tags(html)).toEqual(tags(plain));
  });
});
