import { formatSize } from '../../policy/units.js';
import { type ConfigProblem, type Path, problem } from '../problems.js';
import { isSizeLimit } from '../schema/limits.js';

/** Places whose members are limits; a tool, a server or a header may have any name. */
const MAPS_OF_LIMITS: ReadonlySet<string | number> = new Set(['limits', 'ceiling']);

/** Bytes from which a number without a unit is meant as one: files and messages of less are hardly worth a limit. */
const CLEAR_BYTES = 1024;

/**
 * Sizes written as a short number without a unit, which are bytes: `file: 100` lets no file in.
 * @param written the file's values before variables are put in
 */
export function bareSizes(written: unknown): ConfigProblem[] {
  const found: ConfigProblem[] = [];
  const look = (value: unknown, path: Path): void => {
    if (typeof value === 'number') {
      if (isSize(path) && value > 0 && value < CLEAR_BYTES) found.push(problem(path, textFor(value)));
    } else if (typeof value === 'object' && value !== null) {
      const isList = Array.isArray(value);
      for (const [key, member] of Object.entries(value)) look(member, [...path, isList ? Number(key) : key]);
    }
  };
  look(written, []);
  return found;
}

function isSize(path: Path): boolean {
  const name = path.at(-1);
  if (name === 'maxSize') return true;
  return MAPS_OF_LIMITS.has(path.at(-2) ?? '') && typeof name === 'string' && isSizeLimit(name);
}

function textFor(bytes: number): string {
  return `is ${formatSize(bytes)}: a number without a unit is bytes. Write ${bytes}MB or ${bytes}kB for more, or ${bytes}B if that is meant`;
}
