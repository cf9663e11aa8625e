import { type FileHandle, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { create, settings } from '../../../adapters/objects/filesystem.js';

/**
 * "What is acknowledged is stored" holds over a power cut only if the disk has the bytes before the name, and the name
 * before the acknowledgement. No test can cut the power; what the store asks of the system can be seen.
 */
interface Synced {
  what: 'file' | 'folder';
  ino: number;
  size: number;
  /** Whether the object could be found under its key at that moment. */
  visible: boolean;
}

const NEVER = new AbortController().signal;
let folder: string;
let synced: Synced[];
let restore: () => void;
let target: string;

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-durable-'));
  target = join(folder, 'objects/f/one');
  synced = [];
  const handle = await open(folder, 'r');
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const real = prototype.sync;
  prototype.sync = async function (this: FileHandle) {
    const { ino, size, ...stats } = await this.stat();
    const what = (stats.mode & 0o170000) === 0o040000 ? 'folder' : 'file';
    synced.push({ what, ino, size, visible: await exists(target) });
    await real.call(this);
  };
  restore = () => {
    prototype.sync = real;
  };
});

afterEach(async () => {
  restore();
  await rm(folder, { recursive: true });
});

async function commit(bytes: number): Promise<void> {
  const objects = create(settings.parse({ path: folder }), { timeouts: { store: 30_000 } });
  await objects.prepare();
  const writer = await objects.create('f/one', NEVER);
  const half = Math.floor(bytes / 2);
  await writer.write(Buffer.alloc(half, 1));
  await writer.writeLast(Buffer.alloc(bytes - half, 2));
  await writer.commit();
}

describe('a commit to the filesystem', () => {
  it('puts all bytes on disk before they get their name', async () => {
    await commit(1_500_001);
    const { ino } = await stat(target);
    expect(synced.filter(({ what }) => what === 'file')).toEqual([
      { what: 'file', ino, size: 1_500_001, visible: false },
    ]);
  });

  it('puts the name on disk before it is acknowledged', async () => {
    await commit(10);
    const { ino } = await stat(join(folder, 'objects/f'));
    expect(synced.at(-1)).toMatchObject({ what: 'folder', ino, visible: true });
  });

  it('puts the folders that it makes on disk before the name that they hold', async () => {
    await commit(10);
    const { ino } = await stat(join(folder, 'objects'));
    const parent = synced.findIndex((one) => one.what === 'folder' && one.ino === ino);
    expect(synced[parent]).toMatchObject({ visible: false });
  });
});
