import type { IncomingHttpHeaders } from 'node:http';
import { isObject } from '../json/value.js';
import type { ClientFacts } from '../ports/client.js';
import type { ClientProfile } from '../ports/file-slot.js';
import type { JsonObject } from '../ports/json.js';
import { type ClientMessages, capabilitiesOf, DEFAULT_VERSION, knownVersion, META_CLIENT, metaOf } from './request.js';

/** What is known of a client without its messages. */
interface Caller {
  headers: IncomingHttpHeaders;
  principal: string;
  /** It has no headers: those that repeat the body are made from it. */
  headersFromBody?: boolean;
}

/** What a session remembers of its `initialize`. */
interface Opened {
  version: string;
  capabilities: JsonObject;
  clientName?: string | undefined;
}

/** Who the client is: its session's facts, or for a stateless request its own. What a request declares counts for it. */
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
    protocolVersion: knownVersion(version ?? DEFAULT_VERSION),
    capabilities: hoisted(declared),
    ...(name !== undefined && { name }),
    ...(exchange.headersFromBody && { isOverStdio: true as const }),
    dialects: profileOf(profiles, name, exchange.principal),
  };
}

/** A name is kept with its session, and stands in the log. */
const MAX_NAME = 256;

/** `clientInfo.name`; of a long one its beginning. */
export function nameOf(clientInfo: unknown): string | undefined {
  const name = isObject(clientInfo as JsonObject) ? (clientInfo as JsonObject).name : undefined;
  if (typeof name !== 'string') return undefined;
  // copied, since a part of a string keeps all of it
  return name.length <= MAX_NAME ? name : Buffer.from(name.slice(0, MAX_NAME)).toString();
}

/**
 * Typed SDKs drop capabilities they do not know, so that clients declare them under `experimental` or, by their full
 * name, under `extensions`: they count as if they stood at the top.
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

/** `*` stands for anything. */
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
