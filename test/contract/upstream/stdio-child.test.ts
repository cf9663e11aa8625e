import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { Child, startChild } from '../../../adapters/upstream/stdio/child.js';
import { StderrRoom } from '../../../adapters/upstream/stdio/stderr-log.js';
import { isRunning } from '../../helpers/is-running.js';
import { until } from '../../helpers/wait.js';
import { recordingLog } from './subject.js';

const SILENT = /^The server has written nothing since it started.* only HOME, LANG, PATH, TMPDIR and USER/;

function optionsFor(script: string) {
  const log = recordingLog();
  log.child = () => log;
  return {
    name: 's',
    command: [process.execPath, '-e', script],
    env: {},
    withheld: new Set<string>(),
    cwd: undefined,
    takeMs: 1000,
    stderr: new StderrRoom(),
    log,
  };
}

async function start(script: string, silentMs: number) {
  const { log, ...options } = optionsFor(script);
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

it('counts a process as gone only when it is known how it ended, however much later that is told', async () => {
  const ended = spawn(process.execPath, ['-e', 'process.exit(4)'], { detached: true });
  const emit = ended.emit.bind(ended) as (name: string, ...values: unknown[]) => boolean;
  ended.emit = (name: string, ...values: unknown[]) => {
    if (name !== 'exit') return emit(name, ...values);
    setTimeout(() => emit(name, ...values), 200);
    return true;
  };
  let goneWith: string | undefined;
  const child: Child = new Child(ended, Number(ended.pid), optionsFor(''), () => {
    goneWith = child.silentEnd ?? 'nothing known';
  });
  child.body.on('error', () => undefined).resume();
  await until(() => goneWith !== undefined);
  expect(goneWith).toBe('exit code 4');
});

it('leaves no pipe open to a process that has left the group of an ended server', async () => {
  const open = () => readdirSync('/proc/self/fd').length;
  const before = open();
  // it has the server's stderr, and a session of its own
  const script =
    "require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], " +
    "{ detached: true, stdio: ['ignore', 'ignore', 'inherit'] }).once('spawn', function () { console.log(this.pid); })";
  const { child } = await start(`${script}; process.stdin.resume()`, 60_000);
  const pid = Number(await new Promise((resolve) => child.body.once('data', (line) => resolve(String(line)))));
  try {
    await child.close();
    await until(() => open() <= before);
    expect(isRunning(pid)).toBe(true);
  } finally {
    process.kill(pid, 'SIGKILL');
  }
});
