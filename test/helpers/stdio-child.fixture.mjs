// A stdio server that misbehaves in one way: node stdio-child.fixture.mjs MODE
import { spawn } from 'node:child_process';
import { closeSync, readFileSync, writeSync } from 'node:fs';

const forever = () => setInterval(() => {}, 1000);
const line = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const atFirstMessage = (act) => process.stdin.once('data', act);

const MODES = {
  // tells its environment and its process group
  env() {
    const [, , pgrp] = readFileSync('/proc/self/stat', 'latin1').split(') ')[1].split(' ');
    atFirstMessage(() => line({ env: process.env, cwd: process.cwd(), pid: process.pid, group: Number(pgrp) }));
  },
  // dies in the middle of a line, after a last word on stderr
  'half-line'() {
    atFirstMessage(() => {
      writeSync(2, 'out of paper\n');
      writeSync(1, '{"whole":true}\n{"half":');
      process.kill(process.pid, 'SIGKILL');
    });
  },
  // has a child that heeds neither the end of stdin nor SIGTERM
  family() {
    const script = "process.on('SIGTERM', () => {}); process.stdout.write('up'); setInterval(() => {}, 1000)";
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] });
    child.stdout.once('data', () => line({ pid: process.pid, child: child.pid }));
    process.stdin.resume();
  },
  // dies and leaves a child behind that holds its stdout open
  orphan() {
    const child = spawn(process.execPath, ['-e', "process.stdout.write('{}\\n'); setInterval(() => {}, 1000)"], {
      stdio: ['ignore', 'inherit', 'ignore'],
    });
    atFirstMessage(() => process.exit(child.pid ? 7 : 8));
  },
  // never reads its stdin
  deaf() {
    line({ pid: process.pid });
    forever();
  },
  stubborn() {
    process.on('SIGTERM', () => {});
    line({ pid: process.pid });
    forever();
  },
  // fills stderr: a long line, then many short ones, then answers
  shout() {
    atFirstMessage(() => {
      process.stderr.write(`${'x'.repeat(1_000_000)}\n`);
      for (let i = 0; i < 10_000; i++) process.stderr.write(`line ${i}\n`);
      process.stderr.write('', () => line({ done: true }));
    });
  },
  'close-stdout'() {
    atFirstMessage(() => closeSync(1));
    forever();
  },
  'close-stdin'() {
    closeSync(0);
    line({ pid: process.pid });
    forever();
  },
  // gives every line back
  echo() {
    process.stdin.pipe(process.stdout);
  },
};

MODES[process.argv[2]]();
