import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../../helpers/fake-upstream.js';
import { RawClient } from '../../helpers/raw-client.js';
import { until } from '../../helpers/wait.js';
import { STORES, startWharf } from '../../helpers/wharf.js';

const RETENTION_MS = 5000;

let fake: FakeUpstream;

beforeAll(async () => {
  fake = await startFakeUpstream({ transport: 'json' });
});

afterAll(() => fake?.close());

const metric = async (adminUrl: string, line: string) =>
  (await (await fetch(`${adminUrl}/metrics`)).text()).split('\n').find((text) => text.startsWith(line));

describe.each(STORES)('a file in %s', (stores) => {
  it('is gone after its retention, and so is its link', async () => {
    // a preview that a busy machine makes late would come after the file is gone
    const previews = { use: 'none' };
    const config = { retention: `${RETENTION_MS}ms`, links: { style: 'gateway', ttl: '10m' }, previews };
    const wharf = await startWharf({ servers: { fake: { url: fake.url } }, stores, config });
    try {
      const client = await RawClient.connect(wharf.mcp);
      const begun = performance.now();
      const passed = () => performance.now() - begun;
      const { result } = await client.call('blob', { size: 1_000_000, seed: 11 });
      const link = JSON.stringify(result).match(/http[^"\\]*\/d\/[\w-]+/)?.[0] ?? '';
      const { status } = await fetch(link);
      // a machine that is very busy may ask too late
      expect(status === 200 || passed() > RETENTION_MS).toBe(true);
      const removed = 'wharf_swept_objects_total{reason="expired"} 1';
      await until(async () => (await metric(wharf.adminUrl, removed)) !== undefined);
      expect(passed()).toBeGreaterThanOrEqual(RETENTION_MS);
      expect((await fetch(link)).status).toBe(410);
    } finally {
      await wharf.stop();
    }
  });
});

describe('a message larger than its server takes', () => {
  it('is refused before its first byte, naming the limit', async () => {
    const wharf = await startWharf({ servers: { small: { url: fake.url, accepts: '100KiB' } } });
    try {
      const client = await RawClient.connect(wharf.mcp);
      const calls = () => fake.requests.filter(({ body }) => body.includes('tools/call')).length;
      const before = calls();
      const { error, answer } = await client.call('echo', { text: 'x'.repeat(200_000) });
      expect(answer.status).toBe(413);
      expect(error?.message).toMatch(/larger than the 102\.4 kB allowed/);
      expect(error?.data).toMatchObject({ limit: 'servers.small.accepts', allowed: 102_400 });
      expect(calls()).toBe(before);
    } finally {
      await wharf.stop();
    }
  });
});
