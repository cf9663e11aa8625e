import { z } from 'zod';
import type { CallerLimit, CallerSettings, OWN_AMOUNTS } from '../../policy/allowance.js';
import type { MessageLimit } from '../../policy/message-limits.js';
import { callerMembers } from './access.js';
import { count, size } from './fields.js';
import { acceptFields, messageLimitFields } from './limits.js';

const MOST_COUNT = 1_000_000_000;
const PIB = 1024 ** 5;

const counted = () => count({ min: 1, max: MOST_COUNT });
const sized = () => size({ min: 1, max: PIB });

type Rows<Name extends CallerLimit> = Readonly<Record<Name, readonly [field: () => z.ZodType, text: string]>>;

/** Limits of one caller that have no default. */
const ROWS: Rows<(typeof OWN_AMOUNTS)[number]> = {
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

/** Those whose names mean something else in `limits`: there they are about the whole process, or a server. */
const ELSEWHERE: Rows<Exclude<CallerLimit, (typeof OWN_AMOUNTS)[number] | MessageLimit>> = {
  sessions: [
    counted,
    'Sessions that one caller has at one time, on each replica. A new one ends the one that it has not used for longest.',
  ],
  processes: [
    counted,
    'Processes of stdio servers that run for one caller at one time, over all servers, on each replica. A new one ends one of an idle session of that server, if there is one.',
  ],
};

/** The members of `limits:` that are about one caller. */
export function limitsOfEachCaller() {
  const entries = Object.entries(ROWS).map(([name, [field, text]]) => [
    name,
    field().optional().describe(`${text} Default: not limited.`),
  ]);
  return { ...Object.fromEntries(entries), ...acceptFields() } as Record<string, z.ZodType>;
}

/** Limits of some callers, or of the ceiling. */
export function callerLimitsSchema() {
  const rows = Object.entries({ ...ROWS, ...ELSEWHERE });
  const entries = rows.map(([name, [field, text]]) => [name, field().optional().describe(text)]);
  // only what is given: an absent member says nothing
  return z
    .strictObject({ ...Object.fromEntries(entries), ...messageLimitFields(), ...acceptFields() })
    .transform(given);
}

function given(limits: object): CallerSettings {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}

/** `callers` */
export function callersSchema() {
  const entry = z
    .strictObject({ ...callerMembers(), limits: callerLimitsSchema().describe('What these callers may use.') })
    .transform(({ limits, ...match }) => ({ match, limits }));
  return z.array(entry).max(1000);
}
