import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
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

/** Sends a file in pieces, each in a request of its own. @returns their statuses */
async function inPieces(url: string): Promise<number[]> {
  const tus = { 'tus-resumable': '1.0.0' };
  const begun = await fetch(url, { method: 'POST', headers: { ...tus, 'upload-length': String(SIZE) } });
  const place = new URL(begun.headers.get('location') ?? '', url);
  const bytes = randomBytes(SIZE);
  const statuses: number[] = [];
  for (let at = 0; at < SIZE; at += SIZE / PIECES) {
    const headers = { ...tus, 'upload-offset': String(at), 'content-type': 'application/offset+octet-stream' };
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
});
