import { jsonIn } from '../../json/text.js';
import { isObject } from '../../json/value.js';
import type { Dialect } from '../../ports/dialect.js';
import type { JsonValue } from '../../ports/json.js';
import { SENTINEL } from './missing-files.js';

/** Most values that are checked. */
const MAX_LOOK = 10_000;

/**
 * A cheap test: when nothing in a call looks like a file in any dialect, the server need not be asked for its tools.
 */
export function mayHoldFiles(args: JsonValue, dialects: readonly Dialect[]): boolean {
  let looks = 0;
  const look = (value: JsonValue): boolean => {
    looks += 1;
    if (looks > MAX_LOOK || value === SENTINEL) return true;
    if (dialects.some((dialect) => dialect.mayHoldFile?.(value))) return true;
    if (Array.isArray(value)) return value.some(look);
    return isObject(value) && Object.values(value).some(look);
  };
  return look(args);
}

/** How a string begins that may be a file of 48 bytes or more: as base64, or as a `data:` URI. */
const FILE_LIKE = /^(?:\s*data:|[\w+/\s=-]{64})/i;

/** How a text begins that may be JSON. */
const JSON_LIKE = /^\s*[[{"]/;

/** JSON in JSON, as far as it is read. */
const MOST_NESTED = 4;

/**
 * Whether a server that is generous with forms could read a file out of a value that is not where its tool says that files
 * are: from a string in a list or an object, or from JSON that is written as a text, as many clients write it.
 */
export function mayHideFiles(value: JsonValue): boolean {
  let looks = 0;
  const look = (one: JsonValue, depth: number): boolean => {
    looks += 1;
    if (looks > MAX_LOOK || depth > MOST_NESTED) return true;
    if (typeof one === 'string') {
      if (FILE_LIKE.test(one)) return true;
      const inner = JSON_LIKE.test(one) ? jsonIn(one) : undefined;
      return inner !== undefined && look(inner, depth + 1);
    }
    if (Array.isArray(one)) return one.some((item) => look(item, depth));
    return isObject(one) && Object.values(one).some((item) => look(item, depth));
  };
  return look(value, 0);
}
