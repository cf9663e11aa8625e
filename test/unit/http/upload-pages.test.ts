import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../../gateway/errors.js';
import type { UploadState } from '../../../gateway/files/uploads/upload-links.js';
import { refused, shown } from '../../../gateway/http/routes/upload-answers.js';
import { startUploadServer, type UploadServer } from '../../helpers/upload-server.js';

let server: UploadServer;

beforeAll(async () => {
  server = await startUploadServer({ stores: 'filesystem+memory' });
});

afterAll(() => server?.stop());

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const WITH = { now: Date.now(), isResumable: true };
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
      purpose: { server: 'crm', tool: 'import_contacts', argument: 'pages[0].data', message: 'Bring both' },
    });
    const response = await fetch(url, { headers: BROWSER });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const html = await response.text();
    for (const said of ['crm', 'import_contacts', 'pages[0].data', 'Bring both', '5.2 MB', 'PNG, PDF'])
      expect(textOf(html)).toContain(said);
    expect(html).toContain(`<time datetime="${expiresAt}">${expiresAt.slice(0, 16).replace('T', ' ')} UTC</time>`);
    expect(html).toMatch(/<form method="post" enctype="multipart\/form-data">/);
    expect(html).toMatch(/<input id="file" name="file" type="file" required="" accept="image\/png,.pdf"\/>/);
  });

  it('lets in its own script and style alone, is neither framed nor cached, and sends its address nowhere', async () => {
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
      `default-src 'none'; script-src 'self'; style-src 'sha256-${hash}'; img-src blob:; connect-src 'self'; ` +
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; " +
        "trusted-types 'none'",
    );
    const ownOnly = html.replaceAll(
      /<(?:script|link) [^>]*(?:src|href)="\.\.\/assets\/[0-9a-f]{16}\/[a-z/-]+\.js"/g,
      '',
    );
    expect(ownOnly).not.toMatch(/<script|<link|<img|src=|https?:|style=|\bon\w+=/i);
  });

  it('names every module of its script, which are kept for ever under an address that changes with them', async () => {
    const { url } = await server.authorize();
    const html = await (await fetch(url, { headers: BROWSER })).text();
    const named = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => new URL(String(path), url).href);
    expect(named.length).toBeGreaterThan(10);
    const imported = new Set(named.slice(0, 1));
    for (const address of named) {
      const answer = await fetch(address);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=31536000, immutable',
        'cross-origin-resource-policy': 'same-origin',
      });
      const text = await answer.text();
      expect(text).not.toContain('sourceMappingURL');
      for (const [, path] of text.matchAll(/from '([^']+)'/g)) imported.add(new URL(String(path), address).href);
    }
    expect([...imported].sort()).toEqual([...named].sort());
    const [first = ''] = named;
    for (const other of [
      first.replace(/assets\/\w/, 'assets/'),
      first.replace('upload.js', '../../main.js'),
      `${first}.map`,
    ])
      expect((await fetch(other)).status).toBe(404);
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
      /not stored .*larger than the 10 bytes allowed \(11 bytes so far\).*Choose another file/,
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

  it.each([
    ['done', 200, 'Already uploaded', 'completed'],
    ['expired', 410, 'has expired', 'expired'],
    ['unknown', 404, 'Unknown link', 'unknown'],
  ] as const)('says in words that a link is %s, and to programs in one', async (kind, status, words, word) => {
    const page = shown({ kind }, BROWSER.accept, WITH);
    expect([page.status, textOf(await page.text())]).toEqual([status, expect.stringContaining(words)]);
    const state = shown({ kind }, 'application/json', WITH);
    expect([state.status, await state.json()]).toEqual([status, { status: word }]);
  });

  it('says to who has only opened it that it cannot be shown, and not that a file was not stored', async () => {
    const error = new GatewayError('state_unavailable');
    const [opened, sent] = await Promise.all(
      ['GET', 'POST'].map(async (method) => textOf(await refused(error, { method, headers: BROWSER }).text())),
    );
    expect(opened).toContain('The page cannot be shown now The state store is not available. Try again later.');
    expect(opened).not.toContain('stored.');
    expect(sent).toContain('The file was not stored The state store is not available. Try again later.');
  });

  it('tells programs what the link takes, and of what it took nothing', async () => {
    const { url, expiresAt } = await server.authorize({ maxSize: 10, accept: ['text/plain'], name: 'a.txt' });
    const ask = async () => (await fetch(url, { headers: { accept: 'application/json' } })).json();
    expect(await ask()).toEqual({ status: 'open', expiresAt, maxSize: 10, accept: ['text/plain'], name: 'a.txt' });
    expect((await submit(url, 'a.txt', 'x')).status).toBe(201);
    expect(await ask()).toEqual({ status: 'completed' });
    const used = await fetch(url, { headers: BROWSER });
    expect([used.status, textOf(await used.text())]).toEqual([200, expect.stringContaining('Already uploaded')]);
    const unknown = await fetch(`${server.url}/u/nothing`, { headers: BROWSER });
    expect([unknown.status, textOf(await unknown.text())]).toEqual([404, expect.stringContaining('Unknown link')]);
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
  ])('is text: %j (G28)', async (nasty) => {
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
        purpose: { server: nasty, tool: nasty, argument: nasty, message: nasty },
      },
    };
    const html = await shown(state, BROWSER.accept, WITH).text();
    const plainState: UploadState = {
      ...state,
      intent: {
        principal: 'p',
        name: 'X',
        mimeType: 'X',
        accept: ['X'],
        purpose: { server: 'X', tool: 'X', argument: 'X', message: 'X' },
      },
    };
    const plain = await shown(plainState, BROWSER.accept, WITH).text();
    const tags = (page: string) =>
      (page.match(/<[^>]*>/g) ?? []).map((tag) => tag.replace(/(?:accept|data-upload)="[^"]*"/, ''));
    expect(tags(html)).toEqual(tags(plain));
    // what turns or hides text is seen for what it is
    expect(html.replace(/data-upload="[^"]*"|accept="[^"]*"/g, '')).not.toMatch(/[\0\u2028\u202e]/);
  });

  it('is not longer than there is room for', async () => {
    const long = 'x'.repeat(100_000);
    const intent = { principal: 'p', purpose: { server: long, tool: long, argument: long, message: long } };
    const largest = { limit: 'limits.file', allowed: 1 };
    const html = await shown({ kind: 'open', fileId: 'f', expiresAt: 0, largest, intent }, undefined, WITH).text();
    expect(textOf(html).length).toBeLessThan(3000);
  });
});
