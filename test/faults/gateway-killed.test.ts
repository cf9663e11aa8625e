import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { TRANSPORTS } from '../helpers/cut-upstreams.js';
import { BLOB, expectNothingLeft, expectWorking, untilStoring } from '../helpers/fault-checks.js';
import { type FaultStores, filesystemStores, s3Stores } from '../helpers/fault-stores.js';
import { sweep } from '../helpers/fault-sweep.js';
import { type FaultUpstream, startFaultUpstream, stdioServers } from '../helpers/fault-upstream.js';
import { type Gateway, startGateway } from '../helpers/gateway-process.js';
import { isRunning } from '../helpers/is-running.js';
import { RawClient } from '../helpers/raw-client.js';
import { until } from '../helpers/wait.js';
import { STORES } from '../helpers/wharf.js';

describe.each(STORES)('a gateway with %s that is killed in the middle of a file', (kind) => {
  let folder: string;
  let upstream: FaultUpstream;
  let stores: FaultStores;
  let gateway: Gateway;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wharf-fault-'));
    stores = kind === 's3+redis' ? s3Stores() : await filesystemStores(folder);
  });
  afterEach(async () => {
    await gateway?.stop();
    await upstream.close();
    await stores.close();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(TRANSPORTS)('from a server over %s leaves nothing to read, and rests for the sweeper', async (transport) => {
    upstream = await startFaultUpstream(transport);
    const config = { servers: { sound: upstream.server }, ...stores.config };
    gateway = await startGateway({ config });
    const client = await RawClient.connect(gateway.mcp());
    const answer = client.call('blob', BLOB);
    await untilStoring(gateway.adminUrl, stores);
    const children = stdioServers(gateway.pid);
    expect(children).toHaveLength(transport === 'stdio' ? 1 : 0);
    process.kill(gateway.pid, 'SIGKILL');
    await expect(answer).rejects.toThrow();
    await until(() => !children.some(isRunning));
    await gateway.stop();
    expect(await stores.objects()).toEqual([]);
    expect(await stores.unfinished()).toBe(1);

    gateway = await startGateway({ config });
    await expectWorking(gateway.mcp());
    await sweep(stores, 'now');
    await expectNothingLeft(gateway.adminUrl, stores, { kept: 1, unfinished: 1, pid: gateway.pid });
    expect(await sweep(stores, 'a day later')).toMatchObject({ unfinished: 1 });
    await expectNothingLeft(gateway.adminUrl, stores, { kept: 1, pid: gateway.pid });
  });
});
