import { unwatchFile, watchFile } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { watchForReloads } from '../../../gateway/reload/watch.js';
import { silentLog } from '../../helpers/silent-log.js';
import { until } from '../../helpers/wait.js';

describe('a config file that is watched', () => {
  let folder: string;
  let file: string;
  let stop: () => void;
  let loads: number;
  /** How often the file's watcher has told of a change. */
  let changes: number;
  const count = () => {
    changes += 1;
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wharf-watch-'));
    file = join(folder, 'wharf.yaml');
    await writeFile(file, 'first');
    loads = 0;
    changes = 0;
    stop = watchForReloads({
      file,
      load: async () => {
        loads += 1;
        return { ok: false, problems: [] };
      },
      reload: async () => ({ kind: 'same' }),
      refused: () => {},
      log: silentLog,
    });
    watchFile(file, count);
    // what the watcher compares with is looked up in the background, before these
    for (let look = 0; look < 10; look++) await stat(file);
  });
  afterEach(async () => {
    stop();
    unwatchFile(file, count);
    await rm(folder, { recursive: true });
  });

  it('is read once for a change that a SIGHUP announces', async () => {
    await writeFile(file, 'the second');
    process.emit('SIGHUP');
    await until(() => loads === 1 && changes === 1);
    await writeFile(file, 'and the third');
    await until(() => changes === 2);
    await until(() => loads > 1);
    expect(loads).toBe(2);
  });

  it('is read when it changes without one', async () => {
    await writeFile(file, 'the second');
    await until(() => loads === 1);
  });
});
