import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { keyHash } from '../../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { freePorts } from '../../helpers/gateway-process-ports.js';
import { linkIn } from '../../helpers/person.js';
import { RawClient } from '../../helpers/raw-client.js';
import { RotatingServer } from '../../helpers/rotating-server.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';
import { openBrowser } from './chromium.js';
import { close, open, type Watched } from './lab.js';
import { look } from './looks.js';

const KEYS = { ada: 'a-key-of-ada', bob: 'a-key-of-bob' };

let browser: Browser;
let idp: RotatingServer;
let fake: FakeUpstream;
let wharf: Wharf;
let watched: Watched;

beforeAll(async () => {
  [browser, idp] = await Promise.all([openBrowser(), RotatingServer.start()]);
  fake = await startFakeUpstream({ transport: 'json', session: true });
  fake.respond = ({ body }) => (body.includes('tools/call') ? { status: 401 } : undefined);
  const [port = 0] = await freePorts(1);
  const keys = Object.entries(KEYS).map(([name, key]) => ({ name, hash: keyHash(key) }));
  wharf = await startWharf({
    servers: { crm: { url: fake.url, upstreamAuth: { perUser: { issuer: idp.url, clientId: 'wharf' } } } },
    config: { listen: `127.0.0.1:${port}`, auth: { use: 'apiKeys', keys } },
  });
});

afterEach(async () => {
  idp.forgets = false;
  await close(watched?.page);
});

afterAll(async () => {
  await browser?.close();
  await wharf?.stop();
  await fake?.close();
  await idp?.close();
});

/** The link that a person is given. */
async function linkOf(person: keyof typeof KEYS): Promise<string> {
  const headers = { authorization: `Bearer ${KEYS[person]}` };
  const client = await RawClient.connect(wharf.mcp, '2025-06-18', { headers });
  const params = { name: 'echo', arguments: { text: 'x' } };
  return linkIn((await client.post({ jsonrpc: '2.0', id: 2, method: 'tools/call', params })).text);
}

describe('a login of a person at a server', () => {
  it('can be done by everybody, with the keyboard alone', async () => {
    watched = await open(browser, await linkOf('ada'));
    const { page } = watched;
    await look(watched, 'login');
    await page.keyboard.press('Tab');
    const { host } = new URL(idp.url);
    expect(await page.evaluate<string>('document.activeElement.textContent')).toBe(`Log in at ${host}`);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'You are logged in' }).waitFor();
    await look(watched, 'login-done');
    await page.reload();
    await page.getByText('If you have just logged in, go on in your assistant').waitFor();
  });

  it('says that it has failed, and what to do then', async () => {
    idp.forgets = true;
    watched = await open(browser, await linkOf('bob'));
    await watched.page.getByRole('link', { name: 'Log in at' }).click();
    await watched.page.getByRole('heading', { name: 'The login failed' }).waitFor();
    await look(watched, 'login-failed');
  });
});
