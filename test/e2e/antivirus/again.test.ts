import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { keyHash } from '../../helpers/bytes.js';
import { ClamdStub } from '../../helpers/clamd-stub.js';
import { RawClient } from '../../helpers/raw-client.js';
import { until } from '../../helpers/wait.js';
import { STORES, startWharf, type Wharf } from '../../helpers/wharf.js';
import { type Offered, startServer } from './lab.js';

const KEY = 'ada-0123456789';
const BYTES = new Uint8Array(700_000).fill(7);
const TUS = { 'tus-resumable': '1.0.0' };
const OCTETS = { ...TUS, 'content-type': 'application/offset+octet-stream' };

let server: Awaited<ReturnType<typeof startServer>>;
let clamd: ClamdStub;
let wharf: Wharf;

beforeAll(async () => {
  server = await startServer();
});
afterEach(async () => {
  await wharf?.stop();
  await clamd?.stop();
});
afterAll(() => server?.upstream.stop());

const finds = { reply: () => 'stream: OK' };
const breaksOff = { reply: () => undefined };

describe.each(STORES)('A resumable upload into %s that comes in one request while clamd is away', (stores) => {
  /** A link of a caller whose quota is enough for one such file. */
  async function link(): Promise<{ url: string; client: RawClient; uri: string }> {
    clamd = await ClamdStub.start(breaksOff);
    wharf = await startWharf({
      servers: server.servers,
      stores,
      config: {
        antivirus: { use: 'clamd', host: '127.0.0.1', port: clamd.port, maxSizeMiB: 1 },
        auth: { use: 'apiKeys', keys: [{ name: 'ada', hash: keyHash(KEY), limits: { storedBytes: 1_000_000 } }] },
        elicitation: { identity: 'none' },
      },
    });
    const client = await RawClient.connect(wharf.mcp, '2025-06-18', { headers: { authorization: `Bearer ${KEY}` } });
    const { result } = await client.call('request_file_upload', {});
    const { file, upload } = (result as unknown as Offered).structuredContent;
    return { url: upload.url, client, uri: file.uri };
  }

  const post = (url: string) =>
    fetch(url, { method: 'POST', headers: { ...OCTETS, 'upload-length': String(BYTES.length) }, body: BYTES });

  it('is kept as it is, and its last request can be repeated until it is judged', async () => {
    const { url, client, uri } = await link();
    const made = await fetch(url, { method: 'POST', headers: { ...TUS, 'upload-length': String(BYTES.length) } });
    const place = new URL(made.headers.get('location') ?? '', url);
    const patch = () => fetch(place, { method: 'PATCH', headers: { ...OCTETS, 'upload-offset': '0' }, body: BYTES });
    for (let tries = 0; tries < 3; tries += 1) expect((await patch()).status).toBe(503);
    expect((await fetch(place, { method: 'HEAD', headers: TUS })).headers.get('upload-offset')).toBe('0');
    clamd.options = finds;
    await until(async () => (await patch()).status === 204);
    await client.call('take', { file: uri });
    expect(String(server.upstream.lastArguments.file)).toBe(Buffer.from(BYTES).toString('base64'));
  });

  it('can be begun anew, and ended, and none of it counts', async () => {
    const { url } = await link();
    for (let tries = 0; tries < 3; tries += 1) expect((await post(url)).status).toBe(503);
    expect((await fetch(url, { method: 'DELETE', headers: TUS })).status).toBe(204);
    clamd.options = finds;
    await until(async () => (await post(url)).status === 201);
  });
});
