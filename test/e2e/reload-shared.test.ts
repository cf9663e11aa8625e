import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { keyHash } from '../helpers/bytes.js';
import { type FakeUpstream, startFakeUpstream } from '../helpers/fake-upstream.js';
import { freePort } from '../helpers/gateway-process-ports.js';
import { RawClient } from '../helpers/raw-client.js';
import { Reloading } from './reloading.js';

let folder: string;
let upstream: FakeUpstream;
let gateway: Reloading | undefined;

beforeAll(async () => {
  upstream = await startFakeUpstream({ transport: 'json' });
});

afterAll(async () => {
  await upstream?.close();
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-reload-'));
});

afterEach(async () => {
  await gateway?.stop();
  await rm(folder, { recursive: true });
});

const base = () => ({ listen: '127.0.0.1:0', objects: { use: 'filesystem', path: join(folder, 'data') } });

describe('what all servers share, after a reload', () => {
  /** What a model reads of a file in a result of the server that stays. */
  async function toldOf(client: RawClient): Promise<string> {
    const { result } = await client.call('blob', { size: 600_000, seed: Math.floor(Math.random() * 1e6) });
    return JSON.stringify(result?.content);
  }

  const PLAIN = () => ({ url: upstream.url });
  const TAKING = () => ({ url: upstream.url, tools: { echo: { files: { text: { encoding: 'base64' } } } } });

  it('is that a tool takes files: results of a server that stays then tell the handle', async () => {
    gateway = await Reloading.start(folder, { ...base(), servers: { a: PLAIN(), b: PLAIN() } });
    const client = await RawClient.connect(new URL('/a/mcp', gateway.url).href);
    expect(await toldOf(client)).not.toContain('mcp-file://');
    await gateway.reload({ ...base(), servers: { a: PLAIN(), b: TAKING() } });
    expect(await toldOf(client)).toContain('mcp-file://');
    await gateway.reload({ ...base(), servers: { a: PLAIN(), b: PLAIN() } });
    expect(await toldOf(client)).not.toContain('mcp-file://');
  });

  it('is counted on the console under the limits of now', async () => {
    const port = await freePort();
    const key = 'operator-0123456789';
    const users = [{ name: 'ops', role: 'viewer', hash: keyHash(key) }];
    const shown = async (name: string) => {
      const headers = { authorization: `Bearer ${key}` };
      const answer = await fetch(`http://127.0.0.1:${port}/api/overview`, { headers });
      const { now } = (await answer.json()) as { now: { name: string; limit?: number }[] };
      return now.find((one) => one.name === name)?.limit;
    };
    const config = { ...base(), adminListen: `127.0.0.1:${port}`, console: { users }, servers: { a: PLAIN() } };
    gateway = await Reloading.start(folder, { ...config, limits: { sessions: 100, held: '64MiB' } });
    expect([await shown('sessions'), await shown('messages held')]).toEqual([100, 64 * 1024 * 1024]);
    await gateway.reload({ ...config, limits: { sessions: 50, held: '32MiB' } });
    expect([await shown('sessions'), await shown('messages held')]).toEqual([50, 32 * 1024 * 1024]);
  });
});

describe('a config that is not followed', () => {
  it('is told by the metrics and the console, until the file says again what counts or another one is taken', async () => {
    const port = await freePort();
    const admin = `http://127.0.0.1:${port}`;
    const key = 'operator-0123456789';
    const told = async () => {
      const { problems } = (await (
        await fetch(`${admin}/api/overview`, { headers: { authorization: `Bearer ${key}` } })
      ).json()) as { problems: { part: string; cause: string }[] };
      const metrics = await (await fetch(`${admin}/metrics`)).text();
      const [, refused] = /^wharf_config_refused (\d)$/m.exec(metrics) ?? [];
      return [refused, problems.find(({ part }) => part === 'config')?.cause];
    };
    const servers = { a: { url: upstream.url } };
    const users = [{ name: 'ops', role: 'viewer', hash: keyHash(key) }];
    const config = { ...base(), adminListen: `127.0.0.1:${port}`, console: { users }, servers };
    gateway = await Reloading.start(folder, config);
    expect(await told()).toEqual(['0', undefined]);
    await gateway.reload({ ...config, gatewayId: 'pier', limits: { file: '7MB' } }, /need a restart.*put them back/);
    expect(await told()).toEqual(['1', 'its file is not followed: a restart is needed for gatewayId']);
    await gateway.reload({ ...config, retention: 'long' }, /has problems/);
    expect(await told()).toEqual(['1', 'its file is not followed: the config has problems']);
    await gateway.reload(config, /says what it said before/);
    expect(await told()).toEqual(['0', undefined]);
    await gateway.reload('{ servers: [', /has problems/);
    await gateway.reload({ ...config, limits: { file: '7MB' } });
    expect(await told()).toEqual(['0', undefined]);
  });
});
