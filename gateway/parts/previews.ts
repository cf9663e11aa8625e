import type { FileRecord } from '../files/file.js';
import { sniff } from '../files/names/media-type.js';
import { type PreviewJob, previewOf } from '../files/preview.js';
import type { Preview } from '../ports/dialect.js';
import type { ObjectStore } from '../ports/object-store.js';

interface Parts extends Pick<PreviewJob, 'previewer' | 'log' | 'metrics'> {
  objects: ObjectStore;
}

/** Makes the function that previews a stored file. @returns undefined for a file without a preview */
export function storedPreviews({ objects, ...parts }: Parts) {
  return async (record: FileRecord, head: Buffer, signal: AbortSignal): Promise<Preview | undefined> =>
    previewOf({
      ...parts,
      sniffedMime: (await sniff(head))?.mime,
      record,
      open: async (inner, range) => {
        const read = await objects.get(record.key, { signal: inner, ...(range && { range }) });
        if (read.kind !== 'found') throw new Error(`the object ${record.key} is ${read.kind}`);
        return read.body;
      },
      owner: record,
      signal,
    });
}
