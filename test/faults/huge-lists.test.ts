import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import { gauge } from '../helpers/fault-checks.js';
import { close, listen } from '../helpers/loopback.js';
import { RawClient } from '../helpers/raw-client.js';
import { until } from '../helpers/wait.js';
import { startWharf, type Wharf } from '../helpers/wharf.js';

const PAGES = 50;
const PAGE_BYTES = 900_000;
const VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
const RESPONSE = 1024 * 1024;
const CATALOG = 4 * RESPONSE;
/** An argument that could be a file, so that Wharf has to know the tool. */
const MAYBE_A_FILE = { doc: `data:text/plain;base64,${'QUJD'.repeat(20)}` };

interface Lister {
  url: string;
  /** How often its tools have been asked for. */
  asked: () => number;
  close: () => Promise<void>;
}

/** A server of as many tools as it has pages; its tools repeat what they were called with. */
async function startLister(pages: number, filler: (page: number) => object): Promise<Lister> {
  let asked = 0;
  const resultOf = (method: string, params: Record<string, string> = {}): object => {
    if (method === 'initialize')
      return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'l' } };
    if (method !== 'tools/list') return { content: [{ type: 'text', text: JSON.stringify(params.arguments) }] };
    asked += 1;
    const page = Number(params.cursor ?? 0);
    const tool = { name: `t${page}`, inputSchema: { type: 'object' }, ...filler(page) };
    return { tools: [tool], ...(page + 1 < pages && { nextCursor: String(page + 1) }) };
  };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    const message = body === '' ? {} : JSON.parse(body);
    if (message.id === undefined) return response.writeHead(message.method ? 202 : 405).end();
    const result = resultOf(message.method, message.params);
    response.writeHead(200, { 'content-type': 'application/json' });
    return response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
  };
  const server = createServer((request, response) => void answer(request, response));
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    asked: () => asked,
    close: async () => {
      await close(server);
    },
  };
}

const listers: Lister[] = [];
let wharf: Wharf;

async function start(servers: Record<string, Lister>): Promise<void> {
  listers.push(...Object.values(servers));
  wharf = await startWharf({
    servers: Object.fromEntries(Object.entries(servers).map(([name, { url }]) => [name, { url }])),
    config: { limits: { response: RESPONSE, catalog: CATALOG } },
  });
}

afterEach(async () => {
  await wharf?.stop();
  for (const lister of listers.splice(0)) await lister.close();
});

const called = async (client: RawClient, tool: string) => {
  const { result } = await client.call(tool, MAYBE_A_FILE);
  return result?.content?.[0]?.text;
};

describe('a server with a list of tools without end', () => {
  it.each([
    ['one long text a page', () => ({ outputSchema: { type: 'object', description: 'x'.repeat(PAGE_BYTES) } })],
    [
      'very many schemas a page',
      () => ({
        outputSchema: {
          type: 'object',
          properties: Object.fromEntries(
            Array.from({ length: PAGE_BYTES / 40 }, (_, at) => [`p${at}`, { type: 'string' }]),
          ),
        },
      }),
    ],
  ])(
    '%s: one call reads limits.response of it, and all views together keep limits.catalog (G29)',
    async (_, filler) => {
      const evil = await startLister(PAGES, filler);
      await start({ evil });
      for (const [index, version] of VERSIONS.entries()) {
        const client = await RawClient.connect(wharf.mcp, version);
        expect(await called(client, 't0')).toBe(JSON.stringify(MAYBE_A_FILE));
        expect(evil.asked()).toBeLessThanOrEqual(3 * (index + 1));
        // the next call does not read it all again
        const before = evil.asked();
        expect(await called(client, 't40')).toBe(JSON.stringify(MAYBE_A_FILE));
        expect(evil.asked()).toBe(before);
        expect(await gauge(wharf.adminUrl, 'wharf_catalog_bytes')).toBeLessThanOrEqual(CATALOG);
        await until(async () => (await gauge(wharf.adminUrl, 'wharf_held_bytes')) === 0);
      }
      expect(wharf.lines.filter(({ text }) => text.includes('list of tools is too long'))[0]?.fields).toMatchObject({
        server: 'evil',
        limit: 'limits.response',
        allowed: RESPONSE,
      });
    },
  );

  it('takes no room from the lists of another', async () => {
    const good = await startLister(1, () => ({ description: 'x'.repeat(50_000) }));
    // small enough to be kept, and one more for each version
    const evil = await startLister(PAGES, (page) => ({
      outputSchema: { type: 'object', description: String(page).padEnd(60_000, 'x') },
    }));
    await start({ good, evil });
    const at = (name: string, version: string) => RawClient.connect(`${wharf.url}/${name}/mcp`, version);
    await called(await at('good', VERSIONS[0] as string), 't0');
    expect(good.asked()).toBe(1);
    for (const version of VERSIONS) await called(await at('evil', version), 't0');
    const catalog = await gauge(wharf.adminUrl, 'wharf_catalog_bytes');
    expect(catalog).toBeGreaterThan(500_000);
    expect(catalog).toBeLessThanOrEqual(CATALOG);
    await called(await at('good', VERSIONS[0] as string), 't0');
    expect(good.asked()).toBe(1);
  });
});
