import type { FileRecord } from '../../files/file.js';
import type { Uploads } from '../../files/upload.js';
import type { ToolDeps } from '../tools/deps.js';
import type { IncomingFile, IncomingFileDeps } from './incoming-files.js';

/** What files in a call are read and written with. */
export interface CallDeps extends ToolDeps {
  incoming: IncomingFileDeps;
  uploads: Uploads;
  /** Makes a file that came inside a call one with a handle and a link. */
  storeInline: (file: IncomingFile, principal: string, signal: AbortSignal) => Promise<FileRecord>;
}
