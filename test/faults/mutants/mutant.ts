/**
 * A seeded fault: one small change of the source that a test must notice. The list says what the suites are worth; a
 * fault that they let through is a test that is missing.
 */
export interface Mutant {
  /** Unique, in words joined by dashes. */
  name: string;
  /** What goes wrong with it. */
  fault: string;
  /** The source file, from the repository's root. */
  file: string;
  /** Stands in the file exactly once. */
  find: string;
  /** Stands there instead. It compiles. */
  replace: string;
  /** Suites that notice it, from `test/`, without `.test.ts`. */
  suites: readonly string[];
  /** Only the tests whose names match this, where the whole suites would take long. */
  tests?: string;
}
