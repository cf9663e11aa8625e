import { z } from 'zod';
import type { CallerLimit, CallerLimits } from '../../policy/allowance.js';
import { callerMembers } from './access.js';
import { count, size } from './fields.js';
import { MOST_FILE } from './limits.js';

const MOST_COUNT = 1_000_000_000;
const PIB = 1024 ** 5;

const counted = () => count({ min: 1, max: MOST_COUNT });
const sized = () => size({ min: 1, max: PIB });

/** Limits of one caller that have no default. */
const ROWS: Readonly<Record<Exclude<CallerLimit, 'file'>, readonly [field: () => z.ZodType, text: string]>> = {
  exchanges: [counted, 'Requests that one caller has under way at one time, streams included, on each replica.'],
  requestsPerMinute: [
    counted,
    'Requests of one caller within a minute, over all replicas. Each request then asks the state store.',
  ],
  uploads: [counted, 'Uploads by links that one caller has under way at one time, on each replica.'],
  filesPerDay: [counted, 'Files that are stored for one caller within 24 hours, over all replicas.'],
  bytesPerDay: [sized, 'Bytes of the files that are stored for one caller within 24 hours, over all replicas.'],
  storedBytes: [
    sized,
    'Bytes of all files that are kept for one caller, over all replicas. A file counts until `retention` has passed since its last use, and up to a twenty-fourth of that longer.',
  ],
};

/** The members of `limits:` that are about one caller. */
export function limitsOfEachCaller() {
  const entries = Object.entries(ROWS).map(([name, [field, text]]) => [
    name,
    field().optional().describe(`${text} Default: not limited.`),
  ]);
  return Object.fromEntries(entries) as Record<string, z.ZodType>;
}

/** Limits of some callers, or of the ceiling. */
export function callerLimitsSchema() {
  const entries = Object.entries(ROWS).map(([name, [field, text]]) => [name, field().optional().describe(text)]);
  const file = size({ min: 1, max: MOST_FILE })
    .optional()
    .describe('Size of a single file of the caller, whichever way it comes. It can only be lower than `limits.file`.');
  // only what is given: an absent member says nothing
  return z.strictObject({ file, ...Object.fromEntries(entries) }).transform(given);
}

function given(limits: object): Partial<CallerLimits> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}

/** `callers` */
export function callersSchema() {
  const entry = z
    .strictObject({ ...callerMembers(), limits: callerLimitsSchema().describe('What these callers may use.') })
    .transform(({ limits, ...match }) => ({ match, limits }));
  return z.array(entry).max(1000);
}
