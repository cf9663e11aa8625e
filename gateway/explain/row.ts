import type { ErrorFacts } from '../errors.js';

/** What a person needs to know about an error beyond its text. */
export interface Advice {
  /** When it occurs. */
  why: string;
  /** The next step, with the config key where there is one. */
  todo: string;
  /** Facts of an example, besides those that every example has. */
  facts?: ErrorFacts;
}
