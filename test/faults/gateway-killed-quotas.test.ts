import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { keyHash } from '../helpers/bytes.js';
import { type Gateway, startGateway } from '../helpers/gateway-process.js';
import { OwnRedis } from '../helpers/own-redis.js';
import { RawClient } from '../helpers/raw-client.js';
import { RecordingUpstream } from '../helpers/recording-upstream.js';
import { until } from '../helpers/wait.js';

const KEY = 'ada-0123456789';
const MIB = 1024 * 1024;
const MOST = 8 * MIB;

/** How long room stays reserved after its last bytes. */
const LEASE_MS = 10 * 60 * 1000;

const HEADERS = { authorization: `Bearer ${KEY}` };

describe('a gateway that is killed while it has reserved room in a quota', () => {
  let folder: string;
  let redis: OwnRedis;
  let upstream: RecordingUpstream;
  let gateway: Gateway;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wharf-killed-'));
    redis = await OwnRedis.start();
    const inputSchema = { type: 'object', properties: { doc: { type: 'string' } } };
    upstream = await RecordingUpstream.start({ tools: [{ name: 'ocr', inputSchema }] });
    gateway = await begin();
  });
  afterEach(async () => {
    await gateway?.stop();
    await upstream.stop();
    await redis.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const begin = () =>
    startGateway({
      config: {
        servers: {
          hr: { url: upstream.url, accepts: '64MiB', tools: { ocr: { files: { doc: { encoding: 'base64' } } } } },
        },
        objects: { use: 'filesystem', path: join(folder, 'data') },
        state: { use: 'redis', url: redis.url, keyPrefix: 'killed:' },
        secret: 'the tests of this repository share this secret',
        auth: { use: 'apiKeys', keys: [{ name: 'ada', hash: keyHash(KEY), limits: { storedBytes: MOST } }] },
        elicitation: { identity: 'none' },
      },
    });

  async function link(): Promise<string> {
    const client = await RawClient.connect(gateway.mcp(), '2025-06-18', { headers: HEADERS });
    await client.request('tools/list');
    const { answer } = await client.call('request_file_upload');
    const url = /http[^"\\ ]+\/u\/[\w-]+/.exec(answer.text)?.[0];
    if (url === undefined) throw new Error(answer.text);
    return url;
  }

  /** Parts of the tally: reserved and stored bytes, and when each of them ends. */
  async function parts(): Promise<{ key: string; part: string; amount: number; until: number }[]> {
    const [key = ''] = (await redis.command('keys', 'killed:quota:storedBytes:*')).split('\n');
    if (key === '') return [];
    const lines = (await redis.command('hgetall', key)).split('\n');
    return lines.flatMap((part, at) => {
      if (at % 2 === 1) return [];
      const [amount = 0, end = 0] = (lines[at + 1] ?? '').split(' ').map(Number);
      return [{ key, part, amount, until: end }];
    });
  }

  const leases = async () => (await parts()).filter(({ part }) => part.startsWith('lease:'));
  const reserved = async () => (await leases()).reduce((sum, { amount }) => sum + amount, 0);

  /** Uploads that bring so many bytes, and then no more. */
  async function hang(count: number, bytes: number): Promise<void> {
    for (let at = 0; at < count; at += 1) {
      const upload = request(await link(), { method: 'PUT', headers: { 'content-type': 'text/plain' } });
      upload.on('error', () => undefined);
      upload.write(Buffer.alloc(bytes, 'a'));
    }
  }

  async function put(bytes: number) {
    const answer = await fetch(await link(), { method: 'PUT', body: Buffer.alloc(bytes, 'b') });
    return { status: answer.status, again: Number(answer.headers.get('retry-after')), text: await answer.text() };
  }

  it('loses what it has reserved, and the room comes back after ten minutes, and only what is stored counts', async () => {
    expect((await put(MIB)).status).toBeLessThan(300);
    // room is reserved for each mebibyte that has come, so each of them has one
    await hang(3, 1.5 * MIB);
    await until(async () => (await leases()).length === 3);
    const before = await reserved();
    process.kill(gateway.pid, 'SIGKILL');
    await gateway.stop();
    gateway = await begin();

    // a process that is gone gives nothing back, so its room is still taken
    expect(await reserved()).toBe(before);
    const refused = await put(5 * MIB);
    expect(refused.status).toBe(507);
    expect(refused.text).toMatch(/storage_full/);
    expect(refused.again).toBeGreaterThan(0);
    expect(refused.again).toBeLessThanOrEqual(LEASE_MS / 1000);

    // the leases are over when as much time has passed as they last
    for (const { key, part, amount, until: end } of await leases()) {
      await redis.command('hset', key, part, `${amount} ${end - LEASE_MS}`);
    }
    expect((await put(7 * MIB)).status).toBeLessThan(300);
    expect((await put(1)).status).toBe(507);
    expect(await reserved()).toBe(0);
  });
});
