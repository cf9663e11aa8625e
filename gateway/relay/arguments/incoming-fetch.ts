import type { PaceLimits } from '../../budget/pace.js';
import type { FileRecord } from '../../files/file.js';
import { type StoreFileDeps, storeFile } from '../../files/store-file.js';
import type { Timeouts } from '../../policy/limits.js';
import type { Transfer } from '../../ports/transfer.js';
import { paced } from '../upstream/paced.js';
import type { RemoteAddress } from './incoming-files.js';

interface IncomingFetchDeps extends StoreFileDeps {
  transfer: Transfer;
  timeouts: Timeouts;
  /** The slowest accepted rate. */
  pace: PaceLimits;
  /** `fetch.allowedHosts` */
  allowedHosts: readonly string[] | undefined;
  fileLimit: number;
}

/** Most redirects of a client's address, on the same host and port. */
const MAX_REDIRECTS = 3;

/**
 * Fetches a file from an address that a client named, at once, because such addresses live for minutes. Its type is the
 * client's, otherwise the host's, otherwise that of the bytes.
 */
export function incomingFetch(deps: IncomingFetchDeps) {
  return async (
    { url, claims, maxSize }: RemoteAddress,
    { principal }: { principal: string },
    signal: AbortSignal,
  ): Promise<FileRecord> => {
    const { transfer, timeouts, pace, allowedHosts, fileLimit } = deps;
    const limit = maxSize.bytes < fileLimit ? maxSize : { bytes: fileLimit, limit: 'limits.file' };
    const rules = {
      allowedHosts,
      maxBytes: limit.bytes,
      maxBytesName: limit.limit,
      timeouts: { connect: timeouts.store, idle: timeouts.idle, total: timeouts.upstream },
      redirects: MAX_REDIRECTS,
    };
    const { body, headers } = await transfer.download({ url, rules }, signal);
    const type = headers['content-type'];
    const mimeType = claims.mimeType ?? (typeof type === 'string' ? type : undefined);
    const file = {
      bytes: paced(body, { server: new URL(url).host, pace, signal }),
      claims: { ...claims, ...(mimeType !== undefined && { mimeType }) },
      principal,
      subject: 'file',
      limit: { name: limit.limit, bytes: limit.bytes, path: 'the address' },
    };
    return storeFile(file, deps, signal);
  };
}
