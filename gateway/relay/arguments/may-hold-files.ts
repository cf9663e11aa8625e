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
