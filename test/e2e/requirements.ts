import { BASE, VERSIONS } from './requirements/base.js';
import { BINARY } from './requirements/binary.js';
import { CELLS, FALLBACK, TOOLS } from './requirements/bridging.js';
import { HANDOFF } from './requirements/handoff.js';
import { IDENTITY } from './requirements/identity.js';
import { OPENAI } from './requirements/openai.js';
import { PROMISES } from './requirements/promises.js';
import { type Rows, together } from './requirements/row.js';
import { SEP_1306 } from './requirements/sep-1306.js';
import { SEP_2356 } from './requirements/sep-2356.js';
import { SEP_2356_OLDER } from './requirements/sep-2356-older.js';
import { SEP_2532 } from './requirements/sep-2532.js';
import { SEP_2631 } from './requirements/sep-2631.js';
import { SEP_2631_OLDER } from './requirements/sep-2631-older.js';
import { SIDES } from './requirements/sides.js';

/** What Wharf is held to, row by row. The name of a test ends with the rows it proves: `it('… (BIN-22)')`. */
export const ROWS: Rows = together(
  BASE,
  VERSIONS,
  BINARY,
  OPENAI,
  HANDOFF,
  SEP_1306,
  SEP_2532,
  SEP_2356,
  SEP_2356_OLDER,
  SEP_2631,
  SEP_2631_OLDER,
  FALLBACK,
  TOOLS,
  CELLS,
  SIDES,
  PROMISES,
  IDENTITY,
);
