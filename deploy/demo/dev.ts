import { type ChildProcess, spawn } from 'node:child_process';
import { watch } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../bundle.js';

/**
 * `npm run dev`: what `npm start` does, compiled and started again after every save, the pages' script included. With
 * arguments it starts what they name: `npm run dev -- --config FILE`.
 */

// Compiled, this file is dist/deploy/demo/dev.js.
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const COMPILER = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
/** Source for Node, and source for browsers: each is compiled with the types of its own world. */
const PROJECTS = ['tsconfig.dev.json', 'gateway/http/browser/tsconfig.json'];
/** Watched here and not by `tsc --watch`, which sees no change on some file systems. */
const SOURCES = ['gateway', 'adapters', 'deploy'];
const SOURCE = /\.tsx?$/;
/** An editor writes one save in several steps, and a checkout changes many files. */
const SETTLE_MS = 50;
/** A gateway told to end lets open exchanges finish. One that is told twice ends at once. */
const SECOND_SIGNAL_MS = 150;

let demo: ChildProcess | undefined;
let isEnding = false;
let settling: NodeJS.Timeout | undefined;
/** Restarts, one after the other: a save during a restart causes one more. */
let restarts = Promise.resolve();

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end);
for (const folder of SOURCES) {
  watch(join(ROOT, folder), { recursive: true }, (_, name) => {
    if (name === null || !SOURCE.test(name)) return;
    clearTimeout(settling);
    settling = setTimeout(schedule, SETTLE_MS);
  });
}
schedule();

function schedule(): void {
  restarts = restarts.then(restart).catch((error: unknown) => {
    process.stderr.write(`Not started again: ${String(error)}\n`);
  });
}

async function restart(): Promise<void> {
  const compiled = await Promise.all(PROJECTS.map(compile));
  if (isEnding) return;
  if (compiled.includes(false)) {
    process.stdout.write('Not started again. The last state that compiled runs on.\n');
    return;
  }
  await Promise.all([bundle(), stop()]);
  if (isEnding) return;
  demo = spawn(process.execPath, [join(ROOT, 'dist/deploy/demo/start.js'), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
}

/** Resolves with false when there are errors, which the compiler has printed. */
function compile(project: string): Promise<boolean> {
  const compiler = spawn(process.execPath, [COMPILER, '-p', join(ROOT, project)], { stdio: 'inherit' });
  return new Promise((resolve, reject) => {
    compiler.once('error', reject);
    compiler.once('exit', (code) => resolve(code === 0));
  });
}

async function stop(): Promise<void> {
  const running = demo;
  if (!running || running.exitCode !== null || running.signalCode !== null) return;
  const gone = new Promise((resolve) => running.once('exit', resolve));
  running.kill('SIGTERM');
  const again = setTimeout(() => running.kill('SIGTERM'), SECOND_SIGNAL_MS);
  await gone;
  clearTimeout(again);
}

function end(): void {
  if (isEnding) return;
  isEnding = true;
  clearTimeout(settling);
  void restarts.then(stop).then(() => process.exit(0));
}
