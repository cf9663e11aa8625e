import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FaultProxy } from '../../helpers/fault-proxy.js';
import { PRINCIPAL } from '../../helpers/file-parts.js';
import { type Told, uploadByTus } from '../../helpers/tus-client.js';
import { startUploadServer, type UploadServer } from '../../helpers/upload-server.js';
import { until } from '../../helpers/wait.js';
import { STORES } from '../../helpers/wharf.js';
import { Replicas } from './replicas.js';

const MIB = 1024 * 1024;
/** `WHARF_TEST_TUS_MIB=1024` by hand. */
const SIZE = Number(process.env.WHARF_TEST_TUS_MIB ?? 64) * MIB;

let folder: string;
let file: string;
let digest: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-tus-'));
  file = join(folder, 'file.bin');
  const hash = createHash('sha256');
  const handle = await open(file, 'w');
  for (let at = 0; at < SIZE; at += MIB) {
    const piece = randomBytes(MIB);
    hash.update(piece);
    await handle.write(piece);
  }
  await handle.close();
  digest = hash.digest('base64url');
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const retriesIn = (told: Told[]) => told.filter((what) => 'retry' in what).length;

describe.each(STORES)('tus-js-client, over a line that breaks every 5 to 50 MB, into %s', (stores) => {
  let server: UploadServer;
  let proxy: FaultProxy;

  beforeAll(async () => {
    server = await startUploadServer({ stores, fileLimit: 2 * SIZE, idleMs: 60_000 });
    proxy = await FaultProxy.start(server.url);
  });

  afterAll(async () => {
    await proxy?.close();
    await server?.stop();
  });

  it.each([0, 7_000_000])(
    'uploads a file whole, in requests of %i bytes (0: one)',
    async (chunk) => {
      const breakSomewhere = () =>
        proxy.set({ toTarget: { afterBytes: 5_000_000 + Math.floor(Math.random() * 45_000_000), how: 'reset' } });
      breakSomewhere();
      const { ticket, uri } = await server.authorize({ digest, size: SIZE });
      const told = await uploadByTus(`${proxy.url}/u/${ticket}`, file, {
        chunk,
        told: (what) => {
          if ('retry' in what) breakSomewhere();
        },
      });
      expect(told.at(-1)).toEqual({ handle: uri });
      expect(retriesIn(told)).toBeGreaterThan(0);
      expect(await server.digestOf(uri)).toBe(digest);
      const found = await server.library.resolve(uri, PRINCIPAL);
      expect(found).toMatchObject({ kind: 'ready', record: { digest, size: SIZE, name: 'größe.bin' } });
      expect(server.held.used).toBe(0);
      expect(await server.objects.removeUnfinished(Date.now() + 60_000)).toBe(0);
    },
    600_000,
  );
});

/** How much of an upload a gateway knows to be stored. */
async function offsetAt({ url }: { url: string }, ticket: string): Promise<number> {
  const headers = { 'Tus-Resumable': '1.0.0' };
  return Number((await fetch(`${url}/u/${ticket}`, { method: 'HEAD', headers })).headers.get('upload-offset'));
}

describe('tus-js-client and a gateway that ends', () => {
  let replicas: Replicas;

  beforeAll(async () => {
    replicas = await Replicas.open();
  });

  afterAll(() => replicas?.close());

  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'goes on at another replica after %s',
    async (signal) => {
      const [first, second] = await Promise.all([replicas.start(), replicas.start()]);
      const front = await FaultProxy.start(first.url);
      // it cannot end before it is killed, however late this process hears of its middle
      front.set({ toTarget: { afterBytes: (SIZE * 3) / 4, how: 'stall' } });
      try {
        const { uri, ticket } = await replicas.authorize();
        let kept = 0;
        let isKilled = false;
        const told = await uploadByTus(`${front.url}/u/${ticket}`, file, {
          told: async (what) => {
            if (!('sent' in what) || what.sent < SIZE / 2 || isKilled) return;
            isKilled = true;
            // how much is between the client and the store at this moment depends on the machine
            await until(async () => (await offsetAt(second, ticket)) >= SIZE / 4);
            process.kill(first.pid, signal);
            kept = await offsetAt(second, ticket);
            front.set({});
            front.pointTo(second.url);
          },
        });
        expect(told.at(-1)).toEqual({ handle: uri });
        expect(retriesIn(told)).toBeGreaterThan(0);
        expect(kept).toBeGreaterThanOrEqual(SIZE / 4);
        expect(await replicas.parts.digestOf(uri)).toBe(digest);
        expect((await replicas.parts.keys()).filter((key) => key.includes(uri.slice(-22))).length).toBe(1);
      } finally {
        await front.close();
        await Promise.all([first.stop(), second.stop()]);
      }
    },
    600_000,
  );

  it('goes on when the same gateway is there again, with its folder and Redis', async () => {
    const path = join(folder, 'data');
    const start = () => replicas.start({ objects: { use: 'filesystem', path } });
    let gateway = await start();
    const front = await FaultProxy.start(gateway.url);
    front.set({ latencyMs: 20 });
    try {
      const { uri, ticket } = await replicas.authorize();
      const kills = [SIZE / 3, SIZE / 2];
      const told = await uploadByTus(`${front.url}/u/${ticket}`, file, {
        // the client tells its progress at the end of each request, and else when it likes
        chunk: SIZE / 4,
        told: async (what) => {
          if (!('sent' in what) || what.sent < (kills[0] ?? Number.POSITIVE_INFINITY)) return;
          kills.shift();
          process.kill(gateway.pid, 'SIGKILL');
          gateway = await start();
          front.pointTo(gateway.url);
        },
      });
      expect(told.at(-1)).toEqual({ handle: uri });
      expect(kills).toEqual([]);
      const found = await replicas.parts.library.resolve(uri, PRINCIPAL);
      expect(found).toMatchObject({ kind: 'ready', record: { digest, size: SIZE } });
    } finally {
      await front.close();
      await gateway.stop();
    }
  }, 600_000);
});
