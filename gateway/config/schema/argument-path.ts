import { z } from 'zod';

const NAME = String.raw`[^.\[\]]+(?:\[\])*`;

/** `a.b[].c`. A first `$` would be JSONPath, in which `[]` means something else. */
const PATH = new RegExp(String.raw`^(?!\$(?:[.\[]|$))${NAME}(?:\.${NAME})*$`);
const COMPANION = new RegExp(`^${NAME}$`);

const LONGEST_PATH = 200;

/** Where a value stands in the arguments of a tool, or in structuredContent. */
export function argumentPath() {
  return z
    .string()
    .regex(PATH, {
      error: 'must be a path such as image, doc.data or pages[].data: names joined by dots, and [] for every item',
      abort: true,
    })
    .max(LONGEST_PATH, { error: `is too long; the most is ${LONGEST_PATH}` })
    .refine(isHarmless, { error: HARMFUL });
}

/** The name of a sibling; `[]` where the path that it belongs to ends with it. */
export function companionName() {
  return z
    .string()
    .regex(COMPANION, { error: 'must be the name of an argument beside the file, without dots', abort: true })
    .max(LONGEST_PATH, { error: `is too long; the most is ${LONGEST_PATH}` })
    .refine(isHarmless, { error: HARMFUL });
}

/** `pages[].data` is `['pages', '[]', 'data']`; undefined for what is no path. */
export function splitPath(path: string): string[] | undefined {
  return PATH.test(path) ? path.replaceAll('[]', '.[]').split('.') : undefined;
}

/** What `splitPath` has split, in one text again. */
export function joinPath(segments: readonly string[]): string {
  return segments.join('.').replaceAll('.[]', '[]');
}

const HARMFUL = 'must not hold control characters, nor the name __proto__';

// Who sets `__proto__` on a plain object gets a prototype in its place.
function isHarmless(path: string): boolean {
  return !/\p{Cc}/u.test(path) && !path.split(/[.[\]]+/).includes('__proto__');
}
