import type { Stats } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Config } from '../../../gateway/config/config.js';
import { lookAt, watchForReloads } from '../../../gateway/reload/watch.js';
import { silentLog } from '../../helpers/silent-log.js';
import { until } from '../../helpers/wait.js';

describe('a config file that is watched', () => {
  let folder: string;
  let file: string;
  let stop: () => void;
  let loads: number;
  let refusals: string[];
  /** What each load says of the file. */
  let isServed: boolean;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wharf-watch-'));
    file = join(folder, 'wharf.yaml');
    await writeFile(file, 'first');
    loads = 0;
    refusals = [];
    isServed = false;
    jest.useFakeTimers({
      doNotFake: ['setTimeout', 'setImmediate', 'nextTick', 'queueMicrotask', 'performance', 'Date'],
    });
    await watch();
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
      reload: async () => ({ kind: 'same' }),
      refused: (why) => refusals.push(why),
      log: silentLog,
    });
  };

  /** Lets it look at the file once. */
  const look = async () => {
    jest.advanceTimersByTime(2000);
    // its own look is older than these
    for (let own = 0; own < 20; own++) await stat(file).catch(() => undefined);
  };

  afterEach(async () => {
    stop();
    jest.useRealTimers();
    await rm(folder, { recursive: true });
  });

  it('is read once for a change that a SIGHUP announces', async () => {
    await writeFile(file, 'the second');
    process.emit('SIGHUP');
    await until(() => loads === 1);
    await look();
    await look();
    expect(loads).toBe(1);
    await writeFile(file, 'and the third');
    await look();
    await look();
    expect(loads).toBe(2);
  });

  it('is read when it changes without one', async () => {
    await writeFile(file, 'the second');
    await look();
    expect(loads).toBe(1);
  });

  it('is read when it has changed since it was read, before it was watched', async () => {
    stop();
    const seen = await lookAt(file);
    await writeFile(file, 'the second');
    await watch(false, seen);
    await look();
    expect(loads).toBe(1);
  });

  it('is read once when it is gone, and again when it is back', async () => {
    await rm(file);
    await look();
    await look();
    expect(loads).toBe(1);
    await writeFile(file, 'first');
    await look();
    expect(loads).toBe(2);
  });

  it('is not read by itself while a server may change it, and is on SIGHUP', async () => {
    stop();
    await watch(true);
    await writeFile(file, 'of a server');
    await look();
    await look();
    expect(refusals).toEqual(['a server may change the file']);
    expect(loads).toBe(0);
    process.emit('SIGHUP');
    await until(() => loads === 1);
    await writeFile(file, 'of the operator');
    await look();
    expect(loads).toBe(2);
    isServed = true;
    process.emit('SIGHUP');
    await until(() => loads === 3);
    await writeFile(file, 'of a server again');
    await look();
    expect(refusals).toHaveLength(2);
    expect(loads).toBe(3);
  });
});
