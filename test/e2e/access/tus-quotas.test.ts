import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { until } from '../../helpers/wait.js';
import { STORES, startWharf, type Wharf } from '../../helpers/wharf.js';

const SIZE = 2_000_000;
const PIECES = 8;

const TAKE = { name: 'take', inputSchema: { type: 'object', properties: { file: { type: 'string' } } } };

let taking: RecordingUpstream;
beforeAll(async () => {
  taking = await RecordingUpstream.start({ tools: [TAKE] });
});
afterAll(() => taking?.stop());

async function link(wharf: Wharf): Promise<string> {
  const { result } = await (await RawClient.connect(wharf.mcp)).call('request_file_upload', {});
  return (result as unknown as { structuredContent: { upload: { url: string } } }).structuredContent.upload.url;
}

const TUS = { 'tus-resumable': '1.0.0' };

const begin = (url: string, length: number) =>
  fetch(url, { method: 'POST', headers: { ...TUS, 'upload-length': String(length) } });

const placeOf = (begun: Response, url: string) => new URL(begun.headers.get('location') ?? '', url);

const add = (place: URL, at: number, size: number) =>
  fetch(place, {
    method: 'PATCH',
    headers: { ...TUS, 'upload-offset': String(at), 'content-type': 'application/offset+octet-stream' },
    body: new Uint8Array(size),
  });

/** Sends all that is missing of a file, several times. @returns statuses, and how much has come in the end */
async function insisting(url: string, length: number): Promise<{ statuses: Set<number>; offset: number }> {
  const place = placeOf(await begin(url, length), url);
  const offset = async () =>
    Number((await fetch(place, { method: 'HEAD', headers: TUS })).headers.get('upload-offset'));
  const statuses = new Set<number>();
  for (let times = 0; times < 5; times++) {
    const at = await offset();
    statuses.add((await add(place, at, length - at)).status);
  }
  return { statuses, offset: await offset() };
}

/** Sends a file in pieces, each in a request of its own. @returns their statuses */
async function inPieces(url: string): Promise<number[]> {
  const place = placeOf(await begin(url, SIZE), url);
  const bytes = randomBytes(SIZE);
  const statuses: number[] = [];
  for (let at = 0; at < SIZE; at += SIZE / PIECES) {
    const headers = { ...TUS, 'upload-offset': String(at), 'content-type': 'application/offset+octet-stream' };
    const body = new Uint8Array(bytes.subarray(at, at + SIZE / PIECES));
    statuses.push((await fetch(place, { method: 'PATCH', headers, body })).status);
  }
  return statuses;
}

const put = async (url: string, size: number) =>
  (await fetch(url, { method: 'PUT', body: new Uint8Array(size) })).status;

describe.each(STORES)('A file that comes in several requests, over %s', (stores) => {
  it.each([
    ['filesPerDay', 2, 429],
    ['bytesPerDay', SIZE + 150_000, 429],
    ['storedBytes', SIZE + 150_000, 507],
  ])('counts once in %s', async (limit, most, status) => {
    const wharf = await startWharf({
      servers: { web: { url: taking.url, tools: { take: { files: { file: { encoding: 'base64' } } } } } },
      stores,
      config: { limits: { [limit]: most }, elicitation: { identity: 'none' } },
    });
    try {
      expect(await inPieces(await link(wharf))).toEqual(Array.from({ length: PIECES }, () => 204));
      expect(await put(await link(wharf), 100_000)).toBe(201);
      expect(await put(await link(wharf), 100_000)).toBe(status);
    } finally {
      await wharf.stop();
    }
  });

  const limited = (config: Record<string, unknown>) =>
    startWharf({
      servers: {
        web: { url: taking.url, accepts: '64MiB', tools: { take: { files: { file: { encoding: 'base64' } } } } },
      },
      stores,
      config: { elicitation: { identity: 'none' }, ...config },
    });

  it.each([
    ['bytesPerDay', 429],
    ['storedBytes', 507],
  ])('never passes %s, however often its rest is sent again', async (limit, status) => {
    const most = 12_000_000;
    const wharf = await limited({ limits: { [limit]: most } });
    try {
      const { statuses, offset } = await insisting(await link(wharf), 24_000_000);
      expect(statuses).toEqual(new Set([status]));
      expect(offset).toBeLessThanOrEqual(most);
      // what is kept of it counts
      expect(await put(await link(wharf), most - offset + 1)).toBe(status);
    } finally {
      await wharf.stop();
    }
  });

  it('never passes the largest size that its caller has', async () => {
    const wharf = await limited({ callers: [{ limits: { file: 1_000_000 } }] });
    try {
      const client = await RawClient.connect(wharf.mcp);
      const { result } = await client.request('files/authorizeUpload', {});
      const { url } = (result as unknown as { upload: { url: string } }).upload;
      const refused = await begin(url, SIZE);
      expect([refused.status, await refused.json()]).toMatchObject([413, { error: { maxSize: 1_000_000 } }]);
      expect((await begin(url, 1_000_000)).status).toBe(201);
    } finally {
      await wharf.stop();
    }
  });

  it('is given no link for more than that, where its size is known before', async () => {
    const wharf = await limited({ callers: [{ limits: { file: 1_000_000 } }] });
    try {
      const client = await RawClient.connect(wharf.mcp);
      const { error } = await client.request('files/authorizeUpload', { size: 1_000_001 });
      expect(error).toMatchObject({ code: -32602, data: { reason: 'maxSizeExceeded', maxSize: 1_000_000 } });
      expect((await client.request('files/authorizeUpload', { size: 1_000_000 })).error).toBeUndefined();
    } finally {
      await wharf.stop();
    }
  });

  it.each([
    ['is ended', (_: string, place: URL) => fetch(place, { method: 'DELETE', headers: TUS })],
    ['is begun anew', (url: string) => begin(url, SIZE)],
    ['comes in another way', (url: string) => fetch(url, { method: 'PUT', body: 'x' })],
  ])('is given back when it %s', async (_, end) => {
    const wharf = await limited({ limits: { storedBytes: SIZE + 100_000 } });
    try {
      for (let times = 0; times < 3; times++) {
        const url = await link(wharf);
        const place = placeOf(await begin(url, SIZE), url);
        // what was given back counts a moment later
        await until(async () => (await add(place, 0, SIZE / 2 + 100_000)).status === 204);
        expect((await end(url, place)).ok).toBe(true);
      }
    } finally {
      await wharf.stop();
    }
  });
});
