import { z } from 'zod';
import { COMPANION, PATH, segmentsOf } from '../../schema/argument-path.js';

const LONGEST_PATH = 200;

/** Path of a value in the arguments of a tool, or in structuredContent. */
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

/** The name of a sibling; with `[]` if the path that it belongs to ends with `[]`. */
export function companionName() {
  return z
    .string()
    .regex(COMPANION, { error: 'must be the name of an argument beside the file, without dots', abort: true })
    .max(LONGEST_PATH, { error: `is too long; the most is ${LONGEST_PATH}` })
    .refine(isHarmless, { error: HARMFUL });
}

/** Splits `pages[].data` into `['pages', '[]', 'data']`; undefined for an invalid path. */
export function splitPath(path: string): string[] | undefined {
  return PATH.test(path) ? segmentsOf(path) : undefined;
}

const HARMFUL = 'must not hold control characters, nor the name __proto__';

// Setting `__proto__` on a plain object changes its prototype.
function isHarmless(path: string): boolean {
  return !/\p{Cc}/u.test(path) && !path.split(/[.[\]]+/).includes('__proto__');
}
