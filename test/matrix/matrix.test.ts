import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CELLS, type Lab, openLab, run, VERSIONS, versionsOf } from './cells.js';
import { inPage, PAGE, tables } from './table.js';

let lab: Lab;

beforeAll(async () => {
  lab = await openLab();
});

afterAll(() => lab?.stop());

/** Every client class in front of every kind of server, both ways: the far end has the bytes that were handed over. */
describe.each(VERSIONS)('on %s', (version) => {
  const cells = CELLS.filter((cell) => versionsOf(cell).includes(version));
  it.each(cells.map((cell) => [cell.client.name, cell.direction, cell.server.name, cell] as const))(
    'a client that speaks %s, %s: %s',
    async (_client, _direction, _server, cell) => {
      await run(cell, version, lab);
    },
  );
});

it('docs/reference/dialects.md shows the matrix as it is', async () => {
  const page = await readFile(PAGE, 'utf8');
  expect(
    inPage(
      page,
      tables(() => []),
    ),
  ).toBe(page);
});
