import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { adapters } from '../../../adapters/index.js';
import { Closers } from '../../../gateway/parts/closers.js';
import { openProcess } from '../../../gateway/parts/process.js';
import { freshName, redisUrl } from '../../helpers/services.js';
import { silentLog } from '../../helpers/silent-log.js';
import { configOf } from '../config/load-text.js';

const MEMORY = { use: 'memory' };

let folder: string;
let closers: Closers[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-alone-'));
  closers = [];
});
afterEach(async () => {
  for (const each of closers) await each.close();
  await rm(folder, { recursive: true, force: true });
});

async function isAlone(more: Record<string, unknown>): Promise<boolean> {
  const config = { servers: { a: { url: 'http://127.0.0.1:1/mcp' } }, secret: 's'.repeat(32), ...more };
  const own = new Closers(silentLog);
  closers.push(own);
  return (await openProcess(await configOf(JSON.stringify(config)), adapters, silentLog, own)).isAlone;
}

describe('the files of a gateway', () => {
  it('are its alone in a folder that no other process has, with state in memory', async () => {
    const objects = { use: 'filesystem', path: join(folder, 'data') };
    expect(await isAlone({ objects, state: MEMORY })).toBe(true);
    expect(await isAlone({ objects, state: MEMORY })).toBe(false);
  });

  it('may be known to others where the state outlives it, or the store does not keep processes apart', async () => {
    const objects = { use: 'filesystem', path: join(folder, 'data') };
    const state = { use: 'redis', url: redisUrl(), keyPrefix: `${freshName('alone')}:` };
    expect(await isAlone({ objects, state })).toBe(false);
    expect(await isAlone({ objects: MEMORY, state: MEMORY })).toBe(false);
  });
});
