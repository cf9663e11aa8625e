import { contrast, mostText, shortfall, timeText } from './amounts.js';
import { LIMITS, type LimitRow } from './limits.js';

/** Limits of bytes beside those of the process, by the end of their names: an error names them with their place. */
const OTHER_SIZES =
  /(?:^|\.)(?:bytesPerDay|storedBytes|accepts|maxSize|maxSizeMiB|Upload-Length)(?: of the argument)?$/;

/** The only one that a peer falls short of. */
const LEAST = 'limits.leastRate';

/** A limit as a refusal names it, its value and the actual one: bytes, milliseconds, or how many. */
interface PassedLimit {
  limit?: string | undefined;
  allowed?: number | undefined;
  actual?: number | undefined;
}

/** By how much a limit was passed, in its unit: `2 kB, was 3.1 kB`. '' where that is not known. */
export function passedText({ limit = '', allowed, actual }: PassedLimit): string {
  if (allowed === undefined) return '';
  const kind = kindOf(limit);
  if (actual === undefined) return kind === 'size' ? mostText(allowed) : spelled(kind, allowed);
  const sizes = limit === LEAST ? shortfall : contrast;
  const both =
    kind === 'size' ? sizes(allowed, actual) : { allowed: spelled(kind, allowed), actual: spelled(kind, actual) };
  return `${both.allowed}, was ${both.actual}`;
}

function spelled(kind: 'time' | 'count', value: number): string {
  return kind === 'time' ? timeText(value) : String(value);
}

function kindOf(limit: string): 'size' | 'time' | 'count' {
  if (limit.startsWith('timeouts.')) return 'time';
  const name = limit.replace(/^limits\./, '');
  const row = (Object.hasOwn(LIMITS, name) ? LIMITS[name as keyof typeof LIMITS] : undefined) as LimitRow | undefined;
  return row?.kind === 'size' || OTHER_SIZES.test(limit) ? 'size' : 'count';
}
