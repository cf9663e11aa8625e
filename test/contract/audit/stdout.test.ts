import { open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { fileSink, streamSink } from '../../../adapters/audit/stdout.js';
import { Journal } from '../../../gateway/audit/journal.js';
import { verifyFiles } from '../../../gateway/audit/verify.js';
import { UNSHARED } from '../../../gateway/budget/ledger.js';
import type { AuditEntry } from '../../../gateway/ports/audit.js';
import { mountSmallDisk } from '../../helpers/fault-disk.js';
import { silentLog } from '../../helpers/silent-log.js';

const CALL: AuditEntry = { what: 'call', principal: 'ada', server: 'store', tool: 'echo', allowed: true };

describe('an audit log on a standard output that is a file', () => {
  it('refuses while its disk is full, and goes on behind whole lines when there is room', async () => {
    const disk = await mountSmallDisk(256 * 1024);
    const path = join(disk.path, 'out');
    const filler = join(disk.path, 'filler');
    const file = await open(path, 'w');
    const settings = { required: true, queue: 1000, wait: 200 };
    const clock = { now: () => 0 };
    const parts = { sink: fileSink(file.fd), settings, sharing: UNSHARED, clock, log: silentLog };
    const audit = new Journal({ name: 'stdout', ...parts });
    try {
      await audit.record(CALL);
      await writeFile(filler, Buffer.alloc(1 << 20)).catch(() => {});
      // the page that the file has begun takes some lines, and a part of the next
      const tries = await Promise.allSettled(Array.from({ length: 100 }, () => audit.record(CALL)));
      expect(new Set(tries.map(({ status }) => status))).toEqual(new Set(['rejected']));
      const why = { code: 'audit_unavailable', facts: { reason: 'its disk is full' } };
      await expect(audit.check()).rejects.toMatchObject(why);
      await rm(filler);
      while (
        await audit.check().then(
          () => false,
          () => true,
        )
      )
        await new Promise((resolve) => setTimeout(resolve, 50));
      await audit.record(CALL);
      expect(await verifyFiles([path])).toMatchObject({ faults: [], chains: [{}] });
    } finally {
      await audit.close();
      await file.close();
      await disk.unmount();
    }
  });
});

describe('an audit log on a pipe whose reader has gone', () => {
  it('says so of every line', async () => {
    const gone = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
    const output = new Writable({ write: (_bytes, _encoding, done) => done(gone) });
    const settings = { required: true, queue: 1000, wait: 2000 };
    const parts = { sink: streamSink(output), settings, sharing: UNSHARED, clock: { now: () => 0 }, log: silentLog };
    const audit = new Journal({ name: 'stdout', ...parts });
    for (let n = 0; n < 3; n++) await expect(audit.record(CALL)).rejects.toThrow('its reader has gone');
    await audit.close();
  });
});
