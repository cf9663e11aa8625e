import type { Lab } from '../lib/lab.js';
import type { Section } from '../lib/report.js';

/** One benchmark: the goals it answers and the way to run it. */
export interface Case {
  /** Goals by their number; `--only` picks by them. */
  ids: readonly string[];
  run(lab: Lab): Promise<Section>;
}
