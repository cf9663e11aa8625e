import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { keyHash } from '../../helpers/bytes.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { recorder } from '../audit/recorder.js';
import { openBrowser } from './chromium.js';
import { close, faults, open as openPage, type Watched } from './lab.js';
import { look } from './looks.js';

const OPERATOR = 'the-key-of-an-operator';
const VIEWER = 'the-key-of-a-viewer';
const CALLER = 'the-key-of-a-caller';

const config = {
  auth: { use: 'apiKeys', keys: [{ name: 'ci', hash: keyHash(CALLER) }] },
  console: {
    users: [
      { name: 'ann', role: 'operator', hash: keyHash(OPERATOR) },
      { name: 'bob', hash: keyHash(VIEWER) },
    ],
  },
  secret: 'a secret that no page may show to a person',
};

const audit = recorder();
let browser: Browser;
let watched: Watched;
let wharf: Wharf;

beforeAll(async () => {
  browser = await openBrowser();
  wharf = await startWharf({
    adapters: audit.adapters,
    servers: {
      quiet: { command: [process.execPath, '-e', QUIET], env: { TOKEN: 'the server alone may know this' } },
      down: { url: 'http://127.0.0.1:1/mcp' },
    },
    config,
  });
});

afterEach(async () => {
  await close(watched?.page);
});

afterAll(async () => {
  await browser?.close();
  await wharf?.stop();
});

/** A server that says yes to everything. */
const QUIET = `require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const data = require('crypto').randomBytes(60_000).toString('base64');
  const blob = { type: 'resource', resource: { uri: 'file:///harbour.bin', mimeType: 'application/octet-stream', blob: data } };
  const tools = [{ name: 'picture', inputSchema: { type: 'object' } }];
  const result = method === 'tools/list' ? { tools } : method === 'tools/call' ? { content: [blob] } : { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'q', version: '1' } };
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
});`;

async function post(server: string, message: object, session?: string): Promise<Response> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  return fetch(`${wharf.url}/${server}/mcp`, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${CALLER}`, ...(session && { 'mcp-session-id': session }) },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
  });
}

/** Opens a session as a host would. */
async function session(server: string, name = 'claude-code'): Promise<string> {
  const clientInfo = { name, version: '2.1' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  const answer = await post(server, { method: 'initialize', params });
  await answer.text();
  return answer.headers.get('mcp-session-id') ?? '';
}

async function logIn(key: string): Promise<Watched> {
  watched = await openPage(browser, `${wharf.adminUrl}/`);
  await watched.page.getByLabel('Your key').fill(key);
  await watched.page.getByRole('button', { name: 'Log in' }).click();
  await watched.page.getByRole('heading', { name: 'Overview' }).waitFor();
  return watched;
}

const read = (path: string, key?: string) =>
  fetch(wharf.adminUrl + path, key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } });

describe('the console', () => {
  it('asks for a key, says when it is wrong, and forgets who has logged out', async () => {
    watched = await openPage(browser, `${wharf.adminUrl}/servers`);
    const { page } = watched;
    await look(watched, 'console-login');
    await page.getByLabel('Your key').fill('not a key');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('alert').getByText('This key is not one').waitFor();
    await page.getByLabel('Your key').fill(VIEWER);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('bob (viewer)').waitFor();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.goto(`${wharf.adminUrl}/`);
    expect(await page.getByLabel('Your key').count()).toBe(1);
  });

  it('leads after a login, also after a wrong key, to the page that was asked for', async () => {
    watched = await openPage(browser, `${wharf.adminUrl}/stored?principal=ci&server=quiet`);
    const { page } = watched;
    for (const key of ['not a key', VIEWER]) {
      await page.getByLabel('Your key').fill(key);
      await page.getByRole('button', { name: 'Log in' }).click();
    }
    await page.getByText('bob (viewer)').waitFor();
    expect(page.url()).toBe(`${wharf.adminUrl}/stored?principal=ci&server=quiet`);
  });

  it.each(['//evil.example/', '/\\evil.example', 'https://evil.example/', '/a\r\nb: c', `/${'a'.repeat(1024)}`, ''])(
    'leads after a login to no other place: %j',
    async (to) => {
      const body = new URLSearchParams({ key: VIEWER, to });
      const answer = await fetch(`${wharf.adminUrl}/login`, { method: 'POST', body, redirect: 'manual' });
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/']);
    },
  );

  it('leads from a server that is not there to those that are', async () => {
    const { page } = await logIn(OPERATOR);
    await page.goto(`${wharf.adminUrl}/servers/nope`);
    await page.getByText('No server is called "nope".').waitFor();
    await page.getByRole('link', { name: 'All servers' }).click();
    await page.getByRole('heading', { name: 'Servers', exact: true }).waitFor();
  });

  it('can be used by everybody, and shows what is wrong, who is there and what is in force', async () => {
    await session('quiet');
    await (await post('down', { method: 'initialize', params: {} })).text();
    const { page } = await logIn(OPERATOR);
    await page.getByText('server down: connection refused').waitFor();
    await look(watched, 'console-overview');
    for (const [link, text, name] of [
      ['Servers', `${wharf.url}/quiet/mcp`, 'console-servers'],
      ['Sessions', 'claude-code 2.1', 'console-sessions'],
      ['Refusals', 'upstream_unreachable', 'console-refusals'],
      ['Config', 'limits.inlineImage', 'console-config'],
    ] as const) {
      await page.getByRole('link', { name: link }).click();
      await page.getByText(text).first().waitFor();
      await look(watched, name);
    }
  });

  it('keeps the limit of a refusal, and the URL of a server, on one line at the width of a phone', async () => {
    expect((await post('quiet', { method: 'ping', params: { text: 'x'.repeat(5_000_000) } })).status).toBe(413);
    const { page } = await logIn(OPERATOR);
    await page.setViewportSize({ width: 360, height: 800 });
    for (const [path, text] of [
      ['/refusals', 'limits.message'],
      ['/servers', `${wharf.url}/quiet/mcp`],
    ] as const) {
      await page.goto(wharf.adminUrl + path);
      const found = page.locator('td code', { hasText: text }).first();
      expect(await found.evaluate((code) => code.getClientRects()[0]?.height)).toBeLessThan(30);
      // the table scrolls, and not the page
      expect(await page.locator('html').evaluate((whole) => whole.scrollWidth)).toBe(360);
    }
  });

  it('shows no secret', async () => {
    const open = await session('quiet');
    const { page } = await logIn(OPERATOR);
    const texts = [];
    for (const path of ['/', '/servers', '/sessions', '/refusals', '/config', '/stored']) {
      await page.goto(wharf.adminUrl + path);
      texts.push(await page.content());
      if (path !== '/stored') texts.push(await (await read(`/api${path === '/' ? '/overview' : path}`, VIEWER)).text());
    }
    const all = texts.join('');
    expect(all.includes('gatewayId')).toBe(true);
    const keys = [OPERATOR, VIEWER, CALLER];
    const hashes = keys.map((key) => keyHash(key).slice('sha256:'.length));
    const secrets = [...keys, ...hashes, config.secret, 'the server alone may know this', open];
    expect(secrets.filter((secret) => all.includes(secret))).toEqual([]);
  });

  it('lets an operator end a session, and a viewer look at it', async () => {
    const ended = await session('quiet');
    expect((await post('quiet', { method: 'ping' }, ended)).status).toBe(200);
    const [newest] = (await (await read('/api/sessions', VIEWER)).json()) as { tag: string }[];
    await logIn(VIEWER);
    await watched.page.goto(`${wharf.adminUrl}/sessions`);
    expect(await watched.page.getByRole('button', { name: 'End' }).count()).toBe(0);
    const refused = await fetch(`${wharf.adminUrl}/sessions/end`, {
      method: 'POST',
      headers: { authorization: `Bearer ${VIEWER}` },
      body: new URLSearchParams({ session: String(newest?.tag) }),
    });
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('console_role')]);
    await close(watched.page);
    const { page } = await logIn(OPERATOR);
    await page.goto(`${wharf.adminUrl}/sessions`);
    await page.getByRole('button', { name: `End session ${newest?.tag}` }).click();
    await page.getByRole('button', { name: `End session ${newest?.tag}` }).waitFor({ state: 'detached' });
    expect((await post('quiet', { method: 'ping' }, ended)).status).toBe(404);
    expect(audit.entries).toContainEqual({
      ...{ what: 'control', allowed: true, actor: 'ann', subject: 'end session' },
      ...{ principal: 'ci', server: 'quiet' },
    });
  });

  it('keeps what an operator presses in sight beside a client whose name has no end', async () => {
    await session('quiet', 'x'.repeat(300));
    const { page } = await logIn(OPERATOR);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(`${wharf.adminUrl}/sessions`);
    const row = page.getByRole('row').filter({ hasText: 'xxxx' });
    const [line, end] = await Promise.all([row.boundingBox(), row.getByRole('button').boundingBox()]);
    expect(line?.height).toBeLessThan(130);
    expect((end?.x ?? 0) + (end?.width ?? 0)).toBeLessThan(1280);
    // a date is not broken after its hyphens
    expect((await row.getByText('2025-06-18').boundingBox())?.height).toBeLessThan(30);
  });

  it('says to who presses a button after the login has ended that nothing was done, and leads back', async () => {
    const open = await session('quiet');
    const { page } = await logIn(OPERATOR);
    await page.goto(`${wharf.adminUrl}/sessions`);
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'End session' }).first().click();
    await page.getByRole('alert').getByText('Your login has ended, and nothing was done.').waitFor();
    expect(await faults(watched)).toEqual([]);
    expect((await post('quiet', { method: 'ping' }, open)).status).toBe(200);
    await page.getByLabel('Your key').fill(OPERATOR);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'Sessions' }).waitFor();
  });

  it('lets an operator revoke a file, which is gone for its link, and a viewer see it', async () => {
    const opened = await session('quiet');
    const answer = await post('quiet', { method: 'tools/call', params: { name: 'picture', arguments: {} } }, opened);
    const told = /\{"jsonrpc.*\}/.exec(await answer.text())?.[0] ?? '';
    const { result } = JSON.parse(told) as {
      result: { _meta: { 'dev.wharf/files': { url: string; name: string }[] } };
    };
    const [file] = result._meta['dev.wharf/files'];
    expect((await fetch(String(file?.url))).status).toBe(200);
    await logIn(VIEWER);
    await watched.page.getByRole('link', { name: 'Files' }).click();
    await watched.page.getByText(String(file?.name)).first().waitFor();
    expect(await watched.page.getByRole('button', { name: 'revoke' }).count()).toBe(0);
    await close(watched.page);
    const { page } = await logIn(OPERATOR);
    await page.goto(`${wharf.adminUrl}/stored`);
    await look(watched, 'console-files');
    await page.getByLabel('Who').fill('nobody');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('There is none.').waitFor();
    await page.getByLabel('Who').fill('ci');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.locator('summary', { hasText: 'revoke' }).first().click();
    await look(watched, 'console-revoke');
    await page.getByRole('button', { name: `revoke for good ${file?.name}` }).click();
    await page.getByText('revoked').first().waitFor();
    expect(new URL(page.url()).searchParams.get('principal')).toBe('ci');
    expect((await fetch(String(file?.url))).status).not.toBe(200);
    expect(audit.entries.at(-2)).toMatchObject({ what: 'control', actor: 'ann', subject: 'revoke', principal: 'ci' });
  });

  it('says that no file can have what is no digest, and looks no further', async () => {
    const { page } = await logIn(VIEWER);
    await page.goto(`${wharf.adminUrl}/stored?digest=zzz`);
    await page.getByText('This is not a digest: it has 64 hexadecimal digits').waitFor();
    expect(await page.getByRole('link', { name: 'More' }).count()).toBe(0);
  });

  it('records who logs in, and that others tried', async () => {
    audit.entries.length = 0;
    await logIn(VIEWER);
    await read('/', 'a-guess');
    expect(audit.entries).toEqual([
      { what: 'login', subject: 'console', allowed: true, actor: 'bob', address: '127.0.0.1' },
      { what: 'login', subject: 'console', allowed: false, code: 'console_login', address: '127.0.0.1' },
    ]);
  });

  it('says the same to programs as JSON, with the source of each setting', async () => {
    const settings = (await (await read('/api/config', VIEWER)).json()) as object[];
    expect(settings).toContainEqual({ path: 'limits.file', value: '100MiB', source: 'default' });
    expect(settings).toContainEqual({ path: 'auth.keys', value: '["ci"]', source: 'file' });
    expect(settings).not.toContainEqual(expect.objectContaining({ path: 'links.lasting' }));
    expect(await (await read('/api/overview', VIEWER)).json()).toMatchObject({ status: 'ready', gatewayId: 'wharf' });
    expect(await (await read('/api/servers', VIEWER)).json()).toMatchObject([{ name: 'quiet' }, { name: 'down' }]);
  });

  it('tells a program that it needs a key in JSON', async () => {
    const answer = await read('/servers');
    expect([answer.status, await answer.json()]).toMatchObject([401, { error: { data: { code: 'console_login' } } }]);
  });

  it.each([
    '/',
    '/servers',
    '/stored',
    '/sessions',
    '/refusals',
    '/config',
    '/api/overview',
    '/api/sessions',
    '/api/config',
  ])('shows %s to users alone, and health to everybody', async (path) => {
    const answers = [await read(path)];
    // one address may try ten wrong keys a minute
    if (['/', '/stored', '/api/config'].includes(path)) answers.push(await read(path, CALLER));
    for (const answer of answers) {
      expect(answer.status).toBe(401);
      expect(await answer.text()).not.toContain('gatewayId');
    }
    expect((await read('/healthz')).status).toBe(200);
  });

  it('takes no form of another site', async () => {
    const answer = await fetch(`${wharf.adminUrl}/login`, {
      method: 'POST',
      headers: { origin: 'http://evil.example' },
      body: new URLSearchParams({ key: OPERATOR }),
    });
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([403, null]);
  });
});

describe('the console of other configs', () => {
  it('lets one address guess ten keys a minute', async () => {
    const own = await startWharf({ servers: { down: { url: 'http://127.0.0.1:1/mcp' } }, config });
    try {
      const statuses = [];
      for (let tries = 0; tries < 12; tries += 1) {
        const body = new URLSearchParams({ key: tries < 11 ? `guess ${tries}` : OPERATOR });
        const { status } = await fetch(`${own.adminUrl}/login`, { method: 'POST', body, redirect: 'manual' });
        statuses.push(status);
      }
      expect(statuses).toEqual([...Array<number>(10).fill(401), 429, 429]);
    } finally {
      await own.stop();
    }
  });

  it('lets people in although a program behind their address goes on with an old key', async () => {
    const own = await startWharf({ servers: { down: { url: 'http://127.0.0.1:1/mcp' } }, config });
    try {
      for (let tries = 0; tries < 20; tries += 1) {
        const headers = { authorization: 'Bearer an-old-key' };
        expect((await fetch(`${own.adminUrl}/api/overview`, { headers })).status).toBe(401);
      }
      const body = new URLSearchParams({ key: OPERATOR });
      const { status } = await fetch(`${own.adminUrl}/login`, { method: 'POST', body, redirect: 'manual' });
      expect(status).toBe(303);
    } finally {
      await own.stop();
    }
  });

  it('without users shows how to make one, and nothing else', async () => {
    const own = await startWharf({ servers: { down: { url: 'http://127.0.0.1:1/mcp' } } });
    try {
      watched = await openPage(browser, `${own.adminUrl}/`);
      await watched.page.getByText('The console has no users yet').waitFor();
      const [command = ''] = await watched.page.locator('code').allTextContents();
      const { stdout } = await promisify(execFile)('bash', ['-c', command]);
      const [key = '', hash] = stdout.split(/\s+/);
      expect(hash).toBe(keyHash(key).replace('sha256:', ''));
      await look(watched, 'console-none');
      expect((await fetch(`${own.adminUrl}/api/overview`)).status).toBe(404);
    } finally {
      await own.stop();
    }
  });
});
