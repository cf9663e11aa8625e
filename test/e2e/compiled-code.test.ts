import { chmod, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { start } from './cli-process.js';

let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'wharf-home-'));
});

afterEach(() => rm(home, { recursive: true, force: true }));

/** Runs a gateway until it is up, or a command to its end. @returns names in `home` afterwards */
async function left(args: string[], env: NodeJS.ProcessEnv = {}): Promise<string[]> {
  const running = start(args, { cwd: home, env: { HOME: home, XDG_CACHE_HOME: '', XDG_STATE_HOME: '', ...env } });
  if (args.includes('--upstream')) {
    await running.printed(/http:\/\/\S+\/mcp\n/);
    running.child.kill('SIGTERM');
  }
  expect(await running.ended).toMatchObject({ code: 0 });
  return (await readdir(home, { recursive: true })).filter((name) => /wharf\/v\d/.test(name));
}

const GATEWAY = ['--upstream', 'http://127.0.0.1:9/mcp', '--listen', '127.0.0.1:0'];

describe('compiled code', () => {
  it('is kept in the user’s cache folder, which others cannot write', async () => {
    expect((await left(GATEWAY)).length).toBeGreaterThan(10);
    expect((await stat(join(home, '.cache/wharf'))).mode & 0o777).toBe(0o700);
  });

  it('is used by the next start, which works', async () => {
    const first = await left(GATEWAY);
    expect(await left(GATEWAY)).toEqual(first);
  });

  it('goes to XDG_CACHE_HOME where that is set', async () => {
    const [first = ''] = await left(GATEWAY, { XDG_CACHE_HOME: join(home, 'caches') });
    expect(first).toMatch(/^caches\/wharf\/v/);
  });

  it.each([
    ['the version', ['--version']],
    ['help', ['--help']],
    ['an explanation', ['explain', 'file_too_large']],
  ])('is not kept by a command that prints %s', async (_what, args) => {
    expect(await left(args)).toEqual([]);
  });

  it('is not kept where Node is told not to', async () => {
    expect(await left(GATEWAY, { NODE_DISABLE_COMPILE_CACHE: '1' })).toEqual([]);
    expect(await readdir(home)).not.toContain('.cache');
  });

  it('is neither read nor kept in a folder that others can write', async () => {
    await mkdir(join(home, '.cache/wharf'), { recursive: true });
    await chmod(join(home, '.cache/wharf'), 0o777);
    expect(await left(GATEWAY)).toEqual([]);
  });

  it('is neither read nor kept below a folder that others can write', async () => {
    await mkdir(join(home, '.cache'));
    await chmod(join(home, '.cache'), 0o777);
    expect(await left(GATEWAY)).toEqual([]);
  });

  it('is not missed where its folder cannot be made', async () => {
    expect(await left(GATEWAY, { XDG_CACHE_HOME: '/proc/nowhere' })).toEqual([]);
  });
});
