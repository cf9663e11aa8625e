import type { IncomingHttpHeaders } from 'node:http';
import { isObject } from '../json/value.js';
import type { ClientFacts } from '../ports/client.js';
import type { ClientProfile } from '../ports/file-slot.js';
import type { JsonObject } from '../ports/json.js';
import { ASSUMED_ERA, eraOf } from './era.js';
import { type ClientMessages, capabilitiesOf, META_CLIENT, metaOf } from './request.js';

/** What is known about a client without its messages. */
interface Caller {
  headers: IncomingHttpHeaders;
  principal: string;
  /** True without HTTP headers: those that repeat the body are made from it. */
  headersFromBody?: boolean;
}

/** What a session keeps of its `initialize`. */
interface Opened {
  version: string;
  capabilities: JsonObject;
  clientName?: string | undefined;
}

/**
 * Facts about the client: its session's, or those of the stateless request itself. A request's own declarations take
 * precedence.
 */
export function clientFacts(
  exchange: Caller,
  messages: ClientMessages | undefined,
  session: Opened | undefined,
  profiles: readonly ClientProfile[],
): ClientFacts {
  const params = messages?.requests[0]?.params ?? {};
  const opening = messages?.initialize?.params;
  const header = exchange.headers['mcp-protocol-version'];
  const asked = opening?.protocolVersion ?? header;
  const version = messages?.statelessVersion ?? session?.version ?? (typeof asked === 'string' ? asked : undefined);
  const opened = isObject(opening?.capabilities) ? opening.capabilities : undefined;
  const declared = capabilitiesOf(params) ?? session?.capabilities ?? opened ?? {};
  const name = nameOf(metaOf(params)[META_CLIENT]) ?? session?.clientName ?? nameOf(opening?.clientInfo);
  return {
    protocolVersion: version === undefined ? ASSUMED_ERA.version : eraOf(version).version,
    capabilities: hoisted(declared),
    ...(name !== undefined && { name }),
    ...(exchange.headersFromBody && { isOverStdio: true as const }),
    dialects: profileOf(profiles, name, exchange.principal),
  };
}

/** A name is stored with its session, and appears in the log. */
const MAX_NAME = 256;

/** `clientInfo.name`, shortened if it is long. */
export function nameOf(clientInfo: unknown): string | undefined {
  const name = isObject(clientInfo as JsonObject) ? (clientInfo as JsonObject).name : undefined;
  if (typeof name !== 'string') return undefined;
  // copied, because a slice of a string keeps all of it in memory
  return name.length <= MAX_NAME ? name : Buffer.from(name.slice(0, MAX_NAME)).toString();
}

/**
 * Typed SDKs drop unknown capabilities, so clients declare them under `experimental` or, by their full name, under
 * `extensions`: these count like top-level ones.
 */
export function hoisted(capabilities: JsonObject): JsonObject {
  const { extensions, experimental } = capabilities;
  if (!isObject(extensions) && !isObject(experimental)) return capabilities;
  const inner = [extensions, experimental].flatMap((group) => (isObject(group) ? Object.entries(group) : []));
  const named = inner.map(([key, value]) => [key.slice(key.lastIndexOf('/') + 1), value] as const);
  return { ...Object.fromEntries(named), ...capabilities };
}

function profileOf(profiles: readonly ClientProfile[], name: string | undefined, principal: string): string[] {
  const found = profiles.find(
    ({ match }) =>
      (match.name === undefined || (name !== undefined && fits(match.name, name))) &&
      (match.principal === undefined || match.principal === principal),
  );
  return found?.dialects ?? [];
}

/** `*` matches anything. */
function fits(pattern: string, name: string): boolean {
  const parts = pattern.split('*');
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const found = index === parts.length - 1 ? name.lastIndexOf(part) : name.indexOf(part, at);
    if (found < at || (index === 0 && found !== 0)) return false;
    at = found + part.length;
  }
  return at === name.length;
}
