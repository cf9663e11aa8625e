import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FaultProxy } from '../helpers/fault-proxy.js';
import { type FaultStores, s3Stores } from '../helpers/fault-stores.js';
import { type FaultUpstream, startFaultUpstream } from '../helpers/fault-upstream.js';
import { RawClient } from '../helpers/raw-client.js';
import { s3Config } from '../helpers/services.js';
import { startWharf, type Wharf } from '../helpers/wharf.js';

const QUEUE_MS = 12_000;
const CALLS = 45;
/** Each way of each packet to the store: a file takes several of them, one file at a time. */
const LATENCY_MS = 150;

describe('many files at one time', () => {
  let upstream: FaultUpstream;
  let proxy: FaultProxy;
  let stores: FaultStores;
  let wharf: Wharf;

  beforeEach(async () => {
    upstream = await startFaultUpstream('sse');
    proxy = await FaultProxy.start(s3Config('').endpoint);
    stores = s3Stores(proxy.url);
    // one part for all of them
    const limits = { partMemory: '5MiB' };
    const config = { ...stores.config, limits, timeouts: { queue: `${QUEUE_MS}ms` } };
    wharf = await startWharf({ servers: { sound: upstream.server }, config });
  });
  afterEach(async () => {
    await wharf?.stop();
    await upstream.close();
    await proxy.close();
    await stores.close();
  });

  it('wait for part memory as long as others move, be that longer than timeouts.queue in all', async () => {
    const client = await RawClient.connect(wharf.mcp);
    proxy.set({ latencyMs: LATENCY_MS });
    const startedAt = performance.now();
    const answers = await Promise.all(
      Array.from({ length: CALLS }, (_, seed) => client.call('blob', { size: 600_000, seed })),
    );
    expect(answers.flatMap(({ error }) => (error ? [error.data] : []))).toEqual([]);
    // else nothing has been shown
    expect(performance.now() - startedAt).toBeGreaterThan(QUEUE_MS);
  });
});
