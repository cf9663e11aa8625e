import { BASE, BINARY, HANDOFF, OPENAI } from './requirements/base.js';
import { CELLS, FALLBACK, SIDES } from './requirements/bridging.js';
import type { Rows } from './requirements/row.js';
import { SEP_1306, VERSIONS } from './requirements/sep-1306.js';
import { SEP_2356 } from './requirements/sep-2356.js';
import { SEP_2532 } from './requirements/sep-2532.js';
import { SEP_2631 } from './requirements/sep-2631.js';

/** What Wharf is held to, row by row. The name of a test ends with the rows it proves: `it('… (BIN-22)')`. */
export const ROWS: Rows = {
  ...BASE,
  ...BINARY,
  ...OPENAI,
  ...HANDOFF,
  ...SEP_1306,
  ...VERSIONS,
  ...SEP_2532,
  ...SEP_2356,
  ...SEP_2631,
  ...FALLBACK,
  ...CELLS,
  ...SIDES,
};
