import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { processes } from '../../../adapters/upstream/stdio/processes.js';
import type { Processes } from '../../../adapters/upstream/stdio/system.js';
import { windowsProcesses } from '../../../adapters/upstream/stdio/windows.js';

const UNIX = '#!/bin/sh\n';

const all = mkdtempSync(join(tmpdir(), 'wharf-processes-'));
const temporaryFolder = () => mkdtempSync(join(all, 'one-'));

afterAll(() => rmSync(all, { recursive: true, force: true }));

/** On this system those of Windows find `tool.cmd` and start it as it is; what they end is the program alone. */
describe.each<[string, Processes, string]>([
  ['of this system', processes, 'tool'],
  ['of Windows', windowsProcesses, 'tool.cmd'],
])('the processes %s', (_system, tried, file) => {
  const running = new Set<number>();

  afterEach(() => {
    for (const id of running) tried.signal(id, 'SIGKILL');
    running.clear();
  });

  function folderWith(name: string, script: string): string {
    const folder = temporaryFolder();
    writeFileSync(join(folder, name), UNIX + script, { mode: 0o700 });
    return folder;
  }

  const withPath = (path: string) => ({ PATH: `${path}:/usr/bin:/bin`, PATHEXT: '.EXE;.CMD' });

  async function started(script: string, ...args: string[]) {
    const env = withPath(folderWith(file, script));
    const child = await tried.start(['tool', ...args], { env, cwd: undefined });
    const { pid = 0 } = child;
    running.add(pid);
    return { child, pid };
  }

  it('start a program that PATH has, with its arguments as they are', async () => {
    const { child } = await started('printf "%s|" "$@"', 'a b', '"c"', '%PATH%', '$HOME', '^&');
    expect(await text(child.stdout)).toBe('a b|"c"|%PATH%|$HOME|^&|');
  });

  it('give a program the whole environment that they are given, and nothing else', async () => {
    const env = { ...withPath(folderWith(file, '/usr/bin/env')), ONE: '1' };
    const child = await tried.start(['tool'], { env, cwd: undefined });
    const names = (await text(child.stdout)).split('\n').map((line) => line.split('=')[0]);
    expect(names).toContain('ONE');
    expect(names).not.toContain('HOME');
  });

  it('see the end of a program whose input has ended', async () => {
    const { child, pid } = await started('read line');
    expect(await tried.gone(pid, 0)).toBe(false);
    child.stdin.end();
    expect(await tried.gone(pid, 60_000)).toBe(true);
  });

  it('end a program that goes on', async () => {
    const { child, pid } = await started('echo begun; exec sleep 600');
    await once(child.stdout, 'data');
    tried.signal(pid, 'SIGTERM');
    expect(await tried.gone(pid, 60_000)).toBe(true);
  });

  it('start the program of the first folder that has one', async () => {
    const [first, second] = ['echo first', 'echo second'].map((script) => folderWith(file, script));
    const child = await tried.start(['tool'], { env: withPath(`${first}:${second}`), cwd: undefined });
    expect(await text(child.stdout)).toBe('first\n');
  });

  it('look for no name in the working directory, where a server may write', async () => {
    const cwd = folderWith(file, 'echo planted');
    const env = withPath(temporaryFolder());
    expect(await tried.lackOf('tool', env, cwd)).toBe('ENOENT');
    const start = async () => {
      const child = await tried.start(['tool'], { env, cwd });
      await once(child, 'spawn');
    };
    await expect(start()).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('take a path by the working directory', async () => {
    const cwd = temporaryFolder();
    mkdirSync(join(cwd, 'bin'));
    writeFileSync(join(cwd, 'bin', file), `${UNIX}echo here`, { mode: 0o700 });
    expect(tried.isPath('bin/tool')).toBe(true);
    expect(tried.isPath('tool')).toBe(false);
    expect(await tried.lackOf('bin/tool', withPath(''), cwd)).toBeUndefined();
    const child = await tried.start(['bin/tool'], { env: withPath(''), cwd });
    expect(await text(child.stdout)).toBe('here\n');
  });

  it('say that there is no program where there is a folder', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, file));
    expect(await tried.lackOf('tool', { ...withPath(folder), PATH: folder }, folder)).toBeDefined();
  });
});

describe('the processes of Windows', () => {
  it('prefer the ending that PATHEXT has first, and take a name that has one as it is', async () => {
    const folder = temporaryFolder();
    for (const ending of ['cmd', 'exe'])
      writeFileSync(join(folder, `tool.${ending}`), `${UNIX}echo ${ending}`, { mode: 0o700 });
    const env = { PATH: folder, PATHEXT: '.EXE;.CMD' };
    const said = async (program: string) =>
      text((await windowsProcesses.start([program], { env, cwd: folder })).stdout);
    expect(await said('tool')).toBe('exe\n');
    expect(await said('tool.cmd')).toBe('cmd\n');
  });

  it.each(['C:\\tools\\npx.cmd', 'c:npx', '.\\npx', 'bin/npx'])('know %s for a path', (program) => {
    expect(windowsProcesses.isPath(program)).toBe(true);
  });
});
