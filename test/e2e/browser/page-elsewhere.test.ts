import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { rolldown } from 'rolldown';
import { sha256 } from '../../helpers/bytes.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { ROOT } from '../../helpers/tree-copy.js';
import { STORES, startWharf, type Wharf } from '../../helpers/wharf.js';
import { openBrowser } from './chromium.js';
import { close, open, type Watched } from './lab.js';

const FILE = Buffer.alloc(100_000, 'what an unmodified server has made\n');
const OCR = {
  name: 'ocr_image',
  inputSchema: { type: 'object', properties: { image_base64: { type: 'string' } }, required: ['image_base64'] },
};

let browser: Browser;
let upstream: RecordingUpstream;
/** The site of the page, which is not Wharf's. */
let site: Server;
let watched: Watched;
const running: Record<(typeof STORES)[number], Wharf> = {} as never;

/** The official client as one script, which puts `Client` and `Transport` on the page. */
async function sdkForPages(): Promise<string> {
  const entry = `import { Client, StreamableHTTPClientTransport as Transport } from '@modelcontextprotocol/client';
    Object.assign(globalThis, { Client, Transport });`;
  const bundle = await rolldown({
    input: 'entry',
    cwd: ROOT,
    platform: 'browser',
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === 'entry' ? `${ROOT}/entry.mjs` : undefined),
        load: (id) => (id === `${ROOT}/entry.mjs` ? entry : undefined),
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'iife', codeSplitting: false, sourcemapIgnoreList: false });
  await bundle.close();
  return output[0].code;
}

beforeAll(async () => {
  const script = await sdkForPages();
  site = createServer((_, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html><title>An app</title><link rel="icon" href="data:,"><script>${script}</script>`);
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  browser = await openBrowser();
  const resource = { uri: 'file:///report.bin', mimeType: 'application/octet-stream', blob: FILE.toString('base64') };
  upstream = await RecordingUpstream.start({
    tools: [{ name: 'get', inputSchema: { type: 'object' } }, OCR],
    methods: {
      'tools/call': ({ name }: { name?: string }) => ({
        content: [name === 'get' ? { type: 'resource', resource } : { type: 'text', text: 'read' }],
      }),
    },
  });
  for (const stores of STORES) {
    running[stores] = await startWharf({
      stores,
      servers: {
        docs: {
          url: upstream.url,
          transport: 'streamable-http',
          tools: { ocr_image: { files: { image_base64: { encoding: 'base64' } } } },
        },
      },
      config: { links: { style: 'gateway' } },
    });
  }
});

afterEach(async () => {
  await close(watched?.page);
});

afterAll(async () => {
  await browser?.close();
  for (const wharf of Object.values(running)) await wharf.stop();
  await upstream?.stop();
  site?.close();
});

/** What the page of an app does, as text: it runs in the browser. */
const APP = (mcp: string) => `(async () => {
  const client = new Client({ name: 'app', version: '1' });
  const transport = new Transport(new URL('${mcp}'));
  await client.connect(transport);
  const hex = async (bytes) => [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))]
    .map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const { _meta } = await client.callTool({ name: 'get', arguments: {} });
  const link = _meta['dev.wharf/files'][0].url;
  const answer = await fetch(link);
  const got = await hex(await answer.arrayBuffer());
  const range = await fetch(link, { headers: { range: 'bytes=0-9' } });
  const asked = await client.callTool({ name: 'request_file_upload', arguments: { name: 'scan.bin' } });
  const { page, file } = asked.structuredContent;
  const put = await fetch(page, { method: 'PUT', body: new Uint8Array(5000).fill(7) });
  const read = await client.callTool({ name: 'ocr_image', arguments: { image_base64: file.uri } });
  const late = await fetch(link.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')));
  const refused = await fetch('${mcp}', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' });
  await transport.terminateSession();
  await client.close();
  return {
    got, named: answer.headers.get('content-disposition'), range: [range.status, range.headers.get('content-range')],
    put: put.status, read: read.content[0].text, late: late.status, refused: refused.status,
  };
})()`;

describe('the page of an app at another site', () => {
  it.each(STORES)('calls, reads files and brings files as any client does: %s', async (stores) => {
    const { port } = site.address() as AddressInfo;
    watched = await open(browser, `http://localhost:${port}/`);
    const seen = await watched.page.evaluate<Record<string, unknown>>(APP(running[stores].mcp));
    expect(seen).toEqual({
      got: sha256(FILE),
      named: expect.stringContaining('report'),
      range: [206, `bytes 0-9/${FILE.length}`],
      put: 201,
      read: 'read',
      late: 404,
      refused: 400,
    });
    expect(upstream.lastArguments.image_base64).toBe(Buffer.alloc(5000, 7).toString('base64'));
  });
});
