/** Moves a file through every cell and prints the tables as Markdown; `--write` puts them into docs/reference/dialects.md. */
import { readFile, writeFile } from 'node:fs/promises';
import { CELLS, type Cell, openLab, run, type Version, versionsOf } from './cells.js';
import { inPage, PAGE, tables } from './table.js';

const failures = new Map<Cell, Version[]>();
const lab = await openLab();
for (const cell of CELLS) {
  for (const version of versionsOf(cell)) {
    await run(cell, version, lab).catch((error: Error) => {
      failures.set(cell, [...(failures.get(cell) ?? []), version]);
      const { client, direction, server } = cell;
      process.stderr.write(`${client.name}, ${direction}, ${server.name}, ${version}: ${error.message}\n`);
    });
  }
}
await lab.stop();
const text = tables((cell) => failures.get(cell) ?? []);
process.stdout.write(`${text}\n`);
if (process.argv.includes('--write')) await writeFile(PAGE, inPage(await readFile(PAGE, 'utf8'), text));
if (failures.size > 0) process.exitCode = 1;
