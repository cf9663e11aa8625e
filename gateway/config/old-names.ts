import { type ConfigProblem, problem } from './problems.js';

/** A key of the top level that has another name now. It still works, with a warning. */
interface OldName {
  old: string;
  name: string;
  /** The section as it is written today. */
  today(written: unknown): unknown;
}

const OLD_NAMES: readonly OldName[] = [
  {
    old: 'thumbnails',
    name: 'previews',
    today: (written) => (isSharp(written) ? { ...written, use: 'local' } : written),
  },
];

interface Renamed {
  /** The config with today's names. */
  value: object;
  /** What the operator should know; empty when every name is today's. */
  warnings: ConfigProblem[];
  /** Keys under both names. */
  problems: ConfigProblem[];
  /** Today's name → the name in the file. */
  written: ReadonlyMap<string, string>;
}

/** Reads old names of sections as today's. */
export function withTodaysNames(root: object): Renamed {
  const value: Record<string, unknown> = { ...root };
  const written = new Map<string, string>();
  const renamed: Renamed = { value, warnings: [], problems: [], written };
  for (const { old, name, today } of OLD_NAMES) {
    if (!Object.hasOwn(value, old)) continue;
    if (Object.hasOwn(value, name)) {
      renamed.problems.push(problem([old], `is the old name of "${name}", which is there too: remove "${old}"`));
    } else {
      const section = value[old];
      value[name] = today(section);
      written.set(name, old);
      const now = value[name] === section ? '' : ', with use: local';
      renamed.warnings.push(problem([old], `is the old name of "${name}": write "${name}" instead${now}`));
    }
    delete value[old];
  }
  return renamed;
}

/** The path under the name that the file has. */
export function pathAsWritten(path: string, written: Renamed['written']): string {
  const [first = ''] = path.split(/[.[]/, 1);
  const old = written.get(first);
  return old === undefined ? path : old + path.slice(first.length);
}

function isSharp(section: unknown): section is { use: 'sharp' } {
  return typeof section === 'object' && section !== null && (section as { use?: unknown }).use === 'sharp';
}
