import { spawnSync } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { stdioServer } from '../contract/upstream/subject.js';
import { ROOT } from './cli-process.js';
import { FaceProcess } from './stdio-face-process.js';

let face: FaceProcess;

const start = async (...args: string[]) => {
  face = await FaceProcess.start(...args);
};

afterEach(() => face.clean());

describe('wharf stdio and what it has on the disk', () => {
  it('ends when the client has closed its end of the output', async () => {
    await start('--', ...stdioServer());
    await face.initialize();
    face.child.stdout.destroy();
    face.request(1, 'ping');
    expect(await face.ended).toBe(0);
    expect(await face.leftovers()).toEqual([]);
  });

  it('leaves nothing when it is killed that the next one does not remove', async () => {
    await start('--', ...stdioServer());
    await face.initialize();
    face.child.kill('SIGKILL');
    await face.ended;
    expect(await face.leftovers()).toHaveLength(1);
    face = FaceProcess.startIn(face.folder, '--', ...stdioServer());
    await face.initialize();
    expect(await face.leftovers()).toHaveLength(1);
    face.child.stdin.end();
    expect(await face.ended).toBe(0);
    expect(await face.leftovers()).toEqual([]);
  });

  it('keeps its files in the state folder where there is no temporary one, and leaves nothing there', async () => {
    await start('--', ...stdioServer());
    const args = [`${ROOT}dist/gateway/main.js`, 'stdio', '--', ...stdioServer()];
    const state = join(face.folder, 'state');
    const env = { ...process.env, TMPDIR: join(face.folder, 'none'), XDG_STATE_HOME: state };
    const { status } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
    expect(status).toBe(0);
    expect(await readdir(join(state, 'wharf'))).toEqual([]);
  });
});
