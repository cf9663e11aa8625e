import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { keyHash } from '../../helpers/bytes.js';
import { readAnswer } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { freshName } from '../../helpers/services.js';
import { until } from '../../helpers/wait.js';
import { startWharf, type Wharf } from '../../helpers/wharf.js';

const KEYS = {
  slow: 'slow-0123456789',
  full: 'full-0123456789',
  free: 'free-0123456789',
  named: 'named-0123456789',
  long: 'long-0123456789',
};
type Name = keyof typeof KEYS;

/** Two hundred of these are forty times as much as may be kept. */
const SIZE = 10_000;
const MOST = 50_000;

/** Three of these are too many. */
const LONG = 2 * 1024 * 1024;

let upstream: RecordingUpstream;
const replicas: Wharf[] = [];

beforeAll(async () => {
  const inputSchema = { type: 'object', properties: { doc: { type: 'string' } } };
  upstream = await RecordingUpstream.start({ tools: [{ name: 'ocr', inputSchema }] });
  const bucket = freshName('quotas');
  const keyPrefix = `${freshName('quotas')}:`;
  const limits: Partial<Record<Name, object>> = {
    slow: { requestsPerMinute: 5 },
    full: { storedBytes: MOST },
    long: { storedBytes: 2.5 * LONG },
  };
  const keys = Object.entries(KEYS).map(([name, key]) => ({ name, hash: keyHash(key), limits: limits[name as Name] }));
  for (const _ of [1, 2]) {
    replicas.push(
      await startWharf({
        servers: { hr: { url: upstream.url, tools: { ocr: { files: { doc: { encoding: 'base64' } } } } } },
        stores: 's3+redis',
        bucket,
        keyPrefix,
        config: {
          auth: { use: 'apiKeys', keys },
          callers: [{ key: 'named', limits: { filesPerDay: 2 } }],
          elicitation: { identity: 'none' },
        },
      }),
    );
  }
});

afterAll(async () => {
  for (const replica of replicas) await replica.stop();
  await upstream?.stop();
});

async function post(at: number, name: Name, method: string, params: object = {}) {
  const response = await fetch((replicas[at] as Wharf).mcp, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${KEYS[name]}`,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return readAnswer(response);
}

/** A link to upload one file, from either replica. */
async function link(at: number, name: Name): Promise<string> {
  const { text } = await post(at, name, 'tools/call', { name: 'request_file_upload', arguments: {} });
  const url = /http[^"\\ ]+\/u\/[\w-]+/.exec(text)?.[0];
  if (url === undefined) throw new Error(text);
  return url;
}

async function upload(url: string, size: number) {
  const response = await fetch(url, { method: 'PUT', body: Buffer.alloc(size, Math.random().toString()) });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe('the quotas of a caller on two replicas', () => {
  it('hold requests to a number within a minute, whichever replica they reach', async () => {
    const answers = [];
    for (let at = 0; at < 7; at += 1) answers.push(await post(at % 2, 'slow', 'ping'));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429, 429]);
    const [last] = answers.slice(-1);
    expect(Number(last?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(last?.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    expect(JSON.parse(last?.text ?? '').error).toMatchObject({
      message: expect.stringMatching(/^You may send 5 requests a minute here, and this would be number 6\./),
      data: { code: 'rate_limited', limit: 'limits.requestsPerMinute', allowed: 5, actual: 6 },
    });
    expect(upstream.with('ping')).toHaveLength(5);
    expect((await post(0, 'free', 'ping')).status).toBe(200);
    const metrics = await fetch(`${replicas[1]?.adminUrl}/metrics`).then((answer) => answer.text());
    expect(metrics).toContain('wharf_limits_total{limit="limits.requestsPerMinute"}');
  });

  it('are never passed by two hundred uploads at once (R17, 2631-68)', async () => {
    for (const name of ['full', 'free'] as const) {
      for (const at of [0, 1]) await post(at, name, 'tools/list');
    }
    const links: string[] = [];
    for (let index = 0; index < 200; index += 1) links.push(await link(index % 2, 'full'));
    const answers = await Promise.all(links.map((url) => upload(url, SIZE)));
    const stored = answers.filter(({ status }) => status < 300);
    expect(stored).toHaveLength(MOST / SIZE);
    const refused = answers.find(({ status }) => status >= 300);
    expect(refused?.status).toBe(507);
    expect(JSON.parse(refused?.text ?? '{}')).toMatchObject({
      error: { code: 'storage_full', message: expect.stringMatching(/^Your files here may have 50 kB together/) },
    });
    const [other] = [await link(0, 'free')];
    expect((await upload(other, SIZE)).status).toBeLessThan(300);
  });

  it('refuse a stated size that can never be kept before there is a link for it (2631-57)', async () => {
    await post(0, 'full', 'tools/list');
    const authorize = async (size: number) => (await post(0, 'full', 'files/authorizeUpload', { size })).messages[0];
    expect((await authorize(MOST))?.result).toBeDefined();
    expect((await authorize(MOST + 1))?.error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(/50000 bytes allowed/),
      data: { reason: 'maxSizeExceeded', maxSize: MOST, actualSize: MOST + 1 },
    });
    const call = { name: 'request_file_upload', arguments: { size: MOST + 1 } };
    expect((await post(0, 'full', 'tools/call', call)).messages[0]?.result).toMatchObject({
      isError: true,
      _meta: { 'dev.wharf/fileError': { reason: 'maxSizeExceeded' } },
    });
  });

  it('refuse long uploads at their beginning, as soon as those before them would fill the quota', async () => {
    for (const at of [0, 1]) await post(at, 'long', 'tools/list');
    const uploads: { rest: () => void; status: Promise<number | undefined> }[] = [];
    for (let at = 0; at < 6; at += 1) {
      const put = request(await link(at % 2, 'long'), { method: 'PUT', headers: { 'content-length': LONG } });
      put.on('error', () => undefined);
      const status = new Promise<number | undefined>((resolve) => {
        put.on('response', (answer) => resolve(answer.resume().statusCode));
      });
      put.write(Buffer.alloc(LONG / 2, String(at)));
      uploads.push({ rest: () => put.end(Buffer.alloc(LONG / 2, String(at))), status });
    }
    let refused = 0;
    for (const { status } of uploads) {
      void status.then((code) => {
        if (code === 507) refused += 1;
      });
    }
    // half of each has come
    await until(() => refused === 4);
    for (const { rest } of uploads) rest();
    const all = await Promise.all(uploads.map(({ status }) => status));
    expect(all.sort()).toEqual([201, 201, 507, 507, 507, 507]);
  });

  it('hold for files of a key that only an entry of callers gives limits', async () => {
    for (const at of [0, 1]) await post(at, 'named', 'tools/list');
    const stored: number[] = [];
    for (const at of [0, 1, 0]) stored.push((await upload(await link(at, 'named'), SIZE)).status);
    expect(stored).toEqual([201, 201, 429]);
  });
});
