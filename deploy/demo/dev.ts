import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { bundle } from '../bundle.js';

/**
 * `npm run dev`: what `npm start` does, compiled and started again after every save, the pages' script included. With
 * arguments it starts what they name: `npm run dev -- --config FILE`.
 */

// Compiled, this file is dist/deploy/demo/dev.js.
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const COMPILER = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
/** What the compiler says when it has written everything. */
const COMPILED = /Found (\d+) errors?\. Watching/;
const STARTED = /Starting (compilation in watch mode|incremental compilation)/;
/** A gateway told to end lets open exchanges finish. One that is told twice ends at once. */
const SECOND_SIGNAL_MS = 150;

/** Source for Node, and source for browsers: each is compiled with the types of its own world. */
const PROJECTS = ['tsconfig.dev.json', 'gateway/http/browser/tsconfig.json'];

interface Compiler {
  process: ChildProcess;
  /** Errors after the last save; undefined while it compiles for the first time. */
  errors?: number;
}

let demo: ChildProcess | undefined;
let isEnding = false;
/** A compiler has written a file since the last restart. */
let hasWritten = false;
/** Restarts, one after the other: a save during a restart causes one more. */
let restarts = Promise.resolve();

const compilers = PROJECTS.map(watch);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => end(0));

function watch(project: string): Compiler {
  const options = ['--watch', '--preserveWatchOutput', '--listEmittedFiles'];
  const child = spawn(process.execPath, [COMPILER, '-p', join(ROOT, project), ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // a group of its own: `tsc` is a script that starts the compiler, and both have to end
    detached: true,
  });
  const compiler: Compiler = { process: child };
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith('TSFILE: ')) {
      hasWritten = true;
      return;
    }
    const errors = COMPILED.exec(line)?.[1];
    // what went well shows by the start
    if (errors === undefined ? line.trim() !== '' && !STARTED.test(line) : errors !== '0')
      process.stdout.write(`${line}\n`);
    if (errors !== undefined) {
      compiler.errors = Number(errors);
      compiled();
    }
  });
  child.on('exit', (code) => end(code ?? 1));
  return compiler;
}

/** Starts the demo again when all has been compiled, and something was written: the demo's own photo is a change too. */
function compiled(): void {
  if (compilers.some(({ errors }) => errors === undefined)) return;
  const errors = compilers.reduce((sum, compiler) => sum + (compiler.errors ?? 0), 0);
  if (errors > 0)
    process.stdout.write(`Not started again: ${errors} of them above. The last state that compiled runs on.\n`);
  else if (hasWritten || !demo) restarts = restarts.then(restart);
  if (errors === 0) hasWritten = false;
}

async function restart(): Promise<void> {
  await Promise.all([bundle(), stop()]);
  if (isEnding) return;
  demo = spawn(process.execPath, [join(ROOT, 'dist/deploy/demo/start.js'), ...process.argv.slice(2)], {
    stdio: 'inherit',
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

function end(code: number): void {
  if (isEnding) return;
  isEnding = true;
  process.exitCode = code;
  for (const { process: compiler } of compilers)
    if (compiler.pid !== undefined && compiler.exitCode === null) process.kill(-compiler.pid);
  void restarts.then(stop);
}
