import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { inTime } from '../../../adapters/objects/filesystem/in-time.js';
import { create, settings } from '../../../adapters/objects/filesystem.js';
import { create as createMemory, settings as memorySettings } from '../../../adapters/objects/memory.js';
import type { ObjectStore, ObjectWriter } from '../../../gateway/ports/object-store.js';

const STORE_MS = 300;
const NEVER = new AbortController().signal;
const TIMED_OUT = { code: 'store_timeout', facts: { limit: 'timeouts.store', allowed: STORE_MS } };

describe('a disk that hangs', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wharf-hangs-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it('is told in time, though the system call goes on', async () => {
    const store = create(settings.parse({ path: folder }), { timeouts: { store: STORE_MS } });
    await store.prepare();
    await mkdir(join(folder, 'objects/f'));
    // a pipe without a writer cannot be opened
    const pipe = join(folder, 'objects/f/one');
    execFileSync('mkfifo', [pipe]);
    await expect(store.get('f/one', { signal: NEVER })).rejects.toMatchObject(TIMED_OUT);
    const writing = await open(pipe, 'w');
    await writing.close();
  });

  it.each(['write', 'writeLast', 'commit', 'abort'] as const)(
    'while a file is stored is told in time: %s',
    async (step) => {
      const memory = createMemory(memorySettings.parse({}), { clock: { now: () => Date.now() } });
      const hanging: ObjectStore = {
        ...memory,
        create: async (key, signal): Promise<ObjectWriter> => ({
          ...(await memory.create(key, signal)),
          [step]: () => new Promise<never>(() => {}),
        }),
      };
      const writer = await inTime(hanging, STORE_MS).create('f/one', NEVER);
      const done = writer[step](Buffer.from('x'));
      await expect(done).rejects.toMatchObject(TIMED_OUT);
    },
  );

  it('and makes a file too late leaves none', async () => {
    const memory = createMemory(memorySettings.parse({}), { clock: { now: () => Date.now() } });
    let goOn: () => void = () => {};
    const slow: ObjectStore = {
      ...memory,
      create: (key, signal) =>
        new Promise((resolve) => {
          goOn = () => resolve(memory.create(key, signal));
        }),
    };
    await expect(inTime(slow, STORE_MS).create('f/one', NEVER)).rejects.toMatchObject(TIMED_OUT);
    goOn();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await memory.removeUnfinished(Number.POSITIVE_INFINITY)).toBe(0);
  });
});
