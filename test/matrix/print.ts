/**
 * Prints the bridging matrix as Markdown; `--write` puts it into README.md between its markers, `--check` fails when it
 * is not what stands there.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CELLS, type Cell, openLab, run, VERSIONS } from './cells.js';
import { CLIENTS } from './clients.js';
import { GIVING, TAKING } from './servers.js';

const README = join(import.meta.dirname, '../../../README.md');
const BEGIN = '<!-- matrix: npm run matrix -- --write -->';
const END = '<!-- /matrix -->';

const outcomes = new Map<Cell, string[]>();
const lab = await openLab();
for (const cell of CELLS) {
  const failed: string[] = [];
  for (const version of VERSIONS) {
    await run(cell, version, lab).catch((error: Error) => {
      failed.push(version);
      process.stderr.write(
        `${cell.client.name}, ${cell.direction}, ${cell.server.name}, ${version}: ${error.message}\n`,
      );
    });
  }
  outcomes.set(cell, failed);
}
await lab.stop();

function tableOf(direction: Cell['direction'], head: string, kinds: readonly { name: string }[]): string {
  const row = (client: string) =>
    kinds.map(({ name }) => {
      const cell = CELLS.find((c) => c.client.name === client && c.direction === direction && c.server.name === name);
      const failed = (cell && outcomes.get(cell)) ?? [];
      return failed.length === 0 ? 'yes' : `not on ${failed.join(', ')}`;
    });
  const lines = CLIENTS.map(({ name }) => `| ${[name, ...row(name)].join(' | ')} |`);
  return [
    `| ${[head, ...kinds.map(({ name }) => name)].join(' | ')} |`,
    `|${' --- |'.repeat(kinds.length + 1)}`,
    ...lines,
  ].join('\n');
}

const text = [
  `Each cell is one file, moved and compared by sha-256 on ${VERSIONS.join(', ')}.`,
  tableOf('to the server', 'client ↓ gives a file to a server that takes →', TAKING),
  tableOf('to the client', 'client ↓ gets the file of a server that gives →', GIVING),
].join('\n\n');
process.stdout.write(`${text}\n`);

const readme = await readFile(README, 'utf8');
const from = readme.indexOf(BEGIN) + BEGIN.length;
const written = `${readme.slice(0, from)}\n\n${text}\n\n${readme.slice(readme.indexOf(END))}`;
if (process.argv.includes('--write')) await writeFile(README, written);
else if (process.argv.includes('--check') && written !== readme) {
  process.stderr.write('README.md shows another matrix: npm run matrix -- --write\n');
  process.exitCode = 1;
}
if ([...outcomes.values()].some((failed) => failed.length > 0)) process.exitCode = 1;
