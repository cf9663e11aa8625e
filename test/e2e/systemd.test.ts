import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '../helpers/tree-copy.js';

const run = promisify(execFile);
const SCRIPT = join(ROOT, 'deploy/test-services/systemd.sh');

let folder: string;
let unit: string;

beforeAll(async () => {
  await run(SCRIPT, ['install']);
  folder = await mkdtemp(join(tmpdir(), 'wharf-systemd-'));
  unit = join(folder, 'wharf.service');
  const text = await readFile(join(ROOT, 'deploy/systemd/wharf.service'), 'utf8');
  // systemd looks for the command in the usual folders, where a machine without Wharf has none
  await writeFile(unit, text.replace(/^(ExecStart(?:Pre)?=)wharf /gm, '$1/bin/sh '));
}, 300_000);

afterAll(() => rm(folder, { recursive: true }));

describe('the systemd unit', () => {
  it('has nothing that systemd does not know', async () => {
    expect(await run(SCRIPT, ['verify', unit])).toMatchObject({ stderr: '' });
    const misspelt = join(folder, 'misspelt.service');
    await writeFile(misspelt, (await readFile(unit, 'utf8')).replace('TimeoutStopSec', 'TimeoutStop'));
    const said = await run(SCRIPT, ['verify', misspelt]).catch((error: { stderr: string }) => error);
    expect(said.stderr).toContain("Unknown key 'TimeoutStop'");
  });

  it('is reloaded by the signal on which Wharf reads its config again', async () => {
    const [, command = ''] = /^ExecReload=(.*)$/m.exec(await readFile(unit, 'utf8')) ?? [];
    const script =
      'process.once("SIGHUP", () => process.exit(7)); console.log("up"); setInterval(() => undefined, 1000)';
    const main = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      await once(main.stdout, 'data');
      const [[code]] = await Promise.all([
        once(main, 'exit'),
        run('sh', ['-c', command], { env: { ...process.env, MAINPID: String(main.pid) } }),
      ]);
      expect(code).toBe(7);
    } finally {
      main.kill('SIGKILL');
    }
  });

  it('leaves its process little to do harm with', async () => {
    const { stdout } = await run(SCRIPT, ['exposure', unit]);
    expect(stdout).toMatch(/^\d+\n$/);
    expect(Number(stdout)).toBeLessThanOrEqual(20);
  });
});
