import { GatewayError } from '../../errors.js';
import type { JsonObject } from '../../ports/json.js';
import { causeOf } from '../exchange.js';
import type { Addressee } from '../pending-request.js';
import type { ResultDeps } from '../results/deps.js';
import { fetchRemoteFiles } from '../results/remote-files.js';
import { inStore, type StreamItem } from './item.js';
import { refused } from './refusal.js';
import type { StreamSender } from './send.js';

/** Whose request it is, and how the server is asked. */
type Asking = Pick<Addressee, 'identity' | 'principal' | 'facts' | 'address' | 'inquire' | 'signal'>;

/**
 * Fetches a file that an item of `contents[]` only names. It is stored before its first byte is sent: only then is it known
 * to have the size and the digest that the server gave it.
 * @returns undefined when the item names no file
 * @throws GatewayError `stream_refused` for one that is larger than the client takes, `remote_file_failed`
 */
export async function namedFile(
  item: JsonObject,
  { order, most }: Pick<StreamSender, 'order' | 'most'>,
  to: Asking,
  deps: ResultDeps,
): Promise<StreamItem | undefined> {
  const limits = { ...deps.limits, file: most };
  const named = { path: [], result: { contents: [item] }, subject: 'resource' };
  const { principal, inquire, signal } = to;
  const asking = { deps: { ...deps, limits }, principal, by: causeOf(to), inquire, signal };
  const [fetched] = await fetchRemoteFiles([named], asking);
  if (!fetched) return undefined;
  const { outcome, remote } = fetched;
  if (outcome.kind === 'stored') {
    const { record } = outcome;
    return { ...inStore(record, deps.cut.library), name: record.name, mimeType: record.mimeType, record };
  }
  // an address is not the server's file to send
  if (outcome.kind === 'addressed') return undefined;
  const { reason, detail } = outcome;
  if (reason === 'maxSizeExceeded' && most < deps.limits.file) {
    throw refused('maxStreamSizeExceeded', order.uri, { maxSize: most });
  }
  const { name } = remote.claims;
  throw new GatewayError('remote_file_failed', { server: deps.server, ...(name && { name }), detail, reason });
}
