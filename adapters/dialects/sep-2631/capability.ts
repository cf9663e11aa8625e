import { isObject } from '../../../gateway/json/value.js';
import type { ClientFacts } from '../../../gateway/ports/client.js';
import type { JsonObject, JsonValue } from '../../../gateway/ports/dialect.js';

export const NAME = 'sep-2631';

/** What Wharf can do, whatever the client behind it can do. */
export const FILES: JsonObject = { upload: true, download: true, transports: ['https'] };

/** The name under which Wharf announces these methods to clients: the SEP defines no server capability. */
export const EXTENSION = 'dev.wharf/file-transfer';

/** The names in the revisions. */
const DOWNLOAD = ['download', 'output'] as const;
const UPLOAD = ['upload', 'input', 'inputTransfer'] as const;

/** True when the client declared that it fetches files by their handles. */
export function downloads({ capabilities, hasOnlyHttp }: ClientFacts): boolean {
  const { files } = capabilities;
  if (!isObject(files) || !DOWNLOAD.some((word) => isDeclared(files[word]))) return false;
  return takes(files, hasOnlyHttp ? 'http' : 'https');
}

/** True when the client declared that it uploads files, or the operator configured it. */
export function uploads({ capabilities, dialects, hasOnlyHttp }: ClientFacts): boolean {
  if (dialects?.includes(NAME) === true) return true;
  const { files } = capabilities;
  if (!isObject(files) || !UPLOAD.some((word) => isDeclared(files[word]))) return false;
  return takes(files, hasOnlyHttp ? 'http' : 'https');
}

/** One draft has an object in the place of `true`, as most of MCP's capabilities have. */
function isDeclared(value: JsonValue | undefined): boolean {
  return value === true || isObject(value);
}

/**
 * Transports of the future are ignored. Another Wharf whose server this is over stdio would refuse an address of this
 * machine, and its result be an error.
 */
function takes({ transports }: JsonObject, transport: string): boolean {
  const named = isObject(transports) ? Object.keys(transports) : transports;
  return !Array.isArray(named) || named.includes(transport);
}

/** True when the client declared that it fetches files, or the operator configured it. */
export function readsFileValues(client: ClientFacts): boolean {
  return downloads(client) || client.dialects?.includes(NAME) === true;
}
