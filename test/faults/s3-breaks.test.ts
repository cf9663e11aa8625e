import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BLOB, expectNothingLeft, expectWorking, gauge, readiness, untilStoring } from '../helpers/fault-checks.js';
import { FaultProxy } from '../helpers/fault-proxy.js';
import { type FaultStores, s3Stores } from '../helpers/fault-stores.js';
import { sweep } from '../helpers/fault-sweep.js';
import { type FaultUpstream, startFaultUpstream } from '../helpers/fault-upstream.js';
import { RawClient } from '../helpers/raw-client.js';
import { s3Config } from '../helpers/services.js';
import { until } from '../helpers/wait.js';
import { startWharf, type Wharf } from '../helpers/wharf.js';

/** Short enough to wait for; what works must not run into it on a busy machine. */
const STORE_MS = 4000;

describe.each(['sse', 'stdio'] as const)('while a file comes in over %s, an S3', (transport) => {
  let upstream: FaultUpstream;
  let proxy: FaultProxy;
  let stores: FaultStores;
  let wharf: Wharf;

  beforeEach(async () => {
    upstream = await startFaultUpstream(transport);
    proxy = await FaultProxy.start(s3Config('').endpoint);
    stores = s3Stores(proxy.url);
    const config = { ...stores.config, timeouts: { store: `${STORE_MS}ms` } };
    wharf = await startWharf({ servers: { sound: upstream.server }, config });
  });
  afterEach(async () => {
    await wharf?.stop();
    await upstream.close();
    await proxy.close();
    await stores.close();
  });

  /** A call whose file is half stored. */
  const begun = async () => {
    const client = await RawClient.connect(wharf.mcp);
    const answer = client.call('blob', BLOB);
    await untilStoring(wharf.adminUrl, stores);
    return { answer };
  };

  it('that stalls in the middle of a part: an error names the limit, and nothing stays (R11)', async () => {
    const { answer } = await begun();
    proxy.set({ toTarget: { afterBytes: 100_000, how: 'stall' } });
    upstream.goOn();
    const { error } = await answer;
    expect(error).toMatchObject({ code: -32603, data: { code: 'store_timeout', limit: 'timeouts.store' } });
    expect(error?.message).toMatch(/^The object store did not answer within 4 s/);
    proxy.set({});
    await leavesNothingInTime();
    await expectWorking(wharf.mcp);
  });

  it('that stalls: the error does not wait for the removal of what was stored', async () => {
    const { answer } = await begun();
    proxy.set({ toTarget: { afterBytes: 0, how: 'stall' } });
    upstream.goOn();
    const { error } = await answer;
    expect(error).toMatchObject({ data: { code: 'store_timeout' } });
    // nothing waits for what is removed
    expect(await gauge(wharf.adminUrl, 'wharf_clean_ups')).toBe(1);
    proxy.set({});
    await until(async () => (await gauge(wharf.adminUrl, 'wharf_clean_ups')) === 0);
  });

  it('that resets every connection in the middle of a part: an error says so, and nothing stays', async () => {
    const { answer } = await begun();
    proxy.set({ toTarget: { afterBytes: 100_000, how: 'reset' } });
    upstream.goOn();
    const { error } = await answer;
    expect(error).toMatchObject({ code: -32603, data: { code: 'store_unavailable' } });
    expect(error?.message).toMatch(/^The object store is not available/);
    proxy.set({});
    await leavesNothingInTime();
    await expectWorking(wharf.mcp);
  });

  it('that goes away: readiness says so, small answers pass, and it is used again when it is back', async () => {
    const { answer } = await begun();
    await proxy.refuse();
    upstream.goOn();
    const { error } = await answer;
    expect(error).toMatchObject({ code: -32603, data: { code: 'store_unavailable' } });
    const down = await readiness(wharf.adminUrl);
    expect(down.status).toBe(503);
    expect(down.parts).toMatchObject({ objects: expect.stringMatching(/^The object store/), state: 'ok' });
    const client = await RawClient.connect(wharf.mcp);
    expect((await client.call('echo', { text: 'here' })).result?.content?.[0]?.text).toBe('here');
    expect((await client.call('blob', { size: 600_000 })).error?.data).toMatchObject({ code: 'store_unavailable' });
    await proxy.accept();
    await until(async () => (await readiness(wharf.adminUrl)).status === 200);
    await leavesNothingInTime();
    await expectWorking(wharf.mcp);
  });

  /** What could not be removed while S3 was out of reach is the sweeper's, not before its time. */
  async function leavesNothingInTime(): Promise<void> {
    await until(async () => (await gauge(wharf.adminUrl, 'wharf_clean_ups')) === 0);
    const left = await stores.unfinished();
    expect(left).toBeLessThanOrEqual(1);
    await sweep(stores, 'now');
    await expectNothingLeft(wharf.adminUrl, stores, { unfinished: left });
    await sweep(stores, 'a day later');
    await expectNothingLeft(wharf.adminUrl, stores);
  }
});
