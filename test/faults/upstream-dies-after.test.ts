import { describe, expect, it } from '@jest/globals';
import { BLOB, expectNothingLeft, expectWorking, sizeBehind } from '../helpers/fault-checks.js';
import { filesystemStores, s3Stores } from '../helpers/fault-stores.js';
import { startFaultUpstream } from '../helpers/fault-upstream.js';
import { RawClient } from '../helpers/raw-client.js';
import { STORES, startWharf } from '../helpers/wharf.js';

describe.each(STORES)('with %s, a server on stdio that exits right behind its last answer', (kind) => {
  it('has answered: the file is stored and linked, however long that takes', async () => {
    const upstream = await startFaultUpstream('stdio');
    const stores = kind === 's3+redis' ? s3Stores() : await filesystemStores();
    const wharf = await startWharf({ servers: { shy: upstream.server }, config: stores.config });
    try {
      const client = await RawClient.connect(wharf.mcp);
      const answer = await client.call('blob', { size: BLOB.size, thenDie: true });
      expect(answer.error).toBeUndefined();
      expect(await sizeBehind(answer)).toBe(BLOB.size);
      expect((await client.post({ jsonrpc: '2.0', id: 9, method: 'ping' })).status).toBe(404);
      await expectNothingLeft(wharf.adminUrl, stores, { kept: 1 });
      await expectWorking(wharf.mcp);
    } finally {
      await wharf.stop();
      await stores.close();
    }
  });
});
