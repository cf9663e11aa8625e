/**
 * Spells sizes and times for people and models. Every text of Wharf that is not about the config uses these: decimal
 * units, which browsers, file managers and most models mean by MB.
 */

const SIZE_UNITS = [
  ['GB', 1e9],
  ['MB', 1e6],
  ['kB', 1e3],
] as const;

const TIME_UNITS = [
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** `3.4 MB`, `512 bytes`: at most one decimal, rounded to the nearest. */
export function sizeText(bytes: number): string {
  return spelled(bytes, Math.round);
}

/** Spells an upper limit. Never rounds up, so a file of the size shown fits. */
export function mostText(bytes: number): string {
  return spelled(bytes, Math.floor);
}

/** Spells a limit and the amount that passes it so that they differ: in bytes when the units would spell both alike. */
export function contrast(allowed: number, actual: number): { allowed: string; actual: string } {
  const short = { allowed: mostText(allowed), actual: sizeText(actual) };
  return short.allowed === short.actual ? { allowed: plain(allowed), actual: plain(actual) } : short;
}

/** Spells the least that is allowed and a smaller amount so that they differ. */
export function shortfall(allowed: number, actual: number): { allowed: string; actual: string } {
  const short = { allowed: sizeText(allowed), actual: mostText(actual) };
  return short.allowed === short.actual ? { allowed: plain(allowed), actual: plain(actual) } : short;
}

/** `2 files`, `2 to 5 files`, `at most 5 files`. */
export function filesText(least: number, most: number): string {
  if (least >= most) return most === 1 ? '1 file' : `${most} files`;
  const bound = least > 1 ? `${least} to ${most}` : `at most ${most}`;
  return `${bound} files`;
}

/** `1 key`, `2 keys`. @param many of words whose plural has no `s` alone, such as `processes`, and of several words */
export function countText(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** `500 ms`, `30 s`, `1.5 min`, `24 h`. */
export function timeText(ms: number): string {
  const [unit, factor] = TIME_UNITS.find(([, least]) => ms >= least) ?? ['ms', 1];
  return `${Math.round((ms / factor) * 10) / 10} ${unit}`;
}

function spelled(bytes: number, round: (value: number) => number): string {
  // numbers of that size are not exact, and nothing has so many bytes
  if (bytes > Number.MAX_SAFE_INTEGER) return 'more than 9 PB';
  const [unit, factor] = SIZE_UNITS.find(([, least]) => bytes >= least) ?? [undefined, 1];
  if (unit === undefined) return plain(bytes);
  return `${round((bytes / factor) * 10) / 10} ${unit}`;
}

function plain(bytes: number): string {
  return bytes === 1 ? '1 byte' : `${bytes} bytes`;
}
