import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type FaultUpstream, startFaultUpstream } from '../helpers/fault-upstream.js';
import { RawClient } from '../helpers/raw-client.js';
import { until } from '../helpers/wait.js';
import { startWharf, type Wharf } from '../helpers/wharf.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const REQUESTS = 10;

const machineNow = Date.now;

/** As when an operator, or NTP after a start with a wrong clock, sets the machine's clock. */
function setClock(ms: number): void {
  Date.now = () => machineNow() + ms;
}

describe('a machine whose clock is set while the gateway runs', () => {
  let upstream: FaultUpstream;
  let wharf: Wharf;
  let client: RawClient;

  beforeEach(async () => {
    upstream = await startFaultUpstream('stdio');
    const config = { retention: '6h', limits: { requestsPerMinute: REQUESTS }, timeouts: { drain: '1s' } };
    wharf = await startWharf({ servers: { sound: upstream.server }, config });
    client = await RawClient.connect(wharf.mcp);
  });
  afterEach(async () => {
    Date.now = machineNow;
    await wharf.stop();
    await upstream.close();
  });

  it.each([DAY_MS, -HOUR_MS])('by %i ms keeps its sessions and files', async (ms) => {
    const { _meta } = (await client.call('blob', { size: 600_000 })).result ?? {};
    const uri = (_meta as Record<string, { uri: string }[]>)['dev.wharf/files']?.[0]?.uri;
    expect(uri).toMatch(/^mcp-file:/);
    setClock(ms);
    const read = await client.request('resources/read', { uri });
    expect(read.error).toBeUndefined();
    expect((await client.call('echo', { text: 'here' })).result?.content?.[0]?.text).toBe('here');
  });

  it('back by an hour counts the requests of a minute, and not of an hour', async () => {
    const refused = async () => {
      for (;;) {
        const { messages } = await client.post({ jsonrpc: '2.0', id: 1, method: 'ping' });
        const { error } = messages[0] ?? {};
        if (error) return error.data;
      }
    };
    expect(await refused()).toMatchObject({ code: 'rate_limited' });
    setClock(-HOUR_MS);
    expect(Number((await refused())?.retryAfter)).toBeLessThanOrEqual(60);
  });

  it('back by an hour cuts off what still runs in the time of its drain', async () => {
    void client.call('blob', { size: 600_000, stopAfter: 1000 }).catch(() => undefined);
    await until(async () => /^wharf_open_exchanges [1-9]/m.test(await metrics()));
    const began = performance.now();
    const stopped = wharf.stop();
    setClock(-HOUR_MS);
    await stopped;
    expect(performance.now() - began).toBeLessThan(10_000);
    wharf = await startWharf({ servers: { sound: upstream.server } });
  });

  it('back by an hour removes the bytes of a file when its life is over', async () => {
    const short = await startWharf({ servers: { sound: upstream.server }, config: { retention: '1s' } });
    const guest = await RawClient.connect(short.mcp);
    expect((await guest.call('blob', { size: 600_000 })).error).toBeUndefined();
    setClock(-HOUR_MS);
    await until(async () => /^wharf_swept_objects_total\{reason="expired"\} 1/m.test(await metrics(short)));
    await short.stop();
  });

  it('back by an hour learns that a server is gone', async () => {
    const http = await startFaultUpstream('sse');
    const other = await startWharf({ servers: { sound: http.server } });
    const state = async () => {
      const { servers } = (await (await fetch(`${other.adminUrl}/readyz`)).json()) as { servers: { sound: string } };
      return servers.sound;
    };
    await until(async () => (await state()) === 'ok');
    setClock(-HOUR_MS);
    await http.close();
    await until(async () => (await state()) !== 'ok');
    await other.stop();
  });

  const metrics = async ({ adminUrl } = wharf) => (await fetch(`${adminUrl}/metrics`)).text();
});
