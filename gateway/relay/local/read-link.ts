import { GatewayError } from '../../errors.js';
import type { FileRecord } from '../../files/file.js';
import type { LazyFile } from '../../files/handles/lazy-files.js';
import type { ResultDeps } from '../results/deps.js';
import { resultAsFile } from '../results/resource-file.js';
import { OwnClient } from './own-client.js';
import type { Endpoint } from './own-session.js';

/**
 * Reads a linked resource in a session of Wharf's own.
 * @throws GatewayError `upstream_invalid` where the server gives no content, or the error of asking it or of storing the file
 */
export async function readLazy(
  { principal, server, uri, name, mimeType }: LazyFile,
  endpoint: Endpoint,
  deps: ResultDeps,
  signal: AbortSignal,
): Promise<FileRecord> {
  const { limits, timeouts, cut } = deps;
  const { ingest, held } = cut;
  const { library } = deps.files;
  const own = new OwnClient({ endpoint, principal, limits, timeouts, held });
  const request = { method: 'resources/read', params: { uri }, name: uri };
  return own.request(request, signal, async ({ result, content }) => {
    const record =
      content ??
      (await resultAsFile(
        result,
        { principal, signal },
        { ingest, library, server, limits },
        { uri, ...(name !== undefined && { name }), ...(mimeType !== undefined && { mimeType }) },
      ));
    if (!record) throw new GatewayError('upstream_invalid', { reason: 'resources/read gave no content' });
    return record;
  });
}
