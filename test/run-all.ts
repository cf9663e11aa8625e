import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * `npm test`: every part runs, also after one has failed, and the last lines say which. Exit code 1 if one failed, so
 * that a change has one verdict and its author the whole list.
 */

/** Compiled, this file is dist/test/run-all.js. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

type Part = readonly [name: string, command: string, ...args: string[]];

/** One after the other; those of one list at one time. Everything is built already. */
const PARTS: readonly (readonly Part[])[] = [
  [
    ['suites', 'npm', 'run', '-s', 'jest', '--', '--testPathIgnorePatterns=e2e/compose'],
    // waits for mirrors and registries for a minute and a half, in which the suites can use the processor
    ['images of the composed stack', 'deploy/test-services/compose.sh', 'images'],
  ],
  [
    // not beside the suites: it starts containers, which want the machine's ports and memory
    ['composed stack', 'npm', 'run', '-s', 'jest', '--', 'e2e/compose'],
    ['conformance', process.execPath, 'dist/test/conformance/run.js'],
  ],
];

const lines: string[] = [];
for (const parts of PARTS) {
  const verdicts = parts.map(async ([name, command, ...args], index) => {
    const startedAt = performance.now();
    // the first one is seen while it runs, the others once they have ended
    const { code, output } = await run(command, args, index === 0);
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    return { code, output, line: `${code === 0 ? 'passed' : 'FAILED'}  ${name} (${seconds} s)` };
  });
  for (const verdict of verdicts) {
    const { code, output, line } = await verdict;
    process.stdout.write(output);
    lines.push(line);
    if (code !== 0) process.exitCode = 1;
  }
}
process.stdout.write(`\n${lines.join('\n')}\n`);

function run(command: string, args: readonly string[], isSeen: boolean): Promise<{ code: number; output: Buffer }> {
  const child = spawn(command, args, { cwd: ROOT, stdio: isSeen ? 'inherit' : ['ignore', 'pipe', 'pipe'] });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (bytes: Buffer) => output.push(bytes));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? 1, output: Buffer.concat(output) }));
  });
}
