import { GatewayError } from '../../errors.js';
import type { FileRecord } from '../file.js';
import type { Library } from '../library.js';
import { checkSeveral, type Several, severalRefused } from '../tickets/several.js';
import { uploadDone } from './uploaded.js';

interface BundleToFill {
  /** Its id. */
  bundle: string;
  principal: string;
  several: Several;
  /** When the right to upload to it ends, milliseconds since the Unix epoch. */
  expiresAt: number;
}

/**
 * Stores several files that come in one request, and completes their bundle with them: all of them, or none.
 * @param store stores the bytes of one file, which only the record that it returns makes a file
 * @returns the records of all files in the bundle
 * @throws GatewayError `upload_several_refused`, `upload_done`, `upload_cancelled`, or the error of `bodies`, `store` or the state store
 */
export async function storeTogether<Body>(
  { bundle, principal, several, expiresAt }: BundleToFill,
  bodies: AsyncIterable<Body>,
  store: (body: Body) => Promise<FileRecord>,
  library: Pick<Library, 'admit' | 'bundles' | 'discardUnrecorded' | 'find' | 'leaveOut' | 'withdraw'>,
): Promise<FileRecord[]> {
  const stored: FileRecord[] = [];
  const before: FileRecord[] = [];
  try {
    for await (const body of bodies) {
      if (stored.length === several.most) throw severalRefused('tooManyFiles', several.most, several.most + 1);
      stored.push(await store(body));
    }
    for (const id of (await library.bundles.find(bundle))?.files ?? []) {
      const record = await library.find(id);
      if (record) before.push(record);
    }
    checkSeveral(several, [...before, ...stored]);
  } catch (error) {
    for (const record of stored) library.discardUnrecorded(record);
    throw error;
  }
  await admitAll(stored, expiresAt, library);
  const all = [...before, ...stored];
  const ids = all.map(({ id }) => id);
  const ended = await library.bundles.complete(bundle, async () => ids);
  if (ended) {
    const others = ended.files.filter((id) => !ids.includes(id));
    await library.leaveOut(others, principal, expiresAt);
    return all;
  }
  for (const record of stored) await library.withdraw(record);
  const isCancelled = (await library.bundles.find(bundle))?.status === 'cancelled';
  throw isCancelled ? new GatewayError('upload_cancelled') : uploadDone();
}

/** Of all files or none: where one cannot be recorded, what is known of the others is taken back. */
async function admitAll(
  records: readonly FileRecord[],
  expiresAt: number,
  library: Pick<Library, 'admit' | 'discardUnrecorded' | 'withdraw'>,
): Promise<void> {
  let admitted = 0;
  try {
    for (; admitted < records.length; admitted += 1) await library.admit(records[admitted] as FileRecord, expiresAt);
  } catch (error) {
    for (const record of records.slice(0, admitted)) await library.withdraw(record);
    // the record between them may have been made: the sweeper then judges its object
    for (const record of records.slice(admitted + 1)) library.discardUnrecorded(record);
    throw error;
  }
}
