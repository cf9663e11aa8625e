import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { TRANSPORTS } from '../helpers/cut-upstreams.js';
import { BLOB, expectNothingLeft, expectWorking } from '../helpers/fault-checks.js';
import { mountSmallDisk } from '../helpers/fault-disk.js';
import { type FaultStores, filesystemStores } from '../helpers/fault-stores.js';
import { type FaultUpstream, startFaultUpstream } from '../helpers/fault-upstream.js';
import { RawClient } from '../helpers/raw-client.js';
import { startWharf, type Wharf } from '../helpers/wharf.js';

const DISK_BYTES = 8 * 1024 * 1024;

describe.each(TRANSPORTS)('a disk that is full, with a server over %s', (transport) => {
  let disk: Awaited<ReturnType<typeof mountSmallDisk>>;
  let upstream: FaultUpstream;
  let stores: FaultStores;
  let wharf: Wharf;

  beforeEach(async () => {
    disk = await mountSmallDisk(DISK_BYTES);
    upstream = await startFaultUpstream(transport);
    stores = await filesystemStores(disk.path);
    wharf = await startWharf({ servers: { sound: upstream.server }, config: stores.config });
  });
  afterEach(async () => {
    await wharf?.stop();
    await upstream.close();
    await disk.unmount();
  });

  it('in the middle of a file: an error says so, and the space is free again', async () => {
    const client = await RawClient.connect(wharf.mcp);
    const { error } = await client.call('blob', { size: BLOB.size });
    expect(error).toMatchObject({ code: -32603, data: { code: 'store_full' } });
    expect(error?.message).toBe('The object store is full.');
    await expectNothingLeft(wharf.adminUrl, stores);
    await expectWorking(wharf.mcp);
  });

  it('before the first byte: an error says so, small answers pass, and it is used again when there is room', async () => {
    const client = await RawClient.connect(wharf.mcp);
    await writeFile(join(disk.path, 'ballast'), Buffer.alloc(DISK_BYTES));
    const { error } = await client.call('blob', { size: 600_000 });
    expect(error).toMatchObject({ code: -32603, data: { code: 'store_full' } });
    await expectNothingLeft(wharf.adminUrl, stores);
    expect((await client.call('echo', { text: 'here' })).result?.content?.[0]?.text).toBe('here');
    await rm(join(disk.path, 'ballast'));
    await expectWorking(wharf.mcp);
  });

  it('stays ready, since calls without files go on, and says that it is full where an operator looks', async () => {
    const look = async () => {
      const answer = await fetch(`${wharf.adminUrl}/readyz`);
      const { status, parts } = (await answer.json()) as { status: string; parts: Record<string, string> };
      return { http: answer.status, status, objects: parts.objects };
    };
    expect(await look()).toEqual({ http: 200, status: 'ready', objects: 'ok' });
    await writeFile(join(disk.path, 'ballast'), Buffer.alloc(DISK_BYTES - 64 * 1024));
    expect(await look()).toEqual({ http: 200, status: 'ready', objects: 'its disk is full: no file can be stored' });
    await rm(join(disk.path, 'ballast'));
    expect(await look()).toEqual({ http: 200, status: 'ready', objects: 'ok' });
  });
});
