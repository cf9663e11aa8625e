import { basename, extname } from 'node:path';

/** Digits of a first line's number; a longer one has more. */
const DIGITS = 12;

/**
 * Name of a file that is full: `audit.jsonl` becomes `audit.20261122T225013Z-000000000123.jsonl`, with the time at which
 * it was put aside and the number of its first line.
 */
export function nameAside(path: string, { time, seq }: { time: number; seq: number }): string {
  const { stem, ext } = partsOf(path);
  const at = new Date(time).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  return `${stem}.${at}-${String(seq).padStart(DIGITS, '0')}${ext}`;
}

/**
 * Of the names in a folder, those of files put aside, from the oldest. The number of the first line decides: by its time
 * a file would be the newest for years that was put aside while the machine's clock was ahead.
 */
export function namesAside(path: string, names: readonly string[]): string[] {
  const { stem, ext } = partsOf(path);
  return names
    .filter((name) => name.startsWith(`${stem}.`) && name.endsWith(ext))
    .flatMap((name) => {
      const [, seq] = /^\d{8}T\d{6}Z-(\d{12,})$/.exec(name.slice(stem.length + 1, name.length - ext.length)) ?? [];
      return seq === undefined ? [] : [{ name, seq: Number(seq) }];
    })
    .sort((a, b) => a.seq - b.seq)
    .map(({ name }) => name);
}

function partsOf(path: string): { stem: string; ext: string } {
  const ext = extname(path);
  return { stem: basename(path, ext), ext };
}
