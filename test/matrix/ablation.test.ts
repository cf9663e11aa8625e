import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { adapters } from '../../adapters/index.js';
import { cellsWith, type Lab, openLab, run } from './cells.js';

/** The last one is plain MCP, which every client speaks. */
const REMOVABLE = adapters.dialects.slice(0, -1).map(({ name }) => name);

/** A dialect is a folder and a line: without it everything else goes on as before. */
describe.each(REMOVABLE)('without %s', (without) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await openLab(without);
  });
  afterAll(() => lab?.stop());

  const cells = cellsWith(adapters.dialects.filter(({ name }) => name !== without));
  it.each(cells.map((cell) => [cell.client.name, cell.direction, cell.server.name, cell] as const))(
    'a client that speaks %s, %s: %s',
    async (_client, _direction, _server, cell) => {
      await run(cell, '2025-11-25', lab);
    },
  );
});
