/**
 * Sizes and times as people and models read them. Every text of Wharf's that is not about the config spells them here:
 * decimal units, which are what browsers, file managers and most models mean by MB.
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

/** The most that is taken. Never rounded up: a file of the size that is told here fits. */
export function mostText(bytes: number): string {
  return spelled(bytes, Math.floor);
}

/** A bound and what passes it, in numbers that differ: in bytes where the units would spell both alike. */
export function contrast(allowed: number, actual: number): { allowed: string; actual: string } {
  const short = { allowed: mostText(allowed), actual: sizeText(actual) };
  return short.allowed === short.actual ? { allowed: plain(allowed), actual: plain(actual) } : short;
}

/** `500 ms`, `30 s`, `1.5 min`, `24 h`. */
export function timeText(ms: number): string {
  const [unit, factor] = TIME_UNITS.find(([, least]) => ms >= least) ?? ['ms', 1];
  return `${Math.round((ms / factor) * 10) / 10} ${unit}`;
}

function spelled(bytes: number, round: (value: number) => number): string {
  const [unit, factor] = SIZE_UNITS.find(([, least]) => bytes >= least) ?? [undefined, 1];
  if (unit === undefined) return plain(bytes);
  return `${round((bytes / factor) * 10) / 10} ${unit}`;
}

function plain(bytes: number): string {
  return bytes === 1 ? '1 byte' : `${bytes} bytes`;
}
