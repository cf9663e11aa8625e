import { isDeepStrictEqual } from 'node:util';

/** Whether two parts of configs say the same. Versions of Node differ in whether they look into URLs; JSON does. */
export function same(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(one, other) && JSON.stringify(one) === JSON.stringify(other);
}
