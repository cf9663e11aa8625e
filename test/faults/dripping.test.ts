import { createServer, type Server, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { keyHash } from '../helpers/bytes.js';
import { expectWorking, gauge } from '../helpers/fault-checks.js';
import { type FaultUpstream, startFaultUpstream } from '../helpers/fault-upstream.js';
import { listen } from '../helpers/loopback.js';
import { RawClient } from '../helpers/raw-client.js';
import { RawSocket } from '../helpers/raw-socket.js';
import { until } from '../helpers/wait.js';
import { startWharf, type Wharf } from '../helpers/wharf.js';

const KEY = 'ann-0123456789';

const PART = 1024 * 1024;
const PARTS = 5;

/** An MCP server whose base64 comes four characters at a time. */
class DrippingServer {
  readonly #server: Server;
  readonly #drips = new Set<NodeJS.Timeout>();

  constructor() {
    this.#server = createServer((request, response) => {
      const body: Buffer[] = [];
      request.on('data', (chunk: Buffer) => body.push(chunk));
      request.on('end', () => this.#answer(Buffer.concat(body).toString(), response));
    });
  }

  async listen(): Promise<string> {
    return `http://127.0.0.1:${await listen(this.#server)}/mcp`;
  }

  #answer(text: string, response: ServerResponse): void {
    const { id, method } = text === '' ? { id: undefined, method: '' } : JSON.parse(text);
    if (id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`;
    response.writeHead(200, { 'content-type': 'application/json' });
    if (method === 'initialize') {
      const info = { name: 'dripping', version: '1' };
      const result = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: info };
      response.end(`${head}${JSON.stringify(result)}}`);
      return;
    }
    if (method !== 'tools/call') {
      response.end(`${head}{"tools":[{"name":"blob","inputSchema":{"type":"object"}}]}}`);
      return;
    }
    // past limits.inlineImage, so that it is a file
    response.write(`${head}{"content":[{"type":"image","mimeType":"image/png","data":"${'AAAA'.repeat(200_000)}`);
    const drip = setInterval(() => response.write('AAAA'), 20);
    this.#drips.add(drip);
    response.once('close', () => clearInterval(drip));
  }

  async close(): Promise<void> {
    for (const drip of this.#drips) clearInterval(drip);
    this.#server.closeAllConnections();
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve));
  }
}

describe('a peer that drips', () => {
  let upstream: FaultUpstream;
  let dripping: DrippingServer;
  let wharf: Wharf;
  let sockets: RawSocket[];

  const start = async (config: Record<string, unknown>) => {
    const servers = { sound: upstream.server, dripping: { url: await dripping.listen() } };
    wharf = await startWharf({ servers, config });
  };
  const partMemory = () => gauge(wharf.adminUrl, 'wharf_part_memory_bytes');
  const port = () => Number(new URL(wharf.url).port);
  /** The path of a link to upload a file. */
  const link = async () => {
    const client = await RawClient.connect(`${wharf.url}/sound/mcp`);
    const { result } = await client.request('files/authorizeUpload', { name: 'a.bin' });
    const text = JSON.stringify(result);
    const found = /"(http[^"]*\/u\/[^"]+)"/.exec(text)?.[1];
    if (!found) throw new Error(`no upload link in ${text}`);
    return new URL(found).pathname;
  };
  const upload = async (path: string) => {
    const socket = await RawSocket.open(port());
    sockets.push(socket);
    socket.head(`POST ${path}`, { 'Content-Type': 'application/octet-stream', 'Content-Length': 1_000_000 });
    socket.send('x');
    return socket;
  };

  beforeEach(async () => {
    sockets = [];
    upstream = await startFaultUpstream('sse');
    dripping = new DrippingServer();
  });
  afterEach(async () => {
    for (const socket of sockets) socket.reset();
    await wharf?.stop();
    await dripping.close();
    await upstream.close();
  });

  it('into uploads and falls silent keeps no part memory from others', async () => {
    await start({ limits: { partMemory: PARTS * PART }, timeouts: { queue: '10s' } });
    const path = await link();
    const tries = await Promise.all(Array.from({ length: 8 }, () => upload(path)));
    // four of one link, and the rest is told so
    const refused = await Promise.all(tries.slice(4).map((socket) => socket.until(/"message"/)));
    for (const answer of refused) expect(answer).toMatch(/^HTTP\/1\.1 429 [\s\S]*tooManyTries/);
    for (let n = 0; n < 4; n += 1) {
      const other = await link();
      for (let m = 0; m < 4; m += 1) await upload(other);
    }
    await until(async () => (await partMemory()) === 0);
    await expectWorking(`${wharf.url}/sound/mcp`);
  });

  it('into an upload is given up, and the link can be used again', async () => {
    await start({ limits: { leastRate: '1KiB' }, timeouts: { grace: '500ms' } });
    const path = await link();
    const socket = await upload(path);
    const drip = setInterval(() => socket.send('x'), 20);
    expect(await socket.until(/"message"/)).toMatch(/^HTTP\/1\.1 408 [\s\S]*too slowly/);
    clearInterval(drip);
    const sent = await fetch(`${wharf.url}${path}`, { method: 'POST', body: 'all of it' });
    expect(sent.status).toBe(201);
  });

  it.each([
    ['the key of a login', '/login', {}],
    ['a change of a file', '/stored/change', { Authorization: `Bearer ${KEY}` }],
    ['a call as JSON', '/api/servers/sound/call', { Authorization: `Bearer ${KEY}` }],
  ])('into %s at the console is given up: the connections of the admin port are few', async (_what, path, login) => {
    const users = [{ name: 'ann', role: 'operator', hash: keyHash(KEY) }];
    await start({ console: { users }, limits: { leastRate: '1KiB' }, timeouts: { grace: '500ms' } });
    const socket = await RawSocket.open(Number(new URL(wharf.adminUrl).port));
    sockets.push(socket);
    socket.head(`POST ${path}`, { ...login, 'Content-Length': 500 });
    const drip = setInterval(() => socket.send('x'), 20);
    expect(await socket.until(/"message"/)).toMatch(/^HTTP\/1\.1 408 [\s\S]*too slowly/);
    clearInterval(drip);
  });

  it('just fast enough is given up when the upload has taken too long', async () => {
    await start({ timeouts: { upload: '1s' } });
    const socket = await upload(await link());
    const send = setInterval(() => socket.send('x'.repeat(500)), 20);
    expect(await socket.until(/"message"/)).toMatch(/^HTTP\/1\.1 408 [\s\S]*took longer/);
    clearInterval(send);
  });

  it('as a server is given up, and its files hold no part memory', async () => {
    await start({ limits: { leastRate: '1KiB' }, timeouts: { grace: '500ms' } });
    const client = await RawClient.connect(`${wharf.url}/dripping/mcp`);
    const { error } = await client.call('blob', {});
    expect(error).toMatchObject({ data: { code: 'upstream_too_slow', server: 'dripping', limit: 'limits.leastRate' } });
    await until(async () => (await partMemory()) === 0);
  });

  it('as a server leaves other servers their share', async () => {
    await start({ limits: { partMemory: PARTS * PART }, timeouts: { queue: '60s' } });
    const client = await RawClient.connect(`${wharf.url}/dripping/mcp`);
    const calls = Array.from({ length: 8 }, () => client.call('blob', {}).catch(() => undefined));
    // some of its own wait for memory, while another server's do not
    await until(async () => (await gauge(wharf.adminUrl, 'wharf_queue_length')) > 0);
    expect(await partMemory()).toBeGreaterThan(0);
    await expectWorking(`${wharf.url}/sound/mcp`);
    expect(await gauge(wharf.adminUrl, 'wharf_queue_length')).toBeGreaterThan(0);
    await dripping.close();
    await Promise.all(calls);
  });
});
