import { type Program, programOf } from './pattern-program.js';
import { matches } from './pattern-run.js';
import { treeOf } from './pattern-tree.js';
import type { Truth } from './truth.js';

/** Longer patterns are not read. */
const MAX_PATTERN = 1000;

/** Steps of a run in whose time one character of a pattern is read. */
const STEPS_TO_READ = 20;

/**
 * The patterns of one schema, for one call or one result. Their server chose them, so they are not run by the engine, for
 * which some texts take longer than the age of the universe, and some patterns minutes to compile: here each character of
 * a text takes a step or less for each character of the pattern, and each step is paid for.
 */
export class Patterns {
  readonly #known = new Map<string, Program | undefined>();
  readonly #look: (steps: number) => boolean;

  /** @param look called with the number of steps; returns false once they are too many */
  constructor(look: (steps: number) => boolean) {
    this.#look = look;
  }

  /** True when a text contains a match of the pattern; undefined when that is not known. */
  has(pattern: string, text: string): Truth {
    if (!this.#known.has(pattern)) this.#known.set(pattern, this.#read(pattern));
    const program = this.#known.get(pattern);
    return program && matches(program, text, this.#look);
  }

  #read(pattern: string): Program | undefined {
    if (pattern.length > MAX_PATTERN || !this.#look(pattern.length * STEPS_TO_READ)) return undefined;
    try {
      return programOf(treeOf(pattern), this.#look);
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }
}
