import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createSweep } from '../../../gateway/files/retention/sweep.js';
import { sha256Url } from '../../helpers/bytes.js';
import { PRINCIPAL } from '../../helpers/file-parts.js';
import type { Gateway } from '../../helpers/gateway-process.js';
import { Replicas } from './replicas.js';

/** `WHARF_TEST_KILLS=200` for a night. */
const KILLS = Number(process.env.WHARF_TEST_KILLS ?? 20);
const UPLOADERS = 6;
const SIZES = [1, 64 * 1024, 5 * 1024 * 1024 - 1, 5 * 1024 * 1024, 8 * 1024 * 1024];
/** A gateway lives until it has stored up to so many files, and up to so long after that. */
const MAX_STORED = 6;
const MAX_DELAY_MS = 150;

interface Try {
  uri: string;
  ticket: string;
  digest: string;
  acknowledged: boolean;
}

let replicas: Replicas;

beforeAll(async () => {
  replicas = await Replicas.open();
});

afterAll(() => replicas?.close());

/** Uploads one file after the other until the gateway is gone. */
async function uploadUntilGone(gateway: Gateway, tries: Try[], n: number): Promise<void> {
  for (let k = n; ; k += 1) {
    const bytes = Buffer.alloc(SIZES[k % SIZES.length] as number, randomBytes(1000));
    const attempt: Try = { ...(await replicas.authorize()), digest: sha256Url(bytes), acknowledged: false };
    tries.push(attempt);
    try {
      const response = await fetch(`${gateway.url}/u/${attempt.ticket}`, {
        method: k % 2 ? 'PUT' : 'POST',
        body: bytes,
      });
      attempt.acknowledged = response.status === 201;
      if (!attempt.acknowledged) throw new Error(`answered ${response.status}: ${await response.text()}`);
      await response.arrayBuffer();
    } catch (error) {
      if (String(error).includes('answered')) throw error;
      return;
    }
  }
}

const acknowledgedOf = (tries: Try[]) => tries.filter(({ acknowledged }) => acknowledged);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** What a sweeper does when its time has come. */
async function sweepAll(): Promise<void> {
  const { objects, state } = replicas.parts;
  const metrics = { count() {}, observe() {}, gauge() {} };
  const clock = { now: () => Date.now(), ticks: () => performance.now() };
  const sweep = createSweep({ objects, state, clock, metrics, graceMs: -1000, confirmMs: 1 });
  await sweep();
  await pause(10);
  await sweep();
  await objects.removeUnfinished(Number.POSITIVE_INFINITY);
}

describe(`${KILLS} gateways, killed while they store uploads`, () => {
  it(
    'lose nothing that was acknowledged, and leave every other ticket good (R1, R2, G1)',
    async () => {
      const tries: Try[] = [];
      for (let kill = 0; kill < KILLS; kill += 1) {
        const gateway = await replicas.start();
        const uploading = Promise.all(Array.from({ length: UPLOADERS }, (_, n) => uploadUntilGone(gateway, tries, n)));
        const enough = acknowledgedOf(tries).length + Math.floor(Math.random() * (MAX_STORED + 1));
        while (acknowledgedOf(tries).length < enough) await Promise.race([pause(5), uploading]);
        await pause(Math.random() * MAX_DELAY_MS);
        process.kill(gateway.pid, 'SIGKILL');
        await uploading;
        await gateway.stop();
      }
      const survivor = await replicas.start();
      const outcomes = { acknowledged: 0, silent: 0, repeated: 0 };
      try {
        for (const { uri, ticket, digest, acknowledged } of tries) {
          const { kind } = await replicas.parts.library.resolve(uri, PRINCIPAL);
          if (acknowledged) outcomes.acknowledged += 1;
          else if (kind === 'ready') outcomes.silent += 1;
          else {
            // nothing of the try that was cut off is in the way of another one
            outcomes.repeated += 1;
            const response = await fetch(`${survivor.url}/u/${ticket}`, { method: 'PUT', body: 'again' });
            expect([kind, response.status]).toEqual(['pending', 201]);
            continue;
          }
          // stored, whether or not the uploader could be told: then all of it is there
          expect(await replicas.parts.digestOf(uri)).toBe(digest);
        }
      } finally {
        await survivor.stop();
      }
      await sweepAll();
      expect(await replicas.parts.keys()).toHaveLength(tries.length);
      expect(outcomes.acknowledged).toBeGreaterThan(0);
      expect(outcomes.repeated).toBeGreaterThan(0);
    },
    KILLS * 10_000 + 60_000,
  );
});
