import type { PaceLimits } from '../../budget/pace.js';
import type { FileRecord } from '../../files/file.js';
import { type StoreFileDeps, storeFile } from '../../files/store-file.js';
import type { Timeouts } from '../../policy/limits.js';
import type { FileClaims } from '../../ports/file.js';
import type { Transfer } from '../../ports/transfer.js';
import { paced } from '../upstream/paced.js';

export interface IncomingFetchDeps extends StoreFileDeps {
  transfer: Transfer;
  timeouts: Timeouts;
  /** How slowly it may come. */
  pace: PaceLimits;
  /** `fetch.allowedHosts` */
  allowedHosts: readonly string[] | undefined;
  fileLimit: number;
}

/** Redirects on the same host and port that an address of a client's may lead through. */
const MAX_REDIRECTS = 3;

/**
 * Fetches a file from an address that a client named, at once: such addresses live for minutes. The type is what the
 * client says, else what the address's host says, else what the bytes say.
 */
export function incomingFetch(deps: IncomingFetchDeps) {
  return async (
    url: string,
    claims: FileClaims,
    { principal }: { principal: string },
    maxSize: { bytes: number; limit: string },
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
