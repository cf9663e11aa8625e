import { stat } from 'node:fs/promises';
import { z } from 'zod';
import { Journal } from '../../gateway/audit/journal.js';
import type { AdapterDeps, PreflightFault } from '../../gateway/config/adapter-list.js';
import { count, madePath, size, time } from '../../gateway/config/schema/fields.js';
import type { Audit } from '../../gateway/ports/audit.js';
import { journalSettings } from './common/settings.js';
import { ChainFile } from './file-chain.js';

/** Follows the setting's name. */
const IS_FOLDER = 'is a folder; name a file in it, such as audit.jsonl';

const DAY = 24 * 60 * 60 * 1000;
const MIB = 1024 * 1024;

/** A file of this process alone: each replica has its own, on a disk that outlives it. */
export const settings = z
  .strictObject({
    path: madePath().describe(
      'The file, created if missing (mode 0600) in a folder created if missing (mode 0700). Relative to the working ' +
        'directory. One process writes to it, and nothing else may: it is rotated by Wharf alone, and not in a folder that a ' +
        'stdio server is given.',
    ),
    maxSize: size({ min: 64 * 1024, max: 1024 * 1024 * MIB })
      .prefault('100MiB')
      .describe('The file is put aside under a name with the time once it is this large.'),
    maxAge: time({ min: 60_000, max: 365 * DAY })
      .prefault('24h')
      .describe('The file is put aside by the first entry after this time.'),
    keep: count({ min: 1, max: 10_000 })
      .default(90)
      .describe('Files put aside that are kept. Older ones are removed; copy them elsewhere before.'),
    sync: z
      .enum(['always', 'second'])
      .default('second')
      .describe(
        'When lines are forced to the disk (fdatasync). `always`: before what they record happens. `second`: at most ' +
          'a second later, so that a power failure may lose the last second; the end of the process alone loses nothing.',
      ),
    ...journalSettings,
  })
  .meta({ examples: [{ path: '/var/lib/wharf/audit/audit.jsonl' }] });

/** What cannot work on this machine. Without it, writing fails once the gateway starts. */
export async function preflight({ path }: z.output<typeof settings>): Promise<PreflightFault[]> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() ? [{ path: ['path'], message: IS_FOLDER, value: path }] : [];
}

export async function create(
  { path, maxSize, maxAge, keep, sync, ...journal }: z.output<typeof settings>,
  { sharing, clock, log }: Pick<AdapterDeps, 'sharing' | 'clock' | 'log'>,
): Promise<Audit> {
  const chain = { path, maxSize, maxAge, keep, isSynced: sync === 'always', clock, log };
  const sink = await ChainFile.open(chain).catch((error: unknown) => {
    throw named(error, path);
  });
  return new Journal({ name: 'file', sink, settings: journal, sharing, clock, log });
}

/** A system's error with the setting's name; one that says by itself what is wrong with the chain, as it is. */
function named(error: unknown, path: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) return error;
  if (code === 'EISDIR') return new Error(`audit.path, ${path}, ${IS_FOLDER}.`, { cause: error });
  const todo = 'Let the user Wharf runs as write it, or set audit.path to another file.';
  return new Error(`audit.path, ${path}, cannot be opened (${code}). ${todo}`, { cause: error });
}
