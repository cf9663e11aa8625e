import { type ConfigProblem, formatPath, type Path, problem } from './problems.js';

export type Environment = Readonly<Record<string, string | undefined>>;

interface Expanded {
  value: unknown;
  /** Paths (as `formatPath` writes them) of the values that contain something from the environment. */
  fromEnvironment: ReadonlySet<string>;
  problems: ConfigProblem[];
  /** Where the values are that lack a variable. */
  lacking: readonly Path[];
}

/** Names that VS Code and Cursor replace in their own files. */
const OF_EDITORS = ['workspaceFolder', 'workspaceFolderBasename', 'userHome', 'pathSeparator', 'file'];

/** Deeper than any config; keeps this walk and every later one from overflowing the stack. */
const MAX_DEPTH = 32;

/**
 * Replaces `${NAME}` and `${NAME:-default}` in every string value. `$${` means a literal `${`. A variable that is unset
 * or empty and has no default is a problem: an empty secret is never intended.
 */
export function expand(root: unknown, environment: Environment): Expanded {
  const problems: ConfigProblem[] = [];
  const lacking: Path[] = [];
  const fromEnvironment = new Set<string>();

  function expandText(text: string, path: Path): string {
    return text.replace(/\$\$\{|\$\{([^}]*)(\})?/g, (whole, inner: string | undefined, closed: string | undefined) => {
      if (whole === '$${') return '${';
      const [, name, fallback] = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s.exec(inner ?? '') ?? [];
      // a variable within a default would end at the first "}", and the rest would stay as it is
      if (closed === undefined || name === undefined || fallback?.includes('${')) {
        lacking.push(path);
        problems.push(problem(path, notVariable(closed === undefined ? '' : (inner ?? ''))));
        return '';
      }
      fromEnvironment.add(formatPath(path));
      const found = environment[name];
      if (found !== undefined && found !== '') return found;
      if (fallback !== undefined) return fallback;
      const state = found === undefined ? 'is not set' : 'is empty';
      const otherwise = OF_EDITORS.includes(name)
        ? 'only editors know it, so write the path'
        : `\${${name}:-default} gives a default`;
      lacking.push(path);
      problems.push(problem(path, `needs the environment variable ${name}, which ${state}; ${otherwise}`));
      return '';
    });
  }

  function walk(value: unknown, path: Path): unknown {
    if (typeof value === 'string') return expandText(value, path);
    if (typeof value !== 'object' || value === null) return value;
    if (path.length >= MAX_DEPTH) {
      problems.push(problem(path.slice(0, 4), `is nested deeper than ${MAX_DEPTH} levels`));
      return null;
    }
    if (Array.isArray(value)) return value.map((item, index) => walk(item, [...path, index]));
    const result: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(value)) {
      // A plain assignment would set the prototype instead of a key, and the schema could not refuse it.
      if (key === '__proto__') problems.push(problem([...path, key], 'is not a known key'));
      else result[key] = walk(item, [...path, key]);
    }
    return result;
  }

  return { value: walk(root, []), fromEnvironment, problems, lacking };
}

/** @param inner what the braces hold; shown only in a spelling of hosts, since other text may be a secret */
function notVariable(inner: string): string {
  const [whole, kind, name] = /^(env|input):([A-Za-z_][A-Za-z0-9_-]{0,63})$/.exec(inner) ?? [];
  if (kind === 'env') return `has \${${whole}}, which is not a variable here; write \${${name}}`;
  if (kind === 'input') {
    return `has \${${whole}}, for which hosts ask the user and which is not a variable here; write \${NAME} for one of the environment`;
  }
  return `has a "\${" that is not a variable; write \${NAME}, \${NAME:-default} (without another variable), or $\${ for "\${"`;
}
