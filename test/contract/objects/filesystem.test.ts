import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readlink, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from '@jest/globals';
import { create, settings } from '../../../adapters/objects/filesystem.js';
import { collector } from '../../../gateway/budget/memory/collector.js';
import type { ObjectStore } from '../../../gateway/ports/object-store.js';
import { someBytes } from '../../helpers/bytes.js';
import { describeObjectStore, fetchBytes, store } from '../object-store.contract.js';
import { describeResumableWrites } from '../object-store-resumable.contract.js';

const NEVER = new AbortController().signal;
const folders: string[] = [];

async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'wharf-objects-'));
  folders.push(folder);
  return folder;
}

async function freshStore(path: string): Promise<ObjectStore> {
  const objects = create(settings.parse({ path }), { timeouts: { store: 30_000 } });
  await objects.prepare();
  return objects;
}

afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

describeObjectStore('filesystem', async () => freshStore(await freshFolder()));

describeResumableWrites('filesystem', async () => freshStore(await freshFolder()));

describe('filesystem object store', () => {
  it('lets only its own user see files and folders (1306-45)', async () => {
    const path = join(await freshFolder(), 'data');
    const objects = await freshStore(path);
    await store(objects, 'f/deep/one', Buffer.from('secret'));
    for (const folder of ['', 'tmp', 'objects', 'objects/f', 'objects/f/deep']) {
      expect((await stat(join(path, folder))).mode & 0o777).toBe(0o700);
    }
    expect((await stat(join(path, 'objects/f/deep/one'))).mode & 0o777).toBe(0o600);
  });

  it('makes the folders above its own, and says so where none can be made', async () => {
    const path = join(await freshFolder(), 'a', 'b', 'c');
    await freshStore(path);
    expect((await readdir(path)).sort()).toEqual(['objects', 'tmp']);
    // the system says of each folder there that the one above is missing
    await expect(freshStore('/proc/wharf/data')).rejects.toMatchObject({
      message: expect.stringContaining('/proc/wharf/data, cannot be made or written (ENOENT)'),
      // of a user whose home does not exist, and who has no config
      todo: expect.stringMatching(/objects\.path.*XDG_STATE_HOME/),
    });
  });

  it('closes a file that is never read, so that its collection does not end the process', async () => {
    const objects = await freshStore(await freshFolder());
    await store(objects, 'f/one', someBytes(10));
    const forget = async () => {
      for (let times = 0; times < 20; times++) await objects.get('f/one', { signal: new AbortController().signal });
    };
    const open = async () => {
      const links = await readdir('/proc/self/fd').catch(() => []);
      const paths = await Promise.all(links.map((link) => readlink(`/proc/self/fd/${link}`).catch(() => '')));
      return paths.filter((path) => path.endsWith('/objects/f/one')).length;
    };
    await forget();
    for (let tries = 0; tries < 100 && (await open()) > 0; tries++) {
      collector()({ type: 'major', flavor: 'last-resort' });
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(await open()).toBe(0);
  });

  it.each([true, false])('reads a file into the same memory if its chunks are released (%s)', async (isReleased) => {
    const objects = await freshStore(await freshFolder());
    const bytes = someBytes(5 * objects.partSize + 1);
    await store(objects, 'f/one', bytes);
    const read = await objects.get('f/one', { signal: NEVER });
    if (read.kind !== 'found') throw new Error(read.kind);
    const memory = new Set<ArrayBufferLike>();
    const copies: Buffer[] = [];
    const kept: Buffer[] = [];
    for await (const chunk of read.body as AsyncIterable<Buffer>) {
      copies.push(Buffer.from(chunk));
      kept.push(chunk);
      memory.add(chunk.buffer);
      // a part of a chunk is not the chunk
      read.release?.(chunk.subarray(1));
      if (isReleased) read.release?.(chunk);
    }
    expect(Buffer.concat(copies).equals(bytes)).toBe(true);
    if (isReleased) expect(memory.size).toBeLessThan(5);
    else expect(Buffer.concat(kept).equals(bytes)).toBe(true);
  });

  it.each(['../x', 'f/../../x', '/etc/passwd', 'f//x', 'f/', '', 'f/.', 'f\\x', 'f/\0', `f/${'x'.repeat(200)}`])(
    'refuses the key %j',
    async (key) => {
      const objects = await freshStore(await freshFolder());
      await expect(objects.create(key, NEVER)).rejects.toMatchObject({ code: 'internal' });
      await expect(objects.get(key, { signal: NEVER })).rejects.toMatchObject({ code: 'internal' });
      await expect(objects.getWhole(key, 1, NEVER)).rejects.toMatchObject({ code: 'internal' });
      await expect(objects.head(key)).rejects.toMatchObject({ code: 'internal' });
      await expect(objects.remove(key)).rejects.toMatchObject({ code: 'internal' });
    },
  );

  it('gives a file that something else has written to another mark, in whichever way', async () => {
    const path = await freshFolder();
    const objects = await freshStore(path);
    const file = join(path, 'objects/f/one');
    const ways: (() => Promise<void>)[] = [
      () => writeFile(file, 'other'),
      async () => {
        await writeFile(`${file}.new`, 'other');
        await rename(`${file}.new`, file);
      },
      () => utimes(file, new Date(), new Date()),
    ];
    for (const change of ways) {
      await store(objects, 'f/one', Buffer.from('bytes'));
      const mark = (await objects.head('f/one'))?.mark;
      expect(mark).toMatch(/./);
      // clocks of file systems tick in milliseconds
      await new Promise((resolve) => setTimeout(resolve, 20));
      await change();
      expect((await objects.head('f/one'))?.mark).not.toBe(mark);
      await objects.remove('f/one');
    }
  });

  it('gives a copy that keeps the times the mark of the original', async () => {
    const path = await freshFolder();
    const objects = await freshStore(path);
    await store(objects, 'f/one', Buffer.from('bytes'));
    const mark = (await objects.head('f/one'))?.mark;
    const copy = await freshFolder();
    await promisify(execFile)('cp', ['-a', `${path}/.`, copy]);
    expect((await (await freshStore(copy)).head('f/one'))?.mark).toBe(mark);
  });

  it('breaks off a file that is written to while it is read', async () => {
    const path = await freshFolder();
    const objects = await freshStore(path);
    await store(objects, 'f/long', Buffer.alloc(3_000_000, 1));
    const read = await objects.get('f/long', { signal: NEVER });
    if (read.kind !== 'found') throw new Error(read.kind);
    const chunks: Buffer[] = [];
    const reading = (async () => {
      for await (const chunk of read.body) {
        if (chunks.push(chunk as Buffer) === 1)
          await writeFile(join(path, 'objects/f/long'), Buffer.alloc(3_000_000, 2));
      }
    })();
    await expect(reading).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(Buffer.concat(chunks).length).toBeLessThan(3_000_000);
  });

  it('serves what an earlier process has stored, and removes what one has left unfinished', async () => {
    const path = await freshFolder();
    const before = await freshStore(path);
    await store(before, 'f/old', Buffer.from('old'));
    const writer = await before.create('f/half', NEVER);
    await writer.write(Buffer.alloc(before.partSize));
    const after = await freshStore(path);
    expect((await after.getWhole('f/old', 3, NEVER))?.toString()).toBe('old');
    expect((await fetchBytes(after, 'f/old')).toString()).toBe('old');
    expect(await after.removeUnfinished(Date.now() + 60_000)).toBe(1);
    expect(await readdir(join(path, 'tmp'))).toEqual([]);
    await writer.abort();
  });

  it('makes the folder of its files anew that was removed while it ran, also during a write', async () => {
    const path = await freshFolder();
    const objects = await freshStore(path);
    await store(objects, 'f/before', Buffer.from('before'));
    const writer = await objects.create('f/after', NEVER);
    await writer.writeLast(Buffer.from('after'));
    await rm(join(path, 'objects/f'), { recursive: true });
    await writer.commit();
    expect((await fetchBytes(objects, 'f/after')).toString()).toBe('after');
    expect((await stat(join(path, 'objects/f'))).mode & 0o777).toBe(0o700);
  });

  it('goes on serving a body whose file is removed meanwhile', async () => {
    const objects = await freshStore(await freshFolder());
    const bytes = Buffer.alloc(3 * 1024 * 1024, 5);
    await store(objects, 'f/going', bytes);
    const read = await objects.get('f/going', { signal: NEVER });
    await objects.remove('f/going');
    if (read.kind !== 'found') throw new Error(read.kind);
    const chunks: Buffer[] = [];
    for await (const chunk of read.body) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
  });

  it('says which folder it cannot use and what to do', async () => {
    const file = join(await freshFolder(), 'file');
    await writeFile(file, '');
    await expect(freshStore(join(file, 'data'))).rejects.toThrow(/file\/data.*objects\.path/);
  });

  it('is not ready when its folder is gone', async () => {
    const path = join(await freshFolder(), 'data');
    const objects = await freshStore(path);
    await rm(path, { recursive: true });
    await expect(objects.check()).rejects.toMatchObject({ code: 'store_unavailable' });
    await expect(store(objects, 'f/x', Buffer.from('x'))).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  it('takes no file for removed while its folder is gone, as of a disk that is not mounted', async () => {
    const path = join(await freshFolder(), 'data');
    const objects = await freshStore(path);
    await store(objects, 'f/old', Buffer.from('old'));
    const unfinished = await objects.resumable?.begin('f/half', NEVER);
    const place = (await unfinished?.save(Buffer.from('half'))) ?? '';
    await unfinished?.close();
    await rename(path, `${path}-away`);
    const ways: (() => Promise<unknown> | undefined)[] = [
      () => objects.get('f/old', { signal: NEVER }),
      () => objects.getWhole('f/old', 3, NEVER),
      () => objects.head('f/old'),
      () => objects.remove('f/old'),
      () => objects.resumable?.resume('f/half', place, NEVER),
      () => objects.resumable?.discard('f/half', place),
    ];
    for (const way of ways) await expect(way()).rejects.toMatchObject({ code: 'store_unavailable', httpStatus: 503 });
    await rename(`${path}-away`, path);
    expect((await fetchBytes(objects, 'f/old')).toString()).toBe('old');
    const resumed = await objects.resumable?.resume('f/half', place, NEVER);
    expect(resumed).toMatchObject({ restSize: 0 });
    await resumed?.writer.abort();
  });
});
