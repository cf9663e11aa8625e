import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { decodedBytes } from '../bench/lib/blob-call.js';
import { type Child, freePort, startChild } from '../bench/lib/children.js';
import { measure, openSession, type Session, toolCall } from '../bench/lib/client.js';
import { serverScript } from '../bench/lib/paths.js';
import { peakRss, resetPeak, rss } from '../bench/lib/proc.js';
import { readSlowly } from '../bench/lib/slow-reader.js';
import { expectNothingLeft, gauge, MOST_GROWTH_MIB } from '../helpers/fault-checks.js';
import { type FaultStores, filesystemStores, s3Stores } from '../helpers/fault-stores.js';
import { type Gateway, startGateway } from '../helpers/gateway-process.js';

const MIB = 1024 * 1024;

/** The resident set of the gateway's process at its peak, whatever passes through it. */
const MOST_MIB = 400;

const PART_MEMORY_MIB = 20;
const HELD_MIB = 64;

/** Together 100 MB. Each reserves a part of 5 MiB in S3, so that four of them are stored at one time. */
const AT_ONCE = 32;
const EACH_MIB = 3;

/** Together four times what may be held; no reader takes more than a trickle. */
const SLOW_READERS = 20;
/** From one to the next: at one moment they would all be refused, since none would have come whole before. */
const APART_MS = 150;
const TEXT_MB = 15;
const TRICKLE = { bytesPerSecond: 10_000, seconds: 5 };

/** For 1 GiB on a machine that is busy: seconds where it is not. */
const TIMEOUT_MS = 300_000;
jest.setTimeout(2 * TIMEOUT_MS);

/** MB of base64 text (10⁶ characters) that make a file of so many MiB. */
const asMb = (mib: number) => (mib * MIB * 4) / 3 / 1e6;

describe.each([
  ['the file system', filesystemStores, ['json', 'sse', 'legacy', 'stdio']],
  ['S3', async () => s3Stores(), ['sse']],
] as const)('with files in %s', (_name, makeStores, transports) => {
  let upstream: Child;
  let stores: FaultStores;
  let gateway: Gateway;

  beforeAll(async () => {
    const port = await freePort();
    upstream = await startChild({ command: process.execPath, args: [serverScript('fast-upstream'), `${port}`], port });
    stores = await makeStores();
    const base = `http://127.0.0.1:${port}`;
    const servers = {
      json: { url: `${base}/json/mcp`, transport: 'streamable-http' },
      sse: { url: `${base}/sse/mcp`, transport: 'streamable-http' },
      legacy: { url: `${base}/legacy/sse`, transport: 'legacy-sse' },
      stdio: { command: [process.execPath, serverScript('fast-stdio')] },
    };
    const limits = { file: '2GiB', partMemory: `${PART_MEMORY_MIB}MiB`, held: `${HELD_MIB}MiB` };
    gateway = await startGateway({ config: { servers, ...stores.config, limits, previews: { use: 'none' } } });
  });
  afterAll(async () => {
    await gateway?.stop();
    await upstream?.stop();
    await stores?.close();
  });

  /** Peak while every session gets a file of that size at once. */
  const peakOf = async (sessions: readonly Session[], mib: number) => {
    resetPeak(gateway.pid);
    const mb = asMb(mib);
    const all = await Promise.all(sessions.map((session) => measure(session, toolCall('blob', { mb }), TIMEOUT_MS)));
    for (const { error, start } of all) {
      expect(error).toBeUndefined();
      expect(start).toMatch(new RegExp(`"size":${decodedBytes(mb)}\\b`));
    }
    return Math.round(peakRss(gateway.pid) / MIB);
  };

  it.each(transports)('a file of 1 GiB over %s takes no more memory than one of 64 MiB (R5)', async (transport) => {
    const session = await openSession(gateway.mcp(transport));
    await peakOf([session], 1);
    const idle = Math.round(rss(gateway.pid) / MIB);
    const small = await peakOf([session], 64);
    const large = await peakOf([session], 1024);
    process.stdout.write(`${transport}: idle ${idle}, 64 MiB ${small}, 1 GiB ${large} MiB of RSS\n`);
    expect(large).toBeLessThan(MOST_MIB);
    expect(large - small).toBeLessThan(MOST_GROWTH_MIB);
    await expectNothingLeft(gateway.adminUrl, stores, { kept: 'any', pid: gateway.pid });
  });

  it('32 files at once take no more than limits.partMemory lets them', async () => {
    const sessions = await Promise.all(Array.from({ length: AT_ONCE }, () => openSession(gateway.mcp('sse'))));
    const peak = await peakOf(sessions, EACH_MIB);
    process.stdout.write(`${AT_ONCE} files at once: ${peak} MiB of RSS\n`);
    expect(peak).toBeLessThan(MOST_MIB);
    await expectNothingLeft(gateway.adminUrl, stores, { kept: 'any', pid: gateway.pid });
  });

  it('slow readers of long texts take no more than limits.held lets them (G6)', async () => {
    const sessions = await Promise.all(Array.from({ length: SLOW_READERS }, () => openSession(gateway.mcp('sse'))));
    resetPeak(gateway.pid);
    let held = 0;
    const before = async () => {
      held = Math.max(held, await gauge(gateway.adminUrl, 'wharf_held_bytes'));
    };
    const reads = sessions.map(async (session, index) => {
      await new Promise((resolve) => setTimeout(resolve, index * APART_MS));
      return readSlowly(session, toolCall('text', { mb: TEXT_MB }), { ...TRICKLE, before });
    });
    await Promise.all(reads);
    const peak = Math.round(peakRss(gateway.pid) / MIB);
    process.stdout.write(`${SLOW_READERS} slow readers: ${peak} MiB of RSS, ${Math.round(held / MIB)} MiB held\n`);
    expect(held).toBeGreaterThan(0);
    expect(peak).toBeLessThan(MOST_MIB);
    await expectNothingLeft(gateway.adminUrl, stores, { kept: 'any', pid: gateway.pid });
  });
});
