import { z } from 'zod';
import { LIMITS, type LimitName, type LimitRow, rowsOf, TIMEOUTS } from '../../policy/limits.js';
import { MESSAGE_LIMITS, type MessageLimit, type TypeLimit } from '../../policy/message-limits.js';
import { formatSize, formatTime } from '../../policy/units.js';
import { count, mediaTypes, ratio, size, time } from './fields.js';

const LIMIT_ROWS: readonly (readonly [LimitName, LimitRow])[] = rowsOf<LimitName, LimitRow>(LIMITS);

/** Names of the limits that a single server cannot have. */
export const PROCESS_WIDE: ReadonlySet<string> = new Set(
  LIMIT_ROWS.flatMap(([name, row]) => (row.processWide ? [name] : [])),
);

/** `limits:` with every default. */
export function limitsSchema() {
  const entries = LIMIT_ROWS.map(([name, row]): [string, z.ZodType] => [name, withDefault(row)]);
  return z.strictObject(Object.fromEntries(entries));
}

/** `servers.X.limits:`: without defaults, and without the limits of the whole process. */
export function serverLimitsSchema() {
  const entries = LIMIT_ROWS.filter(([, row]) => row.processWide === undefined).map(([name, row]) => [
    name,
    field(row).optional().describe(row.text),
  ]);
  return z.strictObject({ ...Object.fromEntries(entries), ...acceptFields() });
}

/**
 * Limits of each message, for callers, hosts or tools that have their own.
 * @param most what they cannot be higher than; default: the limit of that name in `limits`
 */
export function messageLimitFields(
  names: readonly MessageLimit[] = MESSAGE_LIMITS,
  most?: string,
): Record<string, z.ZodType> {
  return Object.fromEntries(
    names.map((name) => {
      const row = LIMITS[name];
      const text = `${row.text} It can only be lower than ${most ?? `\`limits.${name}\``}.`;
      return [name, field(row).optional().describe(text)];
    }),
  );
}

/** `accept` and `acceptResults`, beside limits. */
export function acceptFields(): Record<TypeLimit, z.ZodType> {
  const given = mediaTypes()
    .optional()
    .describe(
      'Media types of files that servers may be given: `application/pdf`, `image/*`. Every place that names some must ' +
        'accept the file. Default: every type.',
    );
  const returned = mediaTypes()
    .optional()
    .describe(
      'Media types of files that servers may return. Of another file the client gets a text that says so, in its ' +
        'place; the rest of the result is passed on. The type is the declared one, unless the bytes contradict it. ' +
        'Every place that names some must accept the file. Default: every type.',
    );
  return { accept: given, acceptResults: returned };
}

/** `timeouts:` with every default. */
export function timeoutsSchema() {
  const entries = rowsOf(TIMEOUTS).map(([name, row]) => [
    name,
    time(row).prefault(formatTime(row.default)).describe(row.text),
  ]);
  return z.strictObject(Object.fromEntries(entries));
}

/** A limit in the config's spelling: `100MB`, `32`, `0.25`. */
export function limitText(name: string, value: number): string {
  return isSizeLimit(name) ? formatSize(value) : String(value);
}

/** Whether a limit of this name is in bytes. */
export function isSizeLimit(name: string): boolean {
  return Object.hasOwn(LIMITS, name) ? LIMITS[name as LimitName].kind === 'size' : /bytes/i.test(name);
}

function field(row: LimitRow) {
  if (row.kind === 'ratio') return ratio();
  return row.kind === 'size' ? size(row) : count(row);
}

// A prefault has the file's spelling, so that the reference shows `4MiB`, not 4194304.
function withDefault(row: LimitRow) {
  if (row.kind === 'ratio') return ratio().default(row.default).describe(row.text);
  const schema = row.kind === 'size' ? size(row).prefault(formatSize(row.default)) : count(row).default(row.default);
  return schema.describe(row.text);
}
