import { BufferPool } from '../budget/memory/buffer-pool.js';
import type { FileRecord } from '../files/file.js';
import { sniff } from '../files/names/media-type.js';
import { type AheadDeps, BLOCK_BYTES, PreviewAhead } from '../files/previews/ahead.js';
import { MadePreviews } from '../files/previews/made-previews.js';
import { type PreviewJob, previewOf } from '../files/previews/preview.js';
import type { StoredObjects } from '../files/stored/stored-objects.js';
import type { Ledgers } from '../ledgers.js';
import type { Preview } from '../ports/dialect.js';
import type { Owner } from '../ports/owner.js';

interface Parts extends Pick<PreviewJob, 'previewer' | 'log' | 'metrics'> {
  stored: Pick<StoredObjects, 'read'>;
  ledgers: Pick<Ledgers, 'previewMemory'>;
}

export interface Previews {
  /** Previews a stored file. @returns undefined for a file without a preview */
  of: (record: FileRecord, head: Buffer, signal: AbortSignal) => Promise<Preview | undefined>;
  /** Begins the preview of a file while it is stored. Undefined when there are none. */
  ahead: ((owner: Owner, signal: AbortSignal) => PreviewAhead) | undefined;
}

/** The two ways in which a file gets its preview. */
export function createPreviews({ stored, ledgers, previewer, log, metrics }: Parts): Previews {
  const { previewMemory } = ledgers;
  // these alone: a preview has limits of its own, and those of Wharf, which its caller has too, are not meant
  const parts = { previewer, log, metrics };
  const blocks = new BufferPool(BLOCK_BYTES, 0);
  const earlier = new MadePreviews(previewMemory);
  const deps: AheadDeps = { ...parts, ledger: previewMemory, blocks, earlier };
  const isOn = parts.previewer.wholeUpTo('image/png') > 0;
  return {
    ahead: isOn ? (owner, signal) => new PreviewAhead(deps, owner, signal) : undefined,
    of: async (record, head, signal) => {
      const kept = earlier.find(record, record.digest);
      if (kept) {
        metrics.count('wharf_previews_total', { outcome: 'kept' });
        return kept;
      }
      const preview = await previewOf({
        ...parts,
        sniffedMime: (await sniff(head))?.mime,
        record,
        open: async (inner, range) => {
          const read = await stored.read(record, inner, range);
          if (read.kind !== 'found') throw new Error(`the object ${record.key} is ${read.kind}`);
          return read.body;
        },
        owner: record,
        signal,
      });
      if (preview) earlier.keep(record, record.digest, preview);
      return preview;
    },
  };
}
