import { join } from 'node:path';
import { CELLS, type Cell, VERSIONS, type Version, versionsOf } from './cells.js';
import { CLIENTS } from './clients.js';
import { GIVING, TAKING } from './servers.js';

/** Where the table is kept, between these two lines. */
export const PAGE = join(import.meta.dirname, '../../../docs/reference/dialects.md');
const BEGIN = '<!-- npm run matrix -- --write -->';
const END = '<!-- end of the matrix -->';

/** @param failed the versions on which a cell failed */
export function tables(failed: (cell: Cell) => readonly Version[]): string {
  const table = (direction: Cell['direction'], head: string, kinds: readonly { name: string }[]) => {
    const row = (client: string) =>
      kinds.map(({ name }) => {
        const cell = CELLS.find((c) => c.client.name === client && c.direction === direction && c.server.name === name);
        if (!cell) return '–';
        const versions = failed(cell);
        if (versions.length > 0) return `not on ${versions.join(', ')}`;
        const [first] = versionsOf(cell);
        return first === VERSIONS[0] ? 'yes' : `from ${first}`;
      });
    return [
      `| ${[head, ...kinds.map(({ name }) => name)].join(' | ')} |`,
      `|${' --- |'.repeat(kinds.length + 1)}`,
      ...CLIENTS.map(({ name }) => `| ${[name, ...row(name)].join(' | ')} |`),
    ].join('\n');
  };
  return [
    `Each cell is one file of 700 kB, moved through a gateway and compared by sha-256, on ${VERSIONS.join(', ')}.`,
    'A server of SEP-1306 asks for its file: clients without files in forms or uploads of their own open the upload page.',
    table('to the server', 'a client that speaks ↓ gives a file to a server that takes →', TAKING),
    table('to the client', 'a client that speaks ↓ gets the file of a server that gives →', GIVING),
  ].join('\n\n');
}

/** The page's text with the tables in their place. */
export function inPage(page: string, text: string): string {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from < 0 || to < from) throw new Error('docs/reference/dialects.md has no place for the matrix');
  return `${page.slice(0, from)}${BEGIN}\n\n${text}\n\n${page.slice(to)}`;
}
