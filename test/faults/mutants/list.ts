import { LOOP } from './loop.js';
import type { Mutant } from './mutant.js';
import { STORES } from './stores.js';
import { UPLOADS } from './uploads.js';

/** Every seeded fault, by kind. */
export const MUTANTS: Readonly<Record<string, readonly Mutant[]>> = {
  loop: LOOP,
  stores: STORES,
  uploads: UPLOADS,
};
