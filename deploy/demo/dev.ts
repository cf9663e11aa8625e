import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { bundle } from '../bundle.js';

/**
 * `npm run dev`: what `npm start` does, compiled and started again after every save. With arguments it starts what they
 * name: `npm run dev -- --config FILE`.
 */

// Compiled, this file is dist/deploy/demo/dev.js.
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const COMPILER = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
/** What the compiler says when it has written everything. */
const COMPILED = /Found (\d+) errors?\. Watching/;
/** A gateway told to end lets open exchanges finish. One that is told twice ends at once. */
const SECOND_SIGNAL_MS = 150;

let demo: ChildProcess | undefined;
let isEnding = false;
/** The compiler has written a file since the last restart. */
let hasWritten = false;
/** Restarts, one after the other: a save during a restart causes one more. */
let restarts = Promise.resolve();

const compiler = spawn(
  process.execPath,
  [COMPILER, '-p', join(ROOT, 'tsconfig.dev.json'), '--watch', '--preserveWatchOutput', '--listEmittedFiles'],
  // a group of its own: `tsc` is a script that starts the compiler, and both have to end
  { stdio: ['ignore', 'pipe', 'inherit'], detached: true },
);
createInterface({ input: compiler.stdout }).on('line', (line) => {
  if (line.startsWith('TSFILE: ')) {
    hasWritten = true;
    return;
  }
  if (line.trim() !== '') process.stdout.write(`${line}\n`);
  const errors = COMPILED.exec(line)?.[1];
  if (errors === undefined) return;
  // it also looks again when the demo writes its photo, and then nothing has changed
  if (errors === '0' && (hasWritten || !demo)) restarts = restarts.then(restart);
  hasWritten = false;
  if (errors !== '0')
    process.stdout.write(`Not started again: ${errors} of them above. The last state that compiled runs on.\n`);
});
compiler.on('exit', (code) => end(code ?? 1));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => end(0));

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
  if (compiler.pid !== undefined && compiler.exitCode === null) process.kill(-compiler.pid);
  void restarts.then(stop);
}
