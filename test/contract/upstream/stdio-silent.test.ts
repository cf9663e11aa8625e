import { expect, it } from '@jest/globals';
import { startChild } from '../../../adapters/upstream/stdio/child.js';
import { until } from '../../helpers/wait.js';
import { recordingLog } from './subject.js';

const SILENT = /^The server has written nothing since it started.* only HOME, LANG, PATH, TMPDIR and USER/;

async function start(script: string, silentMs: number) {
  const log = recordingLog();
  log.child = () => log;
  const options = {
    name: 's',
    command: [process.execPath, '-e', script],
    env: {},
    withheld: new Set<string>(),
    cwd: undefined,
    takeMs: 1000,
  };
  const child = await startChild({ ...options, silentMs, log }, () => undefined);
  const told = () => log.lines.filter(({ text }) => SILENT.test(text));
  return { child, told };
}

it('says once that a server has written nothing since it started, and what it may lack', async () => {
  const { child, told } = await start('setInterval(() => undefined, 1000)', 20);
  await until(() => told().length > 0);
  await child.close();
  expect(told()).toHaveLength(1);
});

it('says nothing of a server that has written, or has ended', async () => {
  const talking = await start('console.log("{}"); setInterval(() => undefined, 1000)', 1500);
  talking.child.body.resume();
  const ended = await start('', 1500);
  ended.child.body.on('error', () => undefined).resume();
  const silent = await start('setInterval(() => undefined, 1000)', 2000);
  await until(() => silent.told().length > 0);
  expect([talking.told(), ended.told()]).toEqual([[], []]);
  await Promise.all([talking, ended, silent].map(({ child }) => child.close()));
});
