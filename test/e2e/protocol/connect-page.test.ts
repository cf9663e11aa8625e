import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import { freePorts } from '../../helpers/gateway-process-ports.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

let wharf: Wharf | undefined;
afterEach(async () => {
  await wharf?.stop();
  wharf = undefined;
});

/** A port where nothing listens: a page that asked a server would fail. */
const url = 'http://127.0.0.1:1/mcp';
const KEYS = { use: 'apiKeys', keys: [{ name: 'caller-of-mine', hash: `sha256:${'ab'.repeat(32)}` }] };

interface Page {
  status: number | undefined;
  type: string | undefined;
  body: string;
}

/** As a browser opens a page; fetch would say that it is a script. */
const visit = (path: string, accept = 'text/html', url = wharf?.url) =>
  new Promise<Page>((resolve, reject) => {
    const sent = request(`${url}${path}`, { headers: { accept }, agent: false }, (response) => {
      text(response).then(
        (body) => resolve({ status: response.statusCode, type: response.headers['content-type'], body }),
        reject,
      );
    });
    sent.on('error', reject);
    sent.end();
  });

describe('the page at / and at an MCP path', () => {
  it('of a gateway with one server has its URL, with publicUrl, for each host', async () => {
    const [port] = await freePorts(1);
    const listen = `127.0.0.1:${port}`;
    wharf = await startWharf({
      servers: { docs: { url } },
      config: { listen, publicUrl: 'https://example.com/wharf' },
    });
    for (const path of ['/', '/mcp', '/docs/mcp']) {
      const { status, type, body } = await visit(path, 'text/html', `http://${listen}`);
      expect([path, status, type]).toEqual([path, 200, 'text/html; charset=utf-8']);
      const shown = path === '/docs/mcp' ? 'https://example.com/wharf/docs/mcp' : 'https://example.com/wharf/mcp';
      expect(body).toContain(`claude mcp add --transport http docs ${shown}<`);
      expect(body).toMatch(new RegExp(`src="${path === '/docs/mcp' ? '\\.\\./' : ''}assets/[0-9a-f]+/`));
    }
  });

  it('of several servers leads to the page of each, also from the path of a server that is not there', async () => {
    wharf = await startWharf({ servers: { docs: { url }, mail: { url } } });
    for (const [path, status] of [
      ['/', 200],
      ['/mcp', 404],
      ['/nope/mcp', 404],
    ] as const) {
      const page = await visit(path);
      expect([path, page.status]).toEqual([path, status]);
      for (const name of ['docs', 'mail']) expect(page.body).toContain(`<a href="${wharf.url}/${name}/mcp">`);
    }
    const { body } = await visit('/', '*/*');
    for (const name of ['docs', 'mail']) expect(body).toContain(`\n  ${name}  ${wharf.url}/${name}/mcp\n`);
  });

  it('says nothing of servers and callers where callers have keys', async () => {
    wharf = await startWharf({ servers: { docs: { url }, mail: { url } }, config: { auth: KEYS } });
    const [root, known, unknown] = [await visit('/'), await visit('/docs/mcp'), await visit('/nope/mcp')];
    for (const { body } of [root, await visit('/', '*/*')]) {
      expect(body).not.toMatch(/docs|mail|caller-of-mine/);
      expect(body).toContain(`${wharf.url}/SERVER/mcp`);
    }
    expect([known.status, unknown.status]).toEqual([200, 200]);
    expect(unknown.body.replaceAll('nope', 'docs')).toBe(known.body);
    expect(known.body).toContain('Bearer KEY');
  });

  it('asks people for no key where they log in, and names keys as the second way where there are both', async () => {
    const jwt = { issuers: [{ issuer: 'http://127.0.0.1:1' }] };
    for (const auth of [{ use: 'jwt', jwt }, { ...KEYS, use: ['apiKeys', 'jwt'], jwt }, { use: 'passthrough' }]) {
      wharf = await startWharf({ servers: { docs: { url } }, config: { auth } });
      for (const page of [await visit('/docs/mcp'), await visit('/', '*/*')]) {
        const body = page.body.replaceAll(/<[^>]+>/g, '\n').replace(/Bearer\s+KEY/, 'Bearer KEY');
        expect(body).toMatch(/claude mcp add --transport http (docs|wharf) http:\S+\/mcp\n/);
        expect(body).toContain('Callers log in here');
        expect(body.includes('Authorization: Bearer KEY')).toBe('keys' in auth);
        expect(body).not.toContain('Put yours in the place');
      }
      await wharf.stop();
    }
    wharf = undefined;
  });

  it('is for browsers; at / also for programs that take whatever there is, and others hear that nothing is here', async () => {
    wharf = await startWharf({ servers: { docs: { url } } });
    for (const accept of ['application/json', 'text/event-stream, text/html', 'text/event-stream, */*'])
      expect([accept, (await visit('/', accept)).status]).toEqual([accept, 404]);
    const { status, type, body } = await visit('/', '*/*');
    expect([status, type]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(body).toContain(`\n\nMCP URL: ${wharf.url}/mcp\n\n`);
    expect(body).toContain(`\n  claude mcp add --transport http docs ${wharf.url}/mcp\n`);
    expect(await (await fetch(`${wharf.url}/`)).text()).toBe(body);
    for (const path of ['/mcp', '/docs/mcp']) expect((await visit(path, '*/*')).status).toBe(406);
    const ofOther = { accept: '*/*', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' };
    expect((await fetch(`${wharf.url}/`, { headers: ofOther })).status).toBe(404);
  });

  it('shows no path that cannot be the name of a server', async () => {
    wharf = await startWharf({ servers: { docs: { url } }, config: { auth: KEYS } });
    for (const path of ['/%3Cb%3E/mcp', '/UPPER/mcp', `/${'a'.repeat(65)}/mcp`]) {
      const { status, body } = await visit(path);
      expect([path, status]).toEqual([path, 404]);
      expect(body).toContain('Nothing here');
      expect(body).not.toMatch(/<b>|%3C|UPPER|aaa/);
    }
  });

  it('is where the page of an address that leads nowhere leads; programs get JSON', async () => {
    wharf = await startWharf({ servers: { docs: { url } } });
    const { status, type, body } = await visit('/some/thing');
    expect([status, type]).toEqual([404, 'text/html; charset=utf-8']);
    expect(body).toContain(`href="${wharf.url}/"`);
    const program = await visit('/some/thing', '*/*');
    expect([program.status, JSON.parse(program.body)]).toMatchObject([
      404,
      { error: { data: { code: 'route_unknown' } } },
    ]);
  });

  it('is not disturbed by the icon that every browser asks for', async () => {
    wharf = await startWharf({ servers: { docs: { url } } });
    expect(await visit('/favicon.ico', 'image/avif,image/*')).toMatchObject({ status: 204, body: '' });
  });
});
