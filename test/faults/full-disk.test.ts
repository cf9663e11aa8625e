import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { create, settings } from '../../adapters/objects/filesystem.js';
import { TempFiles } from '../../gateway/files/encode/temp-files.js';
import { fetchBytes, keysOf, store } from '../contract/object-store.contract.js';
import { mountSmallDisk } from '../helpers/fault-disk.js';
import { silentLog } from '../helpers/silent-log.js';
import { sourceOf } from '../unit/files/encode/lab.js';

const NEVER = new AbortController().signal;
const MIB = 1024 * 1024;

const run = promisify(execFile);

/** Sets how long a file this process may write, in bytes. */
async function limitFiles(bytes: string): Promise<void> {
  await run('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:`]);
}

let disk: Awaited<ReturnType<typeof mountSmallDisk>>;
beforeEach(async () => {
  disk = await mountSmallDisk(2 * MIB);
});
afterEach(() => disk.unmount());

describe('on a disk of 2 MiB', () => {
  it('the object store says that it is full, leaves nothing behind, and takes files again', async () => {
    const objects = create(settings.parse({ path: disk.path }), { timeouts: { store: 30_000 } });
    await objects.prepare();
    await store(objects, 'f/first', Buffer.alloc(MIB, 1));
    const writer = await objects.create('f/second', NEVER);
    const write = async () => {
      for (let n = 0; n < 3; n += 1) await writer.write(Buffer.alloc(objects.partSize, 2));
    };
    // of several disks, the operator must know which one is full
    const cause = { message: expect.stringMatching(new RegExp(`^ENOSPC: .*, below ${disk.path}/`)) };
    await expect(write()).rejects.toMatchObject({ code: 'store_full', httpStatus: 507, cause });
    await writer.abort();
    expect(await keysOf(objects, '')).toEqual(['f/first']);
    expect(await readdir(join(disk.path, 'tmp'))).toEqual([]);
    await objects.remove('f/first');
    await store(objects, 'f/third', Buffer.alloc(MIB, 3));
    expect((await fetchBytes(objects, 'f/third')).length).toBe(MIB);
  });

  it('a file longer than the process may write is refused by that limit, and a shorter one is stored', async () => {
    const objects = create(settings.parse({ path: disk.path }), { timeouts: { store: 30_000 } });
    await objects.prepare();
    const writer = await objects.create('f/long', NEVER);
    await limitFiles(String(MIB));
    try {
      await writer.write(Buffer.alloc(MIB - 1));
      await expect(writer.writeLast(Buffer.alloc(2))).rejects.toMatchObject({
        code: 'store_object_too_large',
        httpStatus: 413,
        facts: { limit: 'ulimit -f', allowed: MIB, actual: MIB + 1 },
      });
      await writer.abort();
      await store(objects, 'f/short', Buffer.alloc(MIB));
    } finally {
      await limitFiles('unlimited');
    }
    expect(await keysOf(objects, '')).toEqual(['f/short']);
    expect(await readdir(join(disk.path, 'tmp'))).toEqual([]);
  });

  it('what a start leaves that is killed while it tries the disk is removed by the next one', async () => {
    for (const folder of ['tmp', 'objects']) {
      await mkdir(join(disk.path, folder));
      await writeFile(join(disk.path, folder, 'trial'), '');
    }
    const objects = create(settings.parse({ path: disk.path }), { timeouts: { store: 30_000 } });
    await objects.prepare();
    for (const folder of ['tmp', 'objects']) expect(await readdir(join(disk.path, folder))).toEqual([]);
  });

  it('the object store is not used that could move no file onto it', async () => {
    const path = await mkdtemp(join(tmpdir(), 'wharf-two-disks-'));
    try {
      await symlink(disk.path, join(path, 'objects'));
      const objects = create(settings.parse({ path }), { timeouts: { store: 30_000 } });
      await expect(objects.prepare()).rejects.toThrow('on different file systems');
      expect([await readdir(join(path, 'tmp')), await readdir(disk.path)]).toEqual([[], []]);
    } finally {
      await rm(path, { recursive: true, force: true });
    }
  });

  it('the folder of files for tools says that it is full, keeps nothing, and takes files again', async () => {
    const files = new TempFiles({ log: silentLog, root: disk.path });
    const limit = { name: 'limits.file', bytes: 10 * MIB, path: 'image' };
    const large = sourceOf(Array.from({ length: 64 }, () => Buffer.alloc(64 * 1024, 1)));
    await expect(files.write(large, limit, NEVER)).rejects.toMatchObject({ code: 'temp_full', httpStatus: 507 });
    expect(await readdir(disk.path)).toEqual([]);
    const { path } = await files.write(sourceOf([Buffer.alloc(MIB)]), limit, NEVER);
    expect((await stat(path)).size).toBe(MIB);
  });

  it('what a crashed process left is removed, and what another user made stays', async () => {
    const files = new TempFiles({ log: silentLog, root: disk.path });
    const limit = { name: 'limits.file', bytes: MIB, path: 'image' };
    const { path, remove } = await files.write(sourceOf([Buffer.alloc(10)]), limit, NEVER);
    await remove();
    const child = spawn('true');
    await once(child, 'exit');
    const left = basename(dirname(path)).replace(`-${process.pid}-`, `-${child.pid}-`);
    const foreign = left.replace(/.{6}$/, 'bbbbbb');
    await Promise.all([left, foreign].map((name) => mkdir(join(disk.path, name))));
    await chown(join(disk.path, foreign), 65_534, 65_534);
    expect(await files.removeLeftOvers()).toBe(1);
    expect(await readdir(disk.path)).toEqual([foreign]);
  });
});
