import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { create } from '../../../adapters/objects/filesystem.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wharf-claim-'));
});
afterEach(() => rm(folder, { recursive: true }));

const open = (path = folder) => create({ path }, { timeouts: { store: 5000 } });

/** A process that holds the folder until it is killed. */
async function holder() {
  const adapter = new URL('../../../adapters/objects/filesystem.js', import.meta.url).href;
  const script = `const { create } = await import(${JSON.stringify(adapter)});
    await create({ path: process.argv[1] }, { timeouts: { store: 5000 } }).claim();
    console.log('held'); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const kill = async () => {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  };
  return { child, kill };
}

describe('a folder for files that a process has taken', () => {
  it('is told to the next one, with the process, until it is closed', async () => {
    const [first, second, third] = [open(), open(), open()];
    expect(await first.claim?.()).toBeUndefined();
    expect(await second.claim?.()).toEqual({
      holder: expect.stringMatching(new RegExp(`^process ${process.pid} on \\S+$`)),
      place: folder,
    });
    await second.close();
    await first.close();
    expect(await third.claim?.()).toBeUndefined();
    await third.close();
  });

  it('is free again after SIGKILL, whatever has that process id then', async () => {
    const { child, kill } = await holder();
    const store = open();
    expect(await store.claim?.()).toMatchObject({ holder: expect.stringContaining(`process ${child.pid} `) });
    await kill();
    expect(await store.claim?.()).toBeUndefined();
    await store.close();
  });

  it('is told of a process that is stopped, and says nothing', async () => {
    const { child, kill } = await holder();
    child.kill('SIGSTOP');
    const store = open();
    expect(await store.claim?.()).toEqual({ holder: 'another process', place: folder });
    await store.close();
    await kill();
  });

  it('is given back at once, also while one that has asked never hangs up', async () => {
    const store = open();
    await store.claim?.();
    const asking = connect({ path: join(folder, 'in-use.sock'), allowHalfOpen: true });
    await once(asking, 'data');
    await store.close();
    asking.destroy();
    expect(await open().claim?.()).toBeUndefined();
  });

  it('is used without a word where nothing can be known: no socket fits in, or a file has its name', async () => {
    const deep = join(folder, 'x'.repeat(100));
    await mkdir(deep);
    for (const path of [deep, join(folder, 'missing')]) {
      const store = open(path);
      expect(await store.claim?.()).toBeUndefined();
      await store.close();
    }
    await writeFile(join(folder, 'in-use.sock'), 'mine');
    const store = open();
    expect(await store.claim?.()).toBeUndefined();
    await store.close();
    expect(await readFile(join(folder, 'in-use.sock'), 'utf8')).toBe('mine');
  });
});
