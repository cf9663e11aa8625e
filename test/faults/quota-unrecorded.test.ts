import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { keyHash } from '../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.js';
import { FaultProxy } from '../helpers/fault-proxy.js';
import { type FaultStores, SECRET, s3Stores } from '../helpers/fault-stores.js';
import { type Gateway, startGateway } from '../helpers/gateway-process.js';
import { OwnRedis } from '../helpers/own-redis.js';
import { RawClient } from '../helpers/raw-client.js';
import { until } from '../helpers/wait.js';

const KEY = 'ada-0123456789';
const HEADERS = { authorization: `Bearer ${KEY}` };
const MIB = 1024 * 1024;
const MOST = 16 * MIB;

/** Steps on their way to Redis: a change of a caller's stored bytes, one within a limit of 0, the record of a file. */
const COUNTS = /quota:storedBytes/;
const MOVES = /quota:storedBytes[^\r]*\r\n\$1\r\n0\r\n/;
/** A change that is more than a reservation. */
const COUNTS_KEPT = /quota:storedBytes[\s\S]*(?:span:|@)/;
const RECORDS = /counts:file:f_[\s\S]*digest/;

const TUS = { 'tus-resumable': '1.0.0' };

/** How long bytes count at most whose file has no record. */
const LEASE_MS = 10 * 60 * 1000;

describe('what counts as stored for a caller', () => {
  let stores: FaultStores;
  let redis: OwnRedis;
  let proxy: FaultProxy;
  let fake: FakeUpstream;
  let gateway: Gateway;

  beforeEach(async () => {
    stores = s3Stores();
    redis = await OwnRedis.start();
    proxy = await FaultProxy.start(redis.url);
    fake = await startFakeUpstream({});
    // a result of two files; all of the first comes, a part of the second, and then nothing
    fake.respond = ({ body }) => {
      const size = Number(/"half of (\d+)"/.exec(body.toString())?.[1] ?? 0);
      if (size === 0) return undefined;
      const image = () => ({ type: 'image', mimeType: 'image/png', data: randomBytes(size).toString('base64') });
      const text = JSON.stringify({ jsonrpc: '2.0', id: 5, result: { content: [image(), image()] } });
      return { contentType: 'application/json', body: text, cutAfter: Math.floor(text.length * 0.8), cut: 'stall' };
    };
    gateway = await begin();
  });
  afterEach(async () => {
    await gateway?.stop();
    await fake?.close();
    await proxy?.close();
    await redis?.stop();
    await stores?.close();
  });

  const begin = () =>
    startGateway({
      config: {
        servers: {
          fake: { url: fake.url, accepts: '64MiB', tools: { blob: { files: { doc: { encoding: 'base64' } } } } },
        },
        objects: stores.config.objects,
        state: { use: 'redis', url: proxy.url.replace('http', 'redis'), keyPrefix: 'counts:' },
        secret: SECRET,
        auth: { use: 'apiKeys', keys: [{ name: 'ada', hash: keyHash(KEY), limits: { storedBytes: MOST } }] },
        elicitation: { identity: 'none' },
        // an answer that stalls does not end of itself, however long a busy machine takes to see what is counted
        timeouts: { idle: '10m', grace: '10m' },
      },
    });

  /** Parts of the tally, and in how many milliseconds each of them ends. */
  async function parts(): Promise<{ part: string; amount: number; endsIn: number }[]> {
    const [key = ''] = (await redis.command('keys', 'counts:quota:storedBytes:*')).split('\n');
    if (key === '') return [];
    const lines = (await redis.command('hgetall', key)).split('\n');
    return lines.flatMap((part, at) => {
      if (at % 2 === 1 || part === '') return [];
      const [amount = 0, end = 0] = (lines[at + 1] ?? '').split(' ').map(Number);
      return [{ part, amount, endsIn: end - Date.now() }];
    });
  }

  /** Bytes that count now, and those that still do once all reservations are over. */
  async function counted(): Promise<{ now: number; lasting: number }> {
    const all = await parts();
    const sum = (some: typeof all) => some.reduce((total, { amount }) => total + amount, 0);
    return { now: sum(all), lasting: sum(all.filter(({ endsIn }) => endsIn > LEASE_MS)) };
  }

  async function stored(): Promise<number> {
    let sum: number | undefined;
    // on a busy machine Redis may answer too late for a list
    await until(async () => {
      const answer = await fetch(`${gateway.adminUrl}/files?principal=ada&limit=1000`);
      const text = await answer.text();
      if (answer.status === 503) return false;
      if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
      const { files } = JSON.parse(text) as { files: { size: number }[] };
      sum = files.reduce((all, { size }) => all + size, 0);
      return true;
    });
    return sum ?? Number.NaN;
  }

  async function link(): Promise<string> {
    const client = await RawClient.connect(gateway.mcp(), '2025-06-18', { headers: HEADERS });
    await client.request('tools/list');
    const { answer } = await client.call('request_file_upload');
    const url = /http[^"\\ ]+\/u\/[\w-]+/.exec(answer.text)?.[0];
    if (url === undefined) throw new Error(answer.text);
    return url;
  }

  async function put(bytes: number, url?: string): Promise<number> {
    const answer = await fetch(url ?? (await link()), { method: 'PUT', body: randomBytes(bytes) });
    await answer.text();
    return answer.status;
  }

  async function beginTus(url: string, length: number): Promise<URL> {
    const answer = await fetch(url, { method: 'POST', headers: { ...TUS, 'upload-length': `${length}` } });
    return new URL(answer.headers.get('location') ?? '', url);
  }

  async function addTus(place: URL, at: number, size: number): Promise<number> {
    const headers = { ...TUS, 'upload-offset': `${at}`, 'content-type': 'application/offset+octet-stream' };
    return (await fetch(place, { method: 'PATCH', headers, body: randomBytes(size) })).status;
  }

  const offsetOf = async (place: URL) =>
    Number((await fetch(place, { method: 'HEAD', headers: TUS })).headers.get('upload-offset'));

  /** A call whose first file is whole, and whose answer does not end. @returns ends it */
  async function halfAnswer(size: number): Promise<() => void> {
    const client = await RawClient.connect(gateway.mcp(), '2025-06-18', { headers: HEADERS });
    const params = { name: 'blob', arguments: { text: `half of ${size}` } };
    const gone = new AbortController();
    const before = (await counted()).now;
    let ended: string | undefined;
    fetch(gateway.mcp(), {
      method: 'POST',
      headers: { ...client.headers(), 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 5, method: 'tools/call', params }),
      signal: gone.signal,
    })
      .then(async (answer) => `${answer.status} ${await answer.text()}`)
      .catch((error: unknown) => String(error))
      .then((told) => {
        ended = told;
      });
    await until(async () => ended !== undefined || (await counted()).now >= before + size);
    if (ended !== undefined) throw new Error(`the answer ended: ${ended.slice(0, 1000)}`);
    return () => gone.abort();
  }

  it.each([600_000, 2 * MIB])(
    'is, after the gateway was killed before a file of %d bytes had its record, what is stored once its lease ends',
    async (size) => {
      expect(await put(MIB)).toBe(201);
      await halfAnswer(size);
      process.kill(gateway.pid, 'SIGKILL');
      await gateway.stop();
      expect(await counted()).toMatchObject({ lasting: MIB });
    },
  );

  it.each([600_000, 2 * MIB])(
    'is what is stored when Redis could not be told of the end of a file of %d bytes without a record',
    async (size) => {
      expect(await put(MIB)).toBe(201);
      const end = await halfAnswer(size);
      proxy.set({ drop: true });
      end();
      await until(() => gateway.logs().includes('Redis'));
      proxy.set({});
      await until(async () => (await fetch(`${gateway.adminUrl}/readyz`)).status === 200);
      expect(await put(1)).toBe(201);
      expect(await counted()).toMatchObject({ lasting: await stored() });
    },
  );

  it('is what is stored when the answer of Redis to the count of an upload is lost', async () => {
    const url = await link();
    proxy.set({ loseAnswerTo: COUNTS, loseTimes: 1 });
    expect(await put(600_000, url)).toBe(503);
    await until(async () => (await fetch(`${gateway.adminUrl}/readyz`)).status === 200);
    expect(await put(600_000, url)).toBe(201);
    expect(await stored()).toBe(600_000);
    expect(await counted()).toMatchObject({ lasting: 600_000 });
  });

  it('is what is stored when Redis is told that a file has its record, and its answer is lost', async () => {
    const url = await link();
    proxy.set({ loseAnswerTo: MOVES, loseTimes: 1 });
    expect(await put(600_000, url)).toBe(201);
    expect(proxy.lost).toBe(1);
    await until(async () => (await fetch(`${gateway.adminUrl}/readyz`)).status === 200);
    expect(await put(1)).toBe(201);
    // it is told again in a second
    await until(async () => gateway.logs().includes('has been counted'));
    expect(await counted()).toEqual({ now: 600_001, lasting: 600_001 });
  });

  it('is what is stored when the answer of Redis to the record of an upload is lost', async () => {
    const url = await link();
    proxy.set({ loseAnswerTo: RECORDS, loseTimes: 1 });
    const status = await put(600_000, url);
    expect(proxy.lost).toBe(1);
    expect([201, 503]).toContain(status);
    await until(async () => (await counted()).lasting === (await stored()));
    expect(await stored()).toBe(600_000);
  });

  it.each([2 * MIB, 9 * MIB])(
    'is what is kept of an upload in several requests when the answer of Redis to a count of its first %d bytes is lost',
    async (size) => {
      const place = await beginTus(await link(), 12 * MIB);
      proxy.set({ loseAnswerTo: COUNTS_KEPT, loseTimes: 1 });
      expect(await addTus(place, 0, size)).toBe(503);
      expect(proxy.lost).toBe(1);
      await until(async () => (await fetch(`${gateway.adminUrl}/readyz`)).status === 200);
      const kept = await offsetOf(place);
      await until(async () => (await counted()).lasting === kept);
      expect(await addTus(place, kept, 12 * MIB - kept)).toBe(204);
      expect(await counted()).toMatchObject({ lasting: 12 * MIB });
    },
  );

  it('leaves room for other uploads while one of unknown size comes slowly', async () => {
    const slow = request(await link(), { method: 'PUT', headers: { 'content-type': 'text/plain' } });
    slow.on('error', () => undefined);
    slow.write(Buffer.alloc(1.5 * MIB, 'a'));
    await until(async () => (await counted()).now > 0);
    expect(await put(14 * MIB)).toBe(201);
    expect(await put(MIB)).toBe(507);
    slow.destroy();
  });
});
