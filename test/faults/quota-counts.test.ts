import { createHash, randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { keyHash } from '../helpers/bytes.js';
import { runs, seed } from '../helpers/effort.js';
import { type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.js';
import { gauges, readiness } from '../helpers/fault-checks.js';
import { type FaultStores, filesystemStores, s3Stores } from '../helpers/fault-stores.js';
import { OwnRedis } from '../helpers/own-redis.js';
import { RawClient } from '../helpers/raw-client.js';
import { RecordingUpstream } from '../helpers/recording-upstream.js';
import { until } from '../helpers/wait.js';
import { STORES, type Stores, startWharf, type Wharf } from '../helpers/wharf.js';

const KEY = 'ada-0123456789';
const HEADERS = { authorization: `Bearer ${KEY}` };
const MIB = 1024 * 1024;

/** More than all that is stored, and less than `limits.file`. */
const MOST = 90 * MIB;

/** How long room stays reserved after its last bytes, and how long a file counts: 24 hours, and up to an hour longer. */
const LEASE_MS = 10 * 60 * 1000;
const RETENTION_MS = 25 * 60 * 60 * 1000;

/** When connections are cut after several steps have begun: after milliseconds, or when steps have ended. */
const CUTS = [{ ms: 20 }, { ended: 1 }, { ms: 5 }, { ended: 2 }, { ms: 60 }, { ended: 3 }, { ms: 0 }, { ended: 1 }];

const TUS = { 'tus-resumable': '1.0.0' };
const OCTETS = 'application/offset+octet-stream';

const size = fc.integer({ min: 1, max: 2.5 * MIB });
/** Where something ends, as a part of the whole. */
const where = fc.integer({ min: 1, max: 99 }).map((percent) => percent / 100);
const isKnown = fc.boolean();

const step = fc.oneof(
  fc.record({ what: fc.constant('put'), size, isKnown, end: fc.constantFrom('whole', 'gone', 'wrong'), where }),
  fc.record({ what: fc.constant('form'), size, end: fc.constantFrom('whole', 'torn') }),
  fc.record({ what: fc.constant('tus'), size, end: fc.constantFrom('whole', 'gone', 'left', 'ended', 'anew'), where }),
  fc.record({ what: fc.constant('call'), size, end: fc.constantFrom('whole', 'gone', 'broken'), where }),
  fc.record({ what: fc.constant('again'), size }),
  fc.record({ what: fc.constant('remove') }),
);

/** A caller of a gateway that stores, fails to, and goes, in every way that there is. */
class Caller {
  readonly #wharf: Wharf;
  /** Addresses of uploads that are under way. */
  readonly #open: string[] = [];

  constructor(wharf: Wharf) {
    this.#wharf = wharf;
  }

  /** @returns does it */
  async prepare(step: Step): Promise<() => Promise<void>> {
    if (step.what === 'remove') return () => this.#remove();
    if (step.what === 'call') {
      const url = `${this.#wharf.url}/fake/mcp`;
      const client = await RawClient.connect(url, '2025-06-18', { headers: HEADERS });
      return () => this.#call(url, client.headers(), step);
    }
    const link = await this.#link();
    switch (step.what) {
      case 'put':
        return () => this.#put(link, step);
      case 'form':
        return () => this.#form(link, step);
      case 'tus':
        return () => this.#tus(link, step);
      default:
        return () => this.#again(link, step);
    }
  }

  async #remove(): Promise<void> {
    const [file] = (await this.files()).files;
    if (file) await fetch(`${this.#wharf.adminUrl}/files/${file.id}`, { method: 'DELETE' });
  }

  async #again(link: string, { size }: Step & { what: 'again' }): Promise<void> {
    const bytes = randomBytes(size);
    await Promise.allSettled([0, 1].map(() => fetch(link, { method: 'PUT', body: bytes })));
  }

  async #link(): Promise<string> {
    const client = await RawClient.connect(`${this.#wharf.url}/docs/mcp`, '2025-06-18', { headers: HEADERS });
    await client.request('tools/list');
    const { answer } = await client.call('request_file_upload');
    const url = /http[^"\\ ]+\/u\/[\w-]+/.exec(answer.text)?.[0];
    if (url === undefined) throw new Error(answer.text);
    return url;
  }

  async #put(link: string, { size, isKnown, end, where }: Step & { what: 'put' }): Promise<void> {
    const bytes = randomBytes(size);
    const digest = createHash('sha256')
      .update(end === 'wrong' ? 'other' : bytes)
      .digest('base64');
    const headers = {
      'content-digest': `sha-256=:${digest}:`,
      ...(isKnown ? { 'content-length': size } : { 'transfer-encoding': 'chunked' }),
    };
    await send(link, { method: 'PUT', headers }, bytes, end === 'gone' ? where : undefined);
  }

  async #form(link: string, { size, end }: Step & { what: 'form' }): Promise<void> {
    const head = '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n';
    // without its last line the form is not valid, which only its end shows
    const body = Buffer.concat([
      Buffer.from(head),
      randomBytes(size),
      Buffer.from(end === 'torn' ? '' : '\r\n--b--\r\n'),
    ]);
    const headers = { 'content-type': 'multipart/form-data; boundary=b', 'content-length': body.length };
    await send(link, { method: 'POST', headers }, body);
  }

  async #tus(link: string, { size, end, where }: Step & { what: 'tus' }): Promise<void> {
    const begin = async () => {
      const begun = await fetch(link, { method: 'POST', headers: { ...TUS, 'upload-length': `${size}` } });
      return new URL(begun.headers.get('location') as string, link).href;
    };
    let url = await begin();
    const bytes = randomBytes(size);
    const first = Math.floor(size * where);
    const add = (from: number, to: number, goneAt?: number) => {
      const headers = { ...TUS, 'content-type': OCTETS, 'upload-offset': from, 'content-length': to - from };
      return send(url, { method: 'PATCH', headers }, bytes.subarray(from, to), goneAt);
    };
    await add(0, first);
    if (end === 'gone') await add(first, size, where);
    if (end === 'whole') await add(first, size);
    if (end === 'ended') await fetch(url, { method: 'DELETE', headers: TUS });
    if (end === 'anew') {
      url = await begin();
      await add(0, size);
    }
    this.#open.push(url);
  }

  async #call(url: string, own: Record<string, string>, { size, end, where }: Step & { what: 'call' }): Promise<void> {
    const args = { size, seed: size, ...(end === 'broken' && { text: `broken at ${where}` }) };
    const message = { jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'blob', arguments: args } };
    const headers = { ...own, 'content-type': 'application/json' };
    const gone = new AbortController();
    const answer = fetch(url, { method: 'POST', headers, body: JSON.stringify(message), signal: gone.signal });
    if (end === 'gone') setTimeout(() => gone.abort(), where * 100);
    await answer.then((response) => response.text()).catch(() => undefined);
  }

  async files(): Promise<{ files: { id: string; size: number }[] }> {
    const answer = await fetch(`${this.#wharf.adminUrl}/files?principal=ada&limit=1000`);
    return (await answer.json()) as { files: { id: string; size: number }[] };
  }

  /** What is stored: files, and what has come of others. */
  async stored(): Promise<{ files: number; bytes: number }> {
    const { files } = await this.files();
    let bytes = files.reduce((sum, file) => sum + file.size, 0);
    for (const url of this.#open) {
      const { headers } = await fetch(url, { method: 'HEAD', headers: TUS });
      const isWhole = headers.get('upload-offset') === headers.get('upload-length');
      if (!isWhole) bytes += Number(headers.get('upload-offset') ?? 0);
    }
    return { files: files.length, bytes };
  }

  /** What counts as stored, by the refusal of a file that has a byte more than the caller may have. */
  async counted(): Promise<number> {
    const link = await this.#link();
    return new Promise((resolve, reject) => {
      const put = httpRequest(link, { method: 'PUT', headers: { 'content-length': MOST + 1 } });
      put.on('error', reject);
      put.on('response', (answer) => {
        let text = '';
        answer.on('data', (more) => {
          text += more;
        });
        answer.on('end', () => {
          put.removeAllListeners('error').on('error', () => undefined);
          put.destroy();
          const { error } = JSON.parse(text) as { error: { code: string; actual: number } };
          if (error.code === 'storage_full') resolve(error.actual - MOST - 1);
          else reject(new Error(text));
        });
      });
      put.write(Buffer.alloc(1));
    });
  }

  /** Nothing is under way. */
  async quiet(): Promise<void> {
    const names = ['wharf_held_bytes', 'wharf_part_memory_bytes', 'wharf_open_exchanges', 'wharf_clean_ups'];
    await until(async () => {
      const values = await gauges(this.#wharf.adminUrl, names);
      return values.every((value) => value === 0);
    });
  }
}

type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

/** Sends a request, or a part of it, after which its client is gone. */
function send(url: string, options: object, body: Buffer, goneAt?: number): Promise<void> {
  return new Promise((resolve) => {
    const sent = httpRequest(url, options);
    sent.on('error', () => resolve());
    sent.on('close', () => resolve());
    sent.on('response', (answer) => answer.resume());
    if (goneAt === undefined) sent.end(body);
    else sent.write(body.subarray(0, Math.floor(body.length * goneAt)), () => sent.destroy());
  });
}

/** The time of a cut has come. A count of steps is the same on a slow machine. */
async function cut(begun: Promise<void>[], { ms, ended = 0 }: { ms?: number; ended?: number }): Promise<void> {
  if (ms !== undefined) return new Promise((resolve) => setTimeout(resolve, ms));
  let count = 0;
  const one = () => {
    count += 1;
  };
  for (const step of begun) step.then(one, one);
  await until(() => count >= ended);
}

/** A gateway whose Redis, if it has one, is the test's own. */
function lab(kind: Stores) {
  let stores: FaultStores;
  let redis: OwnRedis;
  let docs: RecordingUpstream;
  let fake: FakeUpstream;
  let wharf: Wharf;

  beforeAll(async () => {
    const inputSchema = { type: 'object', properties: { doc: { type: 'string' } } };
    docs = await RecordingUpstream.start({ tools: [{ name: 'ocr', inputSchema }] });
    fake = await startFakeUpstream({});
    fake.respond = ({ body }) => {
      const broken = /"size":(\d+).*broken at ([\d.]+)/.exec(body.toString());
      if (!broken) return undefined;
      const data = Buffer.alloc(Number(broken[1]), 'x').toString('base64');
      const result = { content: [{ type: 'image', mimeType: 'image/png', data }] };
      const text = JSON.stringify({ jsonrpc: '2.0', result, id: 5 });
      return { contentType: 'application/json', body: text, cutAfter: Math.floor(text.length * Number(broken[2])) };
    };
    stores = kind === 's3+redis' ? s3Stores() : await filesystemStores();
    redis = await OwnRedis.start();
    const state = kind === 's3+redis' ? { state: { use: 'redis', url: redis.url, keyPrefix: 'counts:' } } : {};
    wharf = await startWharf({
      servers: {
        docs: { url: docs.url, accepts: '256MiB', tools: { ocr: { files: { doc: { encoding: 'base64' } } } } },
        fake: { url: fake.url },
      },
      config: {
        ...stores.config,
        ...state,
        auth: { use: 'apiKeys', keys: [{ name: 'ada', hash: keyHash(KEY), limits: { storedBytes: MOST } }] },
        elicitation: { identity: 'none' },
      },
    });
  });
  afterAll(async () => {
    await wharf?.stop();
    await fake?.close();
    await docs?.stop();
    await redis?.stop();
    await stores?.close();
  });
  return { stores: () => stores, redis: () => redis, wharf: () => wharf };
}

const rounds = (usual: number, count: number) =>
  fc.sample(fc.array(step, { minLength: 4, maxLength: 8 }), { seed: seed(usual), numRuns: runs(count, 2) });

describe.each(STORES)('with %s, what counts as stored for a caller', (kind) => {
  const { wharf, stores } = lab(kind);

  it('is what is stored, however its uploads and its calls end', async () => {
    const caller = new Caller(wharf());
    let most = 0;
    for (const steps of rounds(1, 8)) {
      const prepared = await Promise.all(steps.map((one) => caller.prepare(one)));
      await Promise.all(prepared.map((begin) => begin()));
      await caller.quiet();
      const { bytes, files } = await caller.stored();
      expect({ steps, counted: await caller.counted() }).toEqual({ steps, counted: bytes });
      // what has come of an upload that goes on may be objects, too
      expect((await stores().objects()).length).toBeGreaterThanOrEqual(files);
      most = Math.max(most, bytes);
    }
    expect(most).toBeGreaterThan(0);
  });
});

describe('what counts as stored for a caller while connections to Redis are cut', () => {
  const { wharf, redis } = lab('s3+redis');

  /** Parts of the tally, and in how many milliseconds each of them ends. */
  async function parts(): Promise<{ part: string; endsIn: number }[]> {
    const key = await redis().command('keys', 'counts:quota:storedBytes:*');
    if (key === '') return [];
    const lines = (await redis().command('hgetall', key)).split('\n');
    return lines.flatMap((part, at) =>
      at % 2 === 1 ? [] : [{ part, endsIn: Number(lines[at + 1]?.split(' ')[1]) - Date.now() }],
    );
  }

  it('is never less than what is stored, and what is too much ends in the time that is promised', async () => {
    const caller = new Caller(wharf());
    let most = 0;
    for (const [round, steps] of rounds(2, 8).entries()) {
      // on a busy machine a cut can end each of the others
      const before = await caller.prepare({ what: 'put', size: MIB, isKnown: true, end: 'whole', where: 1 });
      await before();
      const prepared = await Promise.all(steps.map((one) => caller.prepare(one)));
      const begun = prepared.map((begin) => begin());
      const all = Promise.allSettled(begun);
      await cut(begun, CUTS[round % CUTS.length] as (typeof CUTS)[number]);
      await redis().command('client', 'kill', 'type', 'normal');
      await all;
      await until(async () => (await readiness(wharf().adminUrl)).status === 200);
      await caller.quiet();
      const { bytes } = await caller.stored();
      expect(await caller.counted()).toBeGreaterThanOrEqual(bytes);
      for (const { part, endsIn } of await parts())
        expect(endsIn).toBeLessThanOrEqual(part.startsWith('lease:') ? LEASE_MS : RETENTION_MS);
      most = Math.max(most, bytes);
    }
    expect(most).toBeGreaterThan(0);
  });
});
