import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { sha256 } from '../helpers/bytes.js';
import { EICAR } from '../helpers/own-clamd.js';
import { ROOT, runScript } from './cli-process.js';

/**
 * docker-compose.yml as a user brings it up, on ports of its own. Without a Docker engine podman runs it, and images
 * that cannot be pulled are stood in for; the script prints which.
 */
const PORT = 18_080;
const ADMIN_PORTS = [19_090, 19_091] as const;
const env = {
  ...process.env,
  WHARF_PORT: String(PORT),
  WHARF_ADMIN_PORT: String(ADMIN_PORTS[0]),
  WHARF_ADMIN_PORT_2: String(ADMIN_PORTS[1]),
  WHARF_S3_PORT: '19000',
};
const compose = (...args: string[]) => runScript(`${ROOT}deploy/test-services/compose.sh`, args, env);
const MCP = `http://127.0.0.1:${PORT}/everything/mcp`;

const SERVICES = ['balancer', 'gateway-1', 'gateway-2', 'everything', 'ocr', 'redis', 's3', 'clamav'];

/** From nothing (tools, four stand-ins, two images of our own): 2 to 4 minutes, as busy as the machine is. */
const UP_MS = 900_000;
const DOWN_MS = 180_000;
/**
 * A restart takes 3 s, and on a machine whose disk still writes the images 20 s: the engine syncs its own records. Then
 * what a replica stores waits for the disk as well.
 */
const STEP_MS = 180_000;
jest.setTimeout(5 * STEP_MS);

/** The step's outcome; fails with what the stack has logged when it does not come. */
async function step<T>(name: string, done: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = setTimeout(STEP_MS, undefined, { signal: over.signal }).then(async () => {
    const { out } = await compose('logs', '40');
    throw new Error(`${name}: not after ${STEP_MS / 1000} s\n${out}`);
  });
  return Promise.race([done, late]).finally(() => over.abort());
}

beforeAll(async () => {
  const { code, out, err } = await compose('up');
  process.stdout.write(out + err);
  if (code !== 0) throw new Error(`docker-compose.yml did not come up:\n${out}${err}`);
}, UP_MS);
afterAll(() => compose('down'), DOWN_MS);

interface Answer {
  result: {
    content: { type: string; text?: string; uri?: string }[];
    _meta: { 'dev.wharf/files': { url: string; size: number }[] };
  };
}

let session: string | undefined;
async function post(message: object, url = MCP): Promise<Response> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  return fetch(url, {
    method: 'POST',
    headers: session === undefined ? headers : { ...headers, 'mcp-session-id': session },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  });
}

async function initialize(url = MCP): Promise<void> {
  session = undefined;
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const answer = await post({ id: 1, method: 'initialize', params }, url);
  await answer.text();
  expect(answer.status).toBe(200);
  session = answer.headers.get('mcp-session-id') ?? undefined;
  await (await post({ method: 'notifications/initialized' }, url)).text();
}

/** The texts of a tool's result. */
async function call(url: string, name: string, args: object): Promise<string> {
  const answer = await post({ id: 4, method: 'tools/call', params: { name, arguments: args } }, url);
  const { result } = JSON.parse(await answer.text()) as Answer;
  return result.content.map(({ text = '' }) => text).join('\n');
}

async function becomesReady(port: number): Promise<void> {
  for (;;) {
    // an engine's port forwarder accepts before the container listens, and may never answer
    const signal = AbortSignal.timeout(10_000);
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`, { signal }).catch(() => undefined);
    if (ready?.status === 200) return;
    await setTimeout(200);
  }
}

/** Has the example server send `content` back as a gzip file inside the tool result. */
async function gzipped(content: Buffer): Promise<Answer> {
  const data = `data:application/octet-stream;base64,${content.toString('base64')}`;
  const params = { name: 'gzip-file-as-resource', arguments: { name: 'random.gz', data, outputType: 'resource' } };
  const text = await (await post({ id: 2, method: 'tools/call', params })).text();
  // One answer, as JSON or as the only event with data.
  return JSON.parse(text.startsWith('{') ? text : String(/^data: (\{.*)$/m.exec(text)?.[1])) as Answer;
}

describe('docker compose up', () => {
  it('gives a URL behind which a big file in a tool result becomes a link into the object store', async () => {
    await initialize();
    const content = randomBytes(1_000_000);
    const { result } = await gzipped(content);
    const [file] = result._meta['dev.wharf/files'];
    expect(new URL(String(file?.url)).host).toBe('127.0.0.1:19000');
    expect(result.content).toContainEqual(expect.objectContaining({ type: 'resource_link', uri: file?.url }));
    const answer = await fetch(String(file?.url));
    expect(answer.headers.get('content-disposition')).toMatch(/^attachment/);
    const stored = Buffer.from(await answer.arrayBuffer());
    expect(stored.length).toBe(file?.size);
    expect(sha256(gunzipSync(stored))).toBe(sha256(content));
  });

  it('keeps sessions and files while one replica after the other restarts', async () => {
    await initialize();
    const before = await step('a file before', gzipped(randomBytes(100_000)));
    for (const replica of ['gateway-1', 'gateway-2']) {
      const restarted = compose('compose', 'restart', replica);
      // the other one answers meanwhile
      const pong = await step(`a ping while ${replica} restarts`, post({ id: 3, method: 'ping' }));
      expect(pong.status).toBe(200);
      const { code, err } = await step(`restart of ${replica}`, restarted);
      expect([code, err.includes('rror')]).toEqual([0, false]);
      await step(`${replica} ready`, becomesReady(ADMIN_PORTS[replica === 'gateway-1' ? 0 : 1]));
    }
    const after = await step('a file after', gzipped(randomBytes(100_000)));
    for (const { result } of [before, after]) {
      const [file] = result._meta['dev.wharf/files'];
      expect((await fetch(String(file?.url))).status).toBe(200);
    }
  });

  it('hands a picture that a person uploaded to a server that knows base64 alone', async () => {
    const ocr = `http://127.0.0.1:${PORT}/ocr/mcp`;
    await initialize(ocr);
    const link = await call(ocr, 'request_file_upload', { tool: 'read_picture', argument: 'image_base64' });
    const url = /http:\S+\/u\/[\w-]+/.exec(link)?.[0] ?? link;
    const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), randomBytes(50_000)]);
    const body = new FormData();
    body.append('file', new Blob([png], { type: 'image/png' }), 'page.png');
    const uploaded = await fetch(url, { method: 'POST', body, headers: { accept: 'application/json' } });
    const [handle] = /mcp-file:\/\/[^"\s]+/.exec(await uploaded.text()) ?? [];
    const text = await call(ocr, 'read_picture', { image_base64: handle });
    expect(text).toContain(`Read page.png: ${png.length} bytes, sha256 ${sha256(png)}`);
  });

  it('refuses an infected file that a person uploads', async () => {
    const ocr = `http://127.0.0.1:${PORT}/ocr/mcp`;
    await initialize(ocr);
    const link = await call(ocr, 'request_file_upload', { name: 'file.bin' });
    const url = /http:\S+\/u\/[\w-]+/.exec(link)?.[0] ?? link;
    const refused = await fetch(url, { method: 'PUT', body: new Uint8Array(EICAR) });
    expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining('file_infected')]);
  });

  it('refuses an infected file in a tool result', async () => {
    await initialize();
    const { error } = (await gzipped(EICAR)) as unknown as { error?: { message: string } };
    expect(error?.message).toMatch(/Eicar/i);
    expect((await post({ id: 3, method: 'ping' })).status).toBe(200);
  });

  it('shows health and metrics of each replica to this machine', async () => {
    for (const port of ADMIN_PORTS) {
      const admin = `http://127.0.0.1:${port}`;
      expect((await fetch(`${admin}/readyz`)).status).toBe(200);
      const metrics = await (await fetch(`${admin}/metrics`)).text();
      expect(metrics).toMatch(/^wharf_/m);
    }
  });

  it('gives the servers that Wharf starts a home to write to, and a parent that reaps them', async () => {
    const script =
      "const fs=require('fs'),h=require('os').homedir();fs.writeFileSync(h+'/x','');" +
      "console.log(h,fs.readFileSync('/proc/1/comm','utf8').trim()==='node')";
    const { out } = await compose('compose', 'exec', '-T', 'gateway-1', 'node', '-e', script);
    expect(out.trim()).toBe('/home/node false');
  });

  it.each(SERVICES)(
    'runs %s as an ordinary user, without a capability, on a file system that it cannot write to',
    async (service) => {
      const script =
        "grep -hE '^(Uid|CapEff|CapBnd|NoNewPrivs):' /proc/self/status; head -n1 /proc/1/status; touch /x /etc/x 2>&1; true";
      const { out } = await compose('compose', 'exec', '-T', service, 'sh', '-c', script);
      const told = Object.fromEntries(out.split('\n').map((line) => line.split(/:\s+/)));
      expect(told).toMatchObject({ CapEff: '0000000000000000', CapBnd: '0000000000000000', NoNewPrivs: '1' });
      expect(told.Uid).toMatch(/^[1-9]\d*\b/);
      expect(told.Name).toMatch(/init|catatonit|tini/);
      expect(out.match(/Read-only file system/g)).toHaveLength(2);
    },
  );
});
