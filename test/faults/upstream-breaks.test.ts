import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { TRANSPORTS } from '../helpers/cut-upstreams.js';
import { BLOB, expectNothingLeft, expectWorking, untilStoring } from '../helpers/fault-checks.js';
import { type FaultStores, filesystemStores, s3Stores } from '../helpers/fault-stores.js';
import { type FaultUpstream, startFaultUpstream, stdioServers } from '../helpers/fault-upstream.js';
import { RawClient } from '../helpers/raw-client.js';
import { until } from '../helpers/wait.js';
import { STORES, startWharf, type Wharf } from '../helpers/wharf.js';

/** Short enough to wait for; what works must not run into it on a busy machine. */
const IDLE_MS = 3000;

describe.each(STORES)('with %s, a server', (kind) => {
  describe.each(TRANSPORTS)('over %s', (transport) => {
    let upstream: FaultUpstream;
    let stores: FaultStores;
    let wharf: Wharf;

    const start = async (timeouts: Record<string, string> = {}) => {
      wharf = await startWharf({ servers: { fragile: upstream.server }, config: { ...stores.config, timeouts } });
      return RawClient.connect(wharf.mcp);
    };

    beforeEach(async () => {
      upstream = await startFaultUpstream(transport);
      stores = kind === 's3+redis' ? s3Stores() : await filesystemStores();
    });
    afterEach(async () => {
      await wharf?.stop();
      await upstream.close();
      await stores.close();
      expect(stdioServers()).toEqual([]);
    });

    it('that dies in the middle of a file: an error names it, and nothing of the file stays (R12)', async () => {
      const client = await start();
      const answer = client.call('blob', BLOB);
      await untilStoring(wharf.adminUrl, stores);
      upstream.die();
      const { error } = await answer;
      expect(error).toMatchObject({ code: -32603, data: { code: 'upstream_closed', server: 'fragile' } });
      expect(error?.message).toMatch(/server "fragile"/);
      await expectNothingLeft(wharf.adminUrl, stores);
      await until(() => upstream.busy() === 0);
      await expectWorking(wharf.mcp);
    });

    it('that goes silent in the middle of a file: an error names it and the limit', async () => {
      const client = await start({ idle: `${IDLE_MS}ms` });
      const { error } = await client.call('blob', BLOB);
      expect(error).toMatchObject({
        code: -32603,
        data: { code: 'idle_timeout', limit: 'timeouts.idle', allowed: IDLE_MS },
      });
      expect(error?.message).toMatch(/server "fragile" sent no bytes for 3 s/);
      await expectNothingLeft(wharf.adminUrl, stores);
      await until(() => upstream.busy() === 0);
      await expectWorking(wharf.mcp);
    });
  });
});
