import { type ConfigProblem, problem, valueAt } from '../problems.js';

/** A name as a shell writes it, alone or as the last word: `Bearer $TOKEN`. A "$" elsewhere may be a part of a password. */
const SHELL = /(?:^|\s)\$[A-Z_][A-Z0-9_]*$/;

const PLACES = ['headers', 'env'] as const;

/** Values of servers that are sent as they are, and that a shell would have expanded. @param written the file's own values */
export function shellVariables(written: object, serverNames: readonly string[]): ConfigProblem[] {
  return serverNames.flatMap((name) =>
    PLACES.flatMap((place) => {
      const path = ['servers', name, place];
      return Object.entries(valueAt(written, path) ?? {}).flatMap(([key, value]) =>
        typeof value === 'string' && SHELL.test(value) ? [problem([...path, key], AS_IT_IS)] : [],
      );
    }),
  );
}

const AS_IT_IS = `ends with a "$" and a name, which is sent as it is: a variable has braces, \${NAME}`;
