import { type ConfigProblem, type Path, problem } from '../problems.js';

/** A row of a table: what is wrong, where, and what to say of it. */
export interface Rule<About> {
  /** True where it is broken. */
  when(about: About): boolean;
  /** Below what the rule is about. */
  path: Path | ((about: About) => Path);
  /** What is wrong and what to do instead, phrased to follow the path. */
  message: string | ((about: About) => string);
  /** The value to show beside the message. */
  value?(about: About): unknown;
}

/** True for a setting that the config does not have. One with a wrong value has not been parsed, and lacks its key here. */
export function isAbsent<Name extends string>(parsed: { readonly [name in Name]?: unknown }, name: Name): boolean {
  return name in parsed && parsed[name] === undefined;
}

/** What the broken rules of a table say, in its order. @param path of what they are about */
export function brokenRules<About>(rules: readonly Rule<About>[], about: About, path: Path): ConfigProblem[] {
  return rules
    .filter((rule) => rule.when(about))
    .map(({ path: below, message, value }) =>
      problem(
        [...path, ...(typeof below === 'function' ? below(about) : below)],
        typeof message === 'function' ? message(about) : message,
        value?.(about),
      ),
    );
}
