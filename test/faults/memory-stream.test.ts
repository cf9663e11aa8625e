import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { peakRss, resetPeak, rss } from '../bench/lib/proc.js';
import { type ServedUpstream, serve } from '../helpers/cut-upstreams.js';
import { blobDigest } from '../helpers/fake-upstream-blob.js';
import { expectNothingLeft, MOST_GROWTH_MIB } from '../helpers/fault-checks.js';
import { type FaultStores, filesystemStores } from '../helpers/fault-stores.js';
import { type Gateway, startGateway } from '../helpers/gateway-process.js';
import { RawClient } from '../helpers/raw-client.js';

const MIB = 1024 * 1024;

/** The resident set of the gateway's process at its peak. */
const MOST_MIB = 400;

/** The server, and whether it names the type before the bytes: then they pass by, else they wait in the store. */
const WAYS = [
  ['json', true],
  ['sse', true],
  ['json', false],
  ['stdio', true],
] as const;

/** To make a gibibyte and its digest takes a second: each is made once. */
const digests = new Map<number, string>();

function digestOf(size: number): string {
  const digest = digests.get(size) ?? blobDigest({ size, seed: 3, mimeType: 'image/png' });
  digests.set(size, digest);
  return digest;
}

/** A gibibyte takes its time on a machine that does other things as well. */
const TIMEOUT_MS = 400_000;

describe('resources/stream of huge resources', () => {
  const upstreams: ServedUpstream[] = [];
  let stores: FaultStores;
  let gateway: Gateway;

  beforeAll(async () => {
    const servers: Record<string, unknown> = {};
    for (const transport of ['json', 'sse', 'stdio'] as const) {
      const upstream = await serve(transport);
      upstreams.push(upstream);
      servers[transport] = upstream.server;
    }
    stores = await filesystemStores();
    const limits = { file: '2GiB', partMemory: '20MiB' };
    gateway = await startGateway({ config: { servers, ...stores.config, limits, previews: { use: 'none' } } });
  });
  afterAll(async () => {
    await gateway?.stop();
    for (const upstream of upstreams) await upstream.close();
    await stores?.close();
  });

  it.each(WAYS)(
    '1 GiB from a server over %s (type first: %p) takes no more memory than 256 MiB (2532-22)',
    async (name, typeFirst) => {
      const client = await RawClient.connect(gateway.mcp(name), '2025-11-25', {
        capabilities: { resourceStreaming: {} },
      });
      const peakOf = async (mib: number): Promise<number> => {
        const size = mib * MIB;
        resetPeak(gateway.pid);
        const uri = `blob://${size}?seed=3${typeFirst ? '&typeFirst' : ''}`;
        const response = await client.open('resources/stream', { uri }, { accept: '*/*' });
        expect(response.headers.get('content-type')).toBe('image/png');
        const hash = createHash('sha256');
        for await (const chunk of response.body ?? []) hash.update(chunk);
        expect(hash.digest('hex')).toBe(digestOf(size));
        return Math.round(peakRss(gateway.pid) / MIB);
      };
      await peakOf(1);
      const idle = Math.round(rss(gateway.pid) / MIB);
      const small = await peakOf(256);
      const large = await peakOf(1024);
      process.stdout.write(
        `stream, ${name}, type first ${typeFirst}: idle ${idle}, 256 MiB ${small}, 1 GiB ${large} MiB of RSS\n`,
      );
      expect(large).toBeLessThan(MOST_MIB);
      expect(large - small).toBeLessThan(MOST_GROWTH_MIB);
      await expectNothingLeft(gateway.adminUrl, stores, { pid: gateway.pid });
    },
    TIMEOUT_MS,
  );
});
