/** The config's spelling of sizes and times: `32KiB`, `100MB`, `1.5GiB`, plain bytes; `500ms`, `15m`, `24h`. */

const SIZE_UNITS = { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 } as const;
const TIME_UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Units are case-sensitive: `mb` could mean megabit or MB, and `KB` 1000 or 1024. */
export const SIZE_PATTERN = /^(\d{1,16}(?:\.\d{1,6})?) ?(B|kB|MB|GB|KiB|MiB|GiB)?$/;
export const TIME_PATTERN = /^(\d{1,16}(?:\.\d{1,6})?) ?(ms|s|m|h|d)$/;

/** Bytes; undefined for an invalid size or a fraction of a byte. */
export function parseSize(text: string): number | undefined {
  return parse(text, SIZE_PATTERN, SIZE_UNITS, 'B');
}

/** Milliseconds; undefined for an invalid time or a fraction of a millisecond. */
export function parseTime(text: string): number | undefined {
  return parse(text, TIME_PATTERN, TIME_UNITS, 'ms');
}

/** The shortest exact spelling: 4194304 is `4MiB`, 500000 is `500kB`, 1234 is `1234B`. */
export function formatSize(bytes: number): string {
  return format(bytes, SIZE_UNITS, 'B');
}

/** The shortest exact spelling: 900000 is `15m`. */
export function formatTime(ms: number): string {
  return format(ms, TIME_UNITS, 'ms');
}

function parse(text: string, pattern: RegExp, units: Record<string, number>, base: string): number | undefined {
  const [, digits, unit] = pattern.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const [whole = '', fraction = ''] = digits.split('.');
  // in whole numbers: 16.1 * 1000 is 16100.000000000002
  const scale = 10n ** BigInt(fraction.length);
  const scaled = BigInt(whole + fraction) * BigInt(units[unit ?? base] ?? 1);
  const value = Number(scaled / scale);
  return scaled % scale === 0n && Number.isSafeInteger(value) ? value : undefined;
}

function format(value: number, units: Record<string, number>, base: string): string {
  let best = `${value}${base}`;
  if (value === 0) return best;
  for (const [unit, factor] of Object.entries(units)) {
    const spelled = `${value / factor}${unit}`;
    if (value % factor === 0 && spelled.length < best.length) best = spelled;
  }
  return best;
}
