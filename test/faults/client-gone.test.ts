import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { TRANSPORTS } from '../helpers/cut-upstreams.js';
import { BLOB, expectNothingLeft, expectWorking, gauge, untilStoring } from '../helpers/fault-checks.js';
import { type FaultStores, filesystemStores, s3Stores } from '../helpers/fault-stores.js';
import { type FaultUpstream, startFaultUpstream, stdioServers } from '../helpers/fault-upstream.js';
import { RawClient } from '../helpers/raw-client.js';
import { until } from '../helpers/wait.js';
import { STORES, startWharf, type Wharf } from '../helpers/wharf.js';

/** A server on its own channel hears that the client has gone; on a shared one it finishes, for no client. */
const OWN_CHANNEL = new Set(['json', 'sse']);

/** Bytes of the answer to `BLOB` before its file begins, and a place behind the file. */
const BEFORE = 20;
const BEHIND = Math.ceil(BLOB.size / 3) * 4 + 75;

describe.each(STORES)('with %s, a client of a server', (kind) => {
  describe.each(TRANSPORTS)('over %s', (transport) => {
    let upstream: FaultUpstream;
    let stores: FaultStores;
    let wharf: Wharf;

    beforeEach(async () => {
      upstream = await startFaultUpstream(transport);
      stores = kind === 's3+redis' ? s3Stores() : await filesystemStores();
      wharf = await startWharf({ servers: { fragile: upstream.server }, config: stores.config });
    });
    afterEach(async () => {
      await wharf?.stop();
      await upstream.close();
      await stores.close();
      expect(stdioServers()).toEqual([]);
    });

    it.each([
      ['before the file', BEFORE],
      ['in the file', BLOB.stopAfter],
      ['behind the file', BEHIND],
    ])('that goes %s leaves nothing behind (R13)', async (where, stopAfter) => {
      const client = await RawClient.connect(wharf.mcp);
      const gone = new AbortController();
      const call = { jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'blob' } };
      const answer = fetch(wharf.mcp, {
        method: 'POST',
        headers: { ...client.headers(), 'content-type': 'application/json' },
        body: JSON.stringify({ ...call, params: { name: 'blob', arguments: { ...BLOB, stopAfter } } }),
        signal: gone.signal,
      });
      const text = answer.then((response) => response.text());
      if (where === 'before the file') await until(() => upstream.busy() > 0);
      else if (where === 'in the file') await untilStoring(wharf.adminUrl, stores);
      else await until(async () => (await stores.objects()).length > 0);
      gone.abort();
      await expect(text).rejects.toThrow(/abort/);
      await until(async () => (await gauge(wharf.adminUrl, 'wharf_open_exchanges')) === 0);
      if (OWN_CHANNEL.has(transport)) await until(() => upstream.busy() === 0);
      else {
        upstream.goOn();
        const after = await client.call('blob', { size: 600_000, seed: 5 });
        expect(after.result?.content).toBeDefined();
      }
      await expectNothingLeft(wharf.adminUrl, stores, { kept: OWN_CHANNEL.has(transport) ? 0 : 1 });
      await expectWorking(wharf.mcp);
    });
  });
});
