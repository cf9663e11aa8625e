import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { peakRss, resetPeak, rss } from '../bench/lib/proc.js';
import { expectNothingLeft, MOST_GROWTH_MIB } from '../helpers/fault-checks.js';
import { type FaultStores, filesystemStores } from '../helpers/fault-stores.js';
import { type Gateway, startGateway } from '../helpers/gateway-process.js';
import { startStreamingServer, startUploadedServer } from '../helpers/huge-file-servers.js';
import { RawClient } from '../helpers/raw-client.js';

const MIB = 1024 * 1024;

/** The resident set of the gateway's process at its peak. */
const MOST_MIB = 400;

const TIMEOUT_MS = 400_000;

describe('a huge resource of one server as an argument of another', () => {
  let mib = 1;
  let from: Awaited<ReturnType<typeof startStreamingServer>>;
  let to: Awaited<ReturnType<typeof startUploadedServer>>;
  let stores: FaultStores;
  let gateway: Gateway;

  beforeAll(async () => {
    from = await startStreamingServer(() => mib);
    to = await startUploadedServer();
    stores = await filesystemStores();
    const servers = {
      from: { url: from.url, transport: 'streamable-http' },
      to: { url: to.url, transport: 'streamable-http' },
    };
    const limits = { file: '1GiB', partMemory: '20MiB' };
    gateway = await startGateway({ config: { servers, ...stores.config, limits, previews: { use: 'none' } } });
  });

  afterAll(async () => {
    await gateway?.stop();
    await from?.close();
    await to?.close();
    await stores?.close();
  });

  it(
    'a server that only streams and one that only takes uploads: nothing is held whole on the way (HO-13)',
    async () => {
      const giving = await RawClient.connect(gateway.mcp('from'));
      const taking = await RawClient.connect(gateway.mcp('to'));
      // from now on there is a tool that takes handles
      await taking.request('tools/list');
      const peakOf = async (size: number): Promise<number> => {
        mib = size;
        resetPeak(gateway.pid);
        const { result: linked } = await giving.call('link');
        const meta = linked?._meta as Record<string, { uri: string }[]> | undefined;
        const { result } = await taking.call('take', { file: meta?.['dev.wharf/files']?.[0]?.uri });
        expect(result).toEqual({ content: [] });
        expect(to.files.at(-1)).toBe('mcp-file://store/1');
        expect(to.uploads.at(-1)).toEqual({ bytes: size * MIB, digest: from.digest() });
        return Math.round(peakRss(gateway.pid) / MIB);
      };
      await peakOf(1);
      const idle = Math.round(rss(gateway.pid) / MIB);
      const small = await peakOf(64);
      const large = await peakOf(512);
      process.stdout.write(`handoff: idle ${idle}, 64 MiB ${small}, 512 MiB ${large} MiB of RSS\n`);
      expect(large).toBeLessThan(MOST_MIB);
      expect(large - small).toBeLessThan(MOST_GROWTH_MIB);
      await expectNothingLeft(gateway.adminUrl, stores, { kept: 3, pid: gateway.pid });
    },
    TIMEOUT_MS,
  );
});
