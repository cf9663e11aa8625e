import type { ClientFacts } from '../../../gateway/ports/client.js';
import type { JsonObject } from '../../../gateway/ports/dialect.js';
import { isObject } from '../common/json.js';

export const NAME = 'sep-2631';

/** What Wharf can do, whatever the client behind it can. */
export const FILES: JsonObject = { upload: true, download: true, transports: ['https'] };

/** Name of what a client is told that Wharf answers: the SEP defines no capability of servers. */
export const EXTENSION = 'dev.wharf/file-transfer';

/** How the revisions called it. */
const DOWNLOAD = ['download', 'output'] as const;
const UPLOAD = ['upload', 'input', 'inputTransfer'] as const;

/** True when the client declared that it fetches files by their handles. */
export function downloads({ capabilities }: ClientFacts): boolean {
  const { files } = capabilities;
  if (!isObject(files) || !DOWNLOAD.some((word) => files[word] === true)) return false;
  const { transports } = files;
  return !Array.isArray(transports) || transports.includes('https');
}

/** True when the client declared that it uploads files, or the operator says so. */
export function uploads({ capabilities, dialects }: ClientFacts): boolean {
  const { files } = capabilities;
  return (isObject(files) && UPLOAD.some((word) => files[word] === true)) || dialects?.includes(NAME) === true;
}

/** True when it declared that it fetches them, or the operator says so. */
export function readsFileValues(client: ClientFacts): boolean {
  return downloads(client) || client.dialects?.includes(NAME) === true;
}
