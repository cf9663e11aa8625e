import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * `npm test`: every part runs, also after one has failed, and the last lines say which. Exit code 1 if one failed, so
 * that a change has one verdict and its author the whole list.
 */

/** Compiled, this file is dist/test/run-all.js. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const PARTS: readonly (readonly [name: string, ...npm: string[]])[] = [
  ['suites', 'run', '-s', 'jest', '--', '--testPathIgnorePatterns=e2e/compose'],
  // by itself: it starts containers, which want the machine's ports and memory
  ['composed stack', 'run', '-s', 'test:compose'],
  ['conformance', 'run', '-s', 'conformance'],
];

const lines: string[] = [];
for (const [name, ...npm] of PARTS) {
  const startedAt = performance.now();
  const code = await run(npm);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  lines.push(`${code === 0 ? 'passed' : 'FAILED'}  ${name} (${seconds} s)`);
  if (code !== 0) process.exitCode = 1;
}
process.stdout.write(`\n${lines.join('\n')}\n`);

function run(args: readonly string[]): Promise<number> {
  const child = spawn('npm', args, { cwd: ROOT, stdio: 'inherit' });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
