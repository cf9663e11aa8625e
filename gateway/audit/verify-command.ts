import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { countText } from '../policy/amounts.js';
import { namesAside } from './file-names.js';
import { type KnownPoint, type Verdict, verifyFiles } from './verify.js';

/** What `wharf audit verify` prints, and whether it found faults. */
export async function verifyCommand(
  files: readonly string[],
  points: readonly KnownPoint[],
): Promise<{ text: string; isWhole: boolean }> {
  const verdict = await verifyFiles(files, points);
  return { text: verdictText(verdict), isWhole: verdict.faults.length === 0 };
}

/** The file of a config, and those that were put aside. */
export async function filesOf(path: string): Promise<string[]> {
  const folder = dirname(path);
  return [...namesAside(path, await readdir(folder)).map((name) => join(folder, name)), path];
}

function verdictText({ chains, faults, moreFaults }: Verdict): string {
  const found = chains.map(({ chain, lines, first, last }) =>
    [
      `chain ${chain}: ${countText(lines, 'line')}, ${first.seq} to ${last.seq}, ${first.time} to ${last.time}`,
      `  the last one is ${last.seq}:${last.hash}`,
      ...(first.seq > 1
        ? [first.seq === 2 ? '  line 1 is in an older file' : `  lines 1 to ${first.seq - 1} are in older files`]
        : []),
    ].join('\n'),
  );
  const end =
    faults.length === 0
      ? 'ok: no line between these was changed, moved or taken out'
      : [...faults, ...(moreFaults > 0 ? [`and ${moreFaults} more.`] : [])].join('\n');
  return `${[...(found.length > 0 ? found : ['There are no lines.']), end].join('\n')}\n`;
}
