import { describe, expect, it } from '@jest/globals';
import { RawClient } from '../../helpers/raw-client.js';
import { RecordingUpstream } from '../../helpers/recording-upstream.js';
import { startBlobs } from '../../helpers/sdk-servers.js';
import { STORES, startWharf, type Wharf } from '../../helpers/wharf.js';

const BYTES = 600_001;

/** The values of a metric, by their labels as they are written. */
async function scraped({ adminUrl }: Wharf, metric: string): Promise<Record<string, number>> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const lines = text.matchAll(new RegExp(`^${metric}(?:\\{(.*)\\})? (\\S+)$`, 'gm'));
  return Object.fromEntries([...lines].map(([, labels = '', value]) => [labels, Number(value)]));
}

describe.each(STORES)('With %s', (stores) => {
  it('steps of the stores are timed by their kinds, and what was kept out of contexts is counted', async () => {
    const server = await startBlobs('stdio');
    const wharf = await startWharf({ servers: { blobs: { command: server.command } }, stores });
    try {
      const client = await RawClient.connect(wharf.mcp);
      expect(await scraped(wharf, 'wharf_processes')).toEqual({ 'server="blobs"': 1 });
      const { result } = await client.call('sound', { bytes: BYTES });
      expect(JSON.stringify(result)).toContain('resource_link');
      const kept = Math.ceil(BYTES / 3) * 4;
      expect(await scraped(wharf, 'wharf_kept_out_bytes_total')).toEqual({ 'server="blobs"': kept });
      expect(await scraped(wharf, 'wharf_kept_out_tokens_total')).toEqual({ 'server="blobs"': Math.ceil(kept / 4) });
      const objects = await scraped(wharf, 'wharf_object_store_seconds_count');
      expect(objects).toMatchObject({ 'operation="begin"': 1, 'operation="write"': 1, 'operation="commit"': 1 });
      const state = await scraped(wharf, 'wharf_state_store_seconds_count');
      expect(Object.keys(state)).toContain('operation="write"');
      // the initialize, and the call
      expect(await scraped(wharf, 'wharf_upstream_seconds_count')).toEqual({ 'server="blobs"': expect.any(Number) });
      expect(await scraped(wharf, 'wharf_object_store_errors_total')).toEqual({});
    } finally {
      await wharf.stop();
    }
  });
});

describe('A server that cannot be reached', () => {
  it('is counted by the code of what its clients are told', async () => {
    const server = await RecordingUpstream.start({});
    const wharf = await startWharf({ servers: { one: { url: server.url, transport: 'streamable-http' } } });
    try {
      const client = await RawClient.connect(wharf.mcp);
      await client.call('any');
      await server.stop();
      expect((await client.call('any')).error).toMatchObject({ data: { code: 'upstream_unreachable' } });
      const errors = await scraped(wharf, 'wharf_upstream_errors_total');
      expect(errors).toEqual({ 'server="one",code="upstream_unreachable"': 1 });
      // initialize, initialized and two calls
      expect(await scraped(wharf, 'wharf_upstream_seconds_count')).toEqual({ 'server="one"': 4 });
    } finally {
      await wharf.stop();
    }
  });
});
