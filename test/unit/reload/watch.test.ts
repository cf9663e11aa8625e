import { type Stats, unwatchFile, watchFile } from 'node:fs';
import { mkdtemp, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Config } from '../../../gateway/config/config.js';
import type { Reload } from '../../../gateway/reload/present-config.js';
import { lookAt, watchForReloads } from '../../../gateway/reload/watch.js';
import { silentLog } from '../../helpers/silent-log.js';
import { until } from '../../helpers/wait.js';

describe('a config file that is watched', () => {
  let folder: string;
  let file: string;
  let stop: () => void;
  let loads: number;
  /** How often the file's watcher has told of a change. */
  let changes: number;
  let refusals: string[];
  /** What each load says of the file. */
  let isServed: boolean;
  /** What becomes of a config that was read. */
  let reloaded: Reload;
  const count = () => {
    changes += 1;
  };

  /** In one step: a watcher may see a file between its emptying and its new bytes, and counts two changes. */
  const write = async (text: string) => {
    await writeFile(`${file}.new`, text);
    await rename(`${file}.new`, file);
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wharf-watch-'));
    file = join(folder, 'wharf.yaml');
    await writeFile(file, 'first');
    loads = 0;
    changes = 0;
    refusals = [];
    isServed = false;
    reloaded = { kind: 'same' };
    await watch();
    watchFile(file, count);
    // what the watcher compares with is looked up in the background, before these
    for (let look = 0; look < 10; look++) await stat(file);
  });

  const watch = async (served?: boolean, seen?: Stats) => {
    stop = watchForReloads({
      file,
      seen: seen ?? (await lookAt(file)),
      isServed: served,
      load: async () => {
        loads += 1;
        return { ok: true, config: {} as Config, isServed };
      },
      reload: async () => reloaded,
      refused: (why) => refusals.push(why),
      log: silentLog,
    });
  };

  afterEach(async () => {
    stop();
    unwatchFile(file, count);
    await rm(folder, { recursive: true });
  });

  it('is read once for a change that a SIGHUP announces', async () => {
    await write('the second');
    process.emit('SIGHUP');
    await until(() => loads === 1 && changes === 1);
    await write('and the third');
    await until(() => changes === 2);
    await until(() => loads > 1);
    expect(loads).toBe(2);
  });

  it('is read when it changes without one', async () => {
    await write('the second');
    await until(() => loads === 1);
  });

  it('is read when it has changed since it was read, before it was watched', async () => {
    stop();
    const seen = await lookAt(file);
    await write('the second');
    await watch(false, seen);
    await until(() => loads === 1);
  });

  it('is not read by itself while a server may change it, and is on SIGHUP', async () => {
    stop();
    await watch(true);
    await write('of a server');
    await until(() => refusals.length === 1);
    expect(refusals).toEqual(['a server may change the file']);
    expect(loads).toBe(0);
    process.emit('SIGHUP');
    await until(() => loads === 1);
    await write('of the operator');
    await until(() => loads === 2);
    isServed = true;
    process.emit('SIGHUP');
    await until(() => loads === 3);
    await write('of a server again');
    await until(() => refusals.length === 2);
    expect(loads).toBe(3);
  });

  it('is not read by itself once a config is in force by whose servers it may be changed', async () => {
    isServed = true;
    reloaded = { kind: 'done', keys: [], changed: ['files'], loginsOver: [] };
    process.emit('SIGHUP');
    await until(() => loads === 1);
    await write('of a server');
    await until(() => refusals.length === 1 || loads > 1);
    expect([loads, refusals]).toEqual([1, ['a server may change the file']]);
  });

  it('is not read by itself after a config that was not put in force, where a server may change the one that is', async () => {
    stop();
    await watch(true);
    reloaded = { kind: 'restart', keys: ['listen'] };
    process.emit('SIGHUP');
    await until(() => refusals.length === 1);
    await write('of a server');
    await until(() => refusals.length === 2 || loads > 1);
    expect([loads, refusals[1]]).toEqual([1, 'a server may change the file']);
  });

  it('is read when another file of its size and its time takes its place', async () => {
    const { atime, mtime } = await stat(file);
    await writeFile(`${file}.new`, 'other');
    await utimes(`${file}.new`, atime, mtime);
    stop();
    await utimes(file, atime, mtime);
    await watch();
    await rename(`${file}.new`, file);
    await until(() => loads === 1);
  });

  it('is read by itself as before after a config that was not put in force', async () => {
    isServed = true;
    reloaded = { kind: 'restart', keys: ['listen'] };
    process.emit('SIGHUP');
    await until(() => loads === 1);
    await write('of the operator');
    await until(() => loads === 2 || refusals.length > 1);
    expect(loads).toBe(2);
  });
});
