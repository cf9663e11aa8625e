import { type ConfigProblem, type Path, problem } from '../problems.js';
import { limitText } from '../schema/limits.js';

/**
 * The problem of a limit that is higher than the more general limit of that name. Both are spelled as in the config.
 * @param of the section of the more general one
 */
export function raisedLimit(
  path: Path,
  value: number,
  { name, most, of }: { name: string; most: number; of: string },
): ConfigProblem {
  const spelled = limitText(name, value);
  const text = `must not be more than ${of}.${name}, which is ${limitText(name, most)}`;
  // a count is a number in the config too
  return problem(path, text, spelled === String(value) ? value : spelled);
}
