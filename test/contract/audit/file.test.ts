import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { FileHandle } from 'node:fs/promises';
import {
  appendFile,
  mkdir,
  mkdtemp,
  open as openFile,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { create, preflight, settings } from '../../../adapters/audit/file.js';
import { takeOut } from '../../../adapters/audit/file-lock.js';
import { verifyFiles } from '../../../gateway/audit/verify.js';
import { filesOf } from '../../../gateway/audit/verify-command.js';
import { UNSHARED } from '../../../gateway/budget/ledger.js';
import type { Audit, AuditEntry, AuditPlace } from '../../../gateway/ports/audit.js';
import { auditLines } from '../../helpers/audit-lines.js';
import { mountSmallDisk } from '../../helpers/fault-disk.js';
import { silentLog } from '../../helpers/silent-log.js';

const CALL: AuditEntry = { what: 'call', principal: 'ada', server: 'store', tool: 'echo', allowed: true };

let folder: string;
let path: string;
let clock: { time: number; now: () => number; ticks: () => number };
let opened: Audit[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-audit-'));
  path = join(folder, 'log', 'audit.jsonl');
  clock = { time: Date.UTC(2026, 10, 22), now: () => clock.time, ticks: () => clock.time };
  opened = [];
});

afterEach(async () => {
  await Promise.allSettled(opened.map((audit) => audit.close()));
  await rm(folder, { recursive: true, force: true });
});

async function open(more: Record<string, unknown> = {}): Promise<Audit> {
  const audit = await create(settings.parse({ path, ...more }), { sharing: UNSHARED, clock, log: silentLog });
  opened.push(audit);
  return audit;
}

/** The lines as they are read back, each with its place. */
async function linesFrom(audit: Audit, before?: AuditPlace): Promise<AuditPlace[]> {
  const places: AuditPlace[] = [];
  for await (const { text, at } of audit.newest?.(before) ?? [])
    places.push({ ...(JSON.parse(text) as AuditPlace), at });
  return places;
}

async function verdict() {
  return verifyFiles(await filesOf(path));
}

describe('an audit log in a file', () => {
  it('has one line per entry, which only its owner can read', async () => {
    const audit = await open();
    await audit.record(CALL);
    await audit.record({ ...CALL, files: [{ id: 'f_1', digest: 'abc', size: 3, mimeType: 'image/png' }] });
    expect(await auditLines(path)).toMatchObject([
      { seq: 1, time: '2026-11-22T00:00:00.000Z', ...CALL },
      { seq: 2, files: [{ id: 'f_1', digest: 'abc', size: 3, mimeType: 'image/png' }] },
    ]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it.each(['always', 'second'])('goes on with its chain when its process starts again, with sync %s', async (sync) => {
    for (let run = 0; run < 3; run++) {
      const audit = await open({ sync });
      await audit.record(CALL);
      await audit.close();
    }
    expect(await verdict()).toMatchObject({ faults: [], chains: [{ lines: 3 }] });
  });

  it('removes the line that its process was writing when it was killed, and goes on', async () => {
    const audit = await open();
    await audit.record(CALL);
    await audit.close();
    await appendFile(path, '{"seq":2,"chain":"c_');
    await (await open()).record(CALL);
    expect(await verdict()).toMatchObject({ faults: [], chains: [{ lines: 2 }] });
  });

  it('does not go on after a line that was changed', async () => {
    const audit = await open();
    await audit.record(CALL);
    await audit.close();
    await writeFile(path, (await readFile(path, 'utf8')).replace('ada', 'bob'));
    await expect(open()).rejects.toThrow('is not as Wharf wrote it');
  });

  it('is put aside when it is full, and the chain goes on over the files and over a start', async () => {
    let audit = await open({ maxSize: '64KiB', keep: 100 });
    for (let round = 0; round < 10; round++)
      await Promise.all(Array.from({ length: 100 }, () => audit.record({ ...CALL, subject: 's'.repeat(100) })));
    await audit.close();
    audit = await open({ maxSize: '64KiB', keep: 100 });
    await audit.record(CALL);
    const files = await filesOf(path);
    expect(files.length).toBeGreaterThan(4);
    for (const file of files) expect((await stat(file)).size).toBeLessThanOrEqual(64 * 1024);
    expect(await verdict()).toMatchObject({ faults: [], chains: [{ lines: 1001 }] });
  });

  it('is put aside when it is old, and the oldest files are removed', async () => {
    const audit = await open({ maxAge: '1h', keep: 2 });
    for (let hour = 0; hour < 5; hour++) {
      await audit.record(CALL);
      clock.time += 60 * 60 * 1000;
    }
    expect(await filesOf(path)).toHaveLength(3);
    expect(await verdict()).toMatchObject({ faults: [], chains: [{ lines: 3, first: { seq: 3 } }] });
  });

  it('keeps the newest files, and puts one aside in time, after a clock that was far ahead was set right', async () => {
    const now = clock.time;
    const days = (count: number) => now + count * 24 * 60 * 60 * 1000;
    const audit = await open({ maxAge: '24h', keep: 2 });
    for (const at of [now, days(400), days(800), now, now + 1000, days(1), days(2)]) {
      clock.time = at;
      await audit.record(CALL);
    }
    const names = (await filesOf(path)).map((file) => file.slice(folder.length + '/log/audit.'.length));
    expect(names).toEqual(['20261123T000000Z-000000000004.jsonl', '20261124T000000Z-000000000006.jsonl', 'jsonl']);
    expect(await auditLines(path)).toMatchObject([{ seq: 7 }]);
  });

  it('goes on with the chain of the newest file aside when its process ended between two files', async () => {
    const audit = await open({ maxAge: '1h' });
    await audit.record(CALL);
    clock.time += 60 * 60 * 1000;
    await audit.record(CALL);
    await audit.close();
    await rm(path);
    await (await open()).record(CALL);
    expect((await auditLines(path))[0]).toMatchObject({ seq: 2 });
  });

  it('is read on from a line, in whichever file that is by then, and from none that is gone', async () => {
    const audit = await open({ maxAge: '1h', keep: 1 });
    for (let count = 0; count < 3; count++) await audit.record(CALL);
    const [newest, , oldest] = await linesFrom(audit);
    expect(await linesFrom(audit, newest)).toMatchObject([{ seq: 2 }, { seq: 1 }]);
    expect(await linesFrom(audit, oldest)).toEqual([]);
    expect(await linesFrom(audit, { ...newest, at: 1 } as AuditPlace)).toEqual([]);
    clock.time += 60 * 60 * 1000;
    await audit.record(CALL);
    expect(await linesFrom(audit, newest)).toMatchObject([{ seq: 2 }, { seq: 1 }]);
    clock.time += 60 * 60 * 1000;
    await audit.record(CALL);
    expect(await linesFrom(audit, newest)).toEqual([]);
  });

  it.each<[string, (file: string) => Promise<unknown>, string]>([
    ['its file is gone', (file) => rename(file, `${file}.away`), 'its file is gone'],
    [
      'another file is in its place',
      (file) => rename(file, `${file}.away`).then(() => writeFile(file, '')),
      'replaced',
    ],
    ['something else wrote to it', (file) => appendFile(file, 'x\n'), 'changed by another program'],
  ])('refuses what it cannot record because %s', async (_why, harm, told) => {
    const audit = await open();
    await audit.record(CALL);
    await harm(path);
    await expect(audit.record(CALL)).rejects.toMatchObject({
      code: 'audit_unavailable',
      facts: { reason: expect.stringContaining(told) },
    });
  });

  it('goes on when its file is back', async () => {
    const audit = await open();
    await audit.record(CALL);
    await rename(path, `${path}.away`);
    await expect(audit.record(CALL)).rejects.toThrow('its file is gone');
    await rename(`${path}.away`, path);
    await audit.record(CALL);
    expect(await verdict()).toMatchObject({ faults: [], chains: [{ lines: 2 }] });
    expect((await auditLines(path))[1]).toMatchObject({ missed: 1 });
  });

  it('refuses while its disk is full, leaves no half line, and goes on when there is room', async () => {
    const disk = await mountSmallDisk(256 * 1024);
    try {
      path = join(disk.path, 'audit.jsonl');
      const filler = join(disk.path, 'filler');
      const audit = await open();
      await audit.record(CALL);
      await writeFile(filler, Buffer.alloc(1 << 20)).catch(() => {});
      // more than what is left of the page that the file has begun
      const tries = await Promise.allSettled(Array.from({ length: 100 }, () => audit.record(CALL)));
      const reason = expect.objectContaining({ message: expect.stringContaining('its disk is full') });
      expect(tries).toEqual(tries.map(() => ({ status: 'rejected', reason })));
      expect((await verdict()).faults).toEqual([]);
      await rm(filler);
      await audit.record(CALL);
      expect((await verdict()).faults).toEqual([]);
    } finally {
      await Promise.all(opened.splice(0).map((audit) => audit.close()));
      await disk.unmount();
    }
  });

  it('does not end in silence when its last lines cannot be forced to the disk', async () => {
    const audit = await open({ sync: 'second' });
    await audit.record(CALL);
    const file = await openFile(path);
    const sync = jest.spyOn(Object.getPrototypeOf(file) as FileHandle, 'datasync').mockRejectedValue(new Error('EIO'));
    try {
      // by itself, after a second
      while (sync.mock.calls.length === 0) await setTimeout(50);
      await expect(audit.close()).rejects.toThrow('EIO');
    } finally {
      sync.mockRestore();
      await file.close();
    }
  });

  it('is not shared by two processes: the one that comes second to write is refused', async () => {
    const first = await open();
    await first.record(CALL);
    const [line = ''] = (await readFile(path, 'utf8')).split('\n');
    await appendFile(path, `${line}\n`);
    await expect(first.record(CALL)).rejects.toThrow('changed by another program');
    await first.close();
    expect(await readdir(join(folder, 'log'))).toEqual(['audit.jsonl']);
  });

  it('refuses a second process before that touches the file, and the first goes on', async () => {
    const first = await open();
    await first.record(CALL);
    await expect(open()).rejects.toThrow(/audit\.jsonl, is written by another process: name another file/);
    await first.record(CALL);
    expect((await verdict()).faults).toEqual([]);
    await first.close();
    await (await open()).record(CALL);
    expect(await auditLines(path)).toHaveLength(3);
  });

  it('is not taken from a process that has just taken it over, by one that found it left before', async () => {
    const first = await open();
    const lock = join(folder, 'log', '.audit.jsonl.lock');
    await takeOut(lock);
    await expect(open()).rejects.toThrow('written by another process');
    await first.record(CALL);
    await first.close();
    expect(await readdir(join(folder, 'log'))).toEqual(['audit.jsonl']);
  });

  it('is taken over although a process was killed while it took it over', async () => {
    await mkdir(join(folder, 'log'));
    await writeFile(join(folder, 'log', '.audit.jsonl.lock'), '');
    await writeFile(join(folder, 'log', '.audit.jsonl.lock.turn'), '');
    await (await open()).close();
    expect(await readdir(join(folder, 'log'))).toEqual(['audit.jsonl']);
  });

  it('is taken over from a process that was killed', async () => {
    const lock = join(folder, 'log', '.audit.jsonl.lock');
    const holding = `require('node:net').createServer().listen(${JSON.stringify(lock)}, () => console.log('held'))`;
    await mkdir(join(folder, 'log'));
    const other = spawn(process.execPath, ['-e', holding]);
    await once(other.stdout, 'data');
    await expect(open()).rejects.toThrow('written by another process');
    const ended = once(other, 'exit');
    other.kill('SIGKILL');
    await ended;
    await (await open()).record(CALL);
    expect((await verdict()).faults).toEqual([]);
  });
});

describe('a path that is a folder', () => {
  it('is a fault of `audit.path` before the start, and at the start', async () => {
    path = folder;
    const { message } = (await open().catch((error: unknown) => error)) as Error;
    expect(message).toBe(`audit.path, ${folder}, is a folder; name a file in it, such as audit.jsonl.`);
    const text = 'is a folder; name a file in it, such as audit.jsonl';
    expect(await preflight(settings.parse({ path }))).toEqual([{ path: ['path'], message: text, value: folder }]);
    expect(await preflight(settings.parse({ path: join(folder, 'audit.jsonl') }))).toEqual([]);
  });

  it('cannot be opened where it stands below a file, and the error names the setting', async () => {
    await writeFile(join(folder, 'log'), '');
    const { message } = (await open().catch((error: unknown) => error)) as Error;
    expect(message).toMatch(/^audit\.path, .*audit\.jsonl, cannot be opened \(E(?:EXIST|NOTDIR)\)\. /);
  });

  it('fails at once where the system has no such folder and takes none, as below /proc', async () => {
    for (path of ['/proc/wharf/audit.jsonl', '/proc/wharf/log/audit.jsonl'])
      await expect(open()).rejects.toThrow(/^audit\.path, .*audit\.jsonl, cannot be opened \(E[A-Z]+\)\. /);
  });

  it('is made with the folders above it, which only its owner can enter', async () => {
    path = join(folder, 'a', 'b', 'audit.jsonl');
    await (await open()).close();
    const modes = [join(folder, 'a'), join(folder, 'a', 'b')].map(async (one) => (await stat(one)).mode & 0o777);
    expect(await Promise.all(modes)).toEqual([0o700, 0o700]);
  });
});
