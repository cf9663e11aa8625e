/** Shows each result to the model of each host and prints the table; `--write` puts it into docs/hosts.md. */
import { readFile, writeFile } from 'node:fs/promises';
import { cells } from './cells.js';
import { inPage, PAGE, table } from './table.js';

const text = table(await cells(async () => {}));
process.stdout.write(`${text}\n`);
if (process.argv.includes('--write')) await writeFile(PAGE, inPage(await readFile(PAGE, 'utf8'), text));
