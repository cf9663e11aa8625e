import type { IncomingHttpHeaders } from 'node:http';
import { shortText } from '../budget/memory/short-text.js';
import type { Hosts } from '../hosts/hosts.js';
import { isObject } from '../json/value.js';
import type { ClientFacts } from '../ports/client.js';
import type { Host } from '../ports/host.js';
import type { JsonObject } from '../ports/json.js';
import { ASSUMED_ERA, eraOf } from './era.js';
import { META_CLIENT } from './meta-keys.js';
import { type ClientMessages, capabilitiesOf, metaOf } from './request.js';

/** What is known about a client without its messages. */
interface Caller {
  headers: IncomingHttpHeaders;
  principal: string;
  /** True without HTTP headers: those that repeat the body are made from it. */
  headersFromBody?: boolean;
  hasOnlyHttp?: boolean;
}

/** What a session keeps of its `initialize`. */
interface Opened {
  version: string;
  capabilities: JsonObject;
  clientName?: string | undefined;
  clientVersion?: string | undefined;
  /** Its tools are listed without an outputSchema. */
  dropsStructured?: boolean | undefined;
}

/**
 * Facts about the client: its session's, or those of the stateless request itself. A request's own declarations take
 * precedence.
 */
export function clientFacts(
  exchange: Caller,
  messages: ClientMessages | undefined,
  session: Opened | undefined,
  hosts: Hosts,
): ClientFacts {
  const params = messages?.requests[0]?.params ?? {};
  const declaresNothing = params._meta === undefined && !messages?.initialize && !messages?.statelessVersion;
  if (!session || !declaresNothing) return newFacts(exchange, messages, session, hosts);
  const known = OF_SESSIONS.get(session);
  if (known?.hosts === hosts && known.principal === exchange.principal) return known.facts;
  const facts = newFacts(exchange, messages, session, hosts);
  OF_SESSIONS.set(session, { hosts, principal: exchange.principal, facts });
  return facts;
}

/** What is known in a session of all requests that declare nothing themselves, which took 5 µs for each of them. */
const OF_SESSIONS = new WeakMap<Opened, { hosts: Hosts; principal: string; facts: ClientFacts }>();

function newFacts(
  exchange: Caller,
  messages: ClientMessages | undefined,
  session: Opened | undefined,
  hosts: Hosts,
): ClientFacts {
  const params = messages?.requests[0]?.params ?? {};
  const opening = messages?.initialize?.params;
  const header = exchange.headers['mcp-protocol-version'];
  const asked = opening?.protocolVersion ?? header;
  const revision = messages?.statelessVersion ?? session?.version ?? (typeof asked === 'string' ? asked : undefined);
  const opened = isObject(opening?.capabilities) ? opening.capabilities : undefined;
  const declared = capabilitiesOf(params) ?? session?.capabilities ?? opened ?? {};
  const info = metaOf(params)[META_CLIENT];
  const name = nameOf(info) ?? session?.clientName ?? nameOf(opening?.clientInfo);
  const version = versionOf(info) ?? session?.clientVersion ?? versionOf(opening?.clientInfo);
  const { dialects, elicitation, host, limits } = hosts.find({ name, version }, exchange.principal);
  return {
    protocolVersion: revision === undefined ? ASSUMED_ERA.version : eraOf(revision).version,
    capabilities: hoisted(declared),
    ...(name !== undefined && { name }),
    ...(exchange.headersFromBody && { isOverStdio: true as const }),
    ...(exchange.hasOnlyHttp && { hasOnlyHttp: true as const }),
    dialects,
    ...(elicitation && { elicitation }),
    ...(limits && { limits }),
    host: session ? asListed(host, session) : host,
  };
}

/**
 * Clients refuse a result without structuredContent if they were shown an outputSchema, so a session that began with
 * other profiles keeps what it began with.
 */
function asListed(host: Host, { dropsStructured = false }: Opened): Host {
  return (host.structured === 'drop') === dropsStructured
    ? host
    : { ...host, structured: dropsStructured ? 'drop' : 'keep' };
}

/** A name is stored with its session, and appears in the log. */
const MAX_NAME = 256;

/** `clientInfo.name`, shortened if it is long. */
export function nameOf(clientInfo: unknown): string | undefined {
  return memberOf(clientInfo, 'name');
}

/** `clientInfo.version`, shortened if it is long. */
export function versionOf(clientInfo: unknown): string | undefined {
  return memberOf(clientInfo, 'version');
}

function memberOf(clientInfo: unknown, key: 'name' | 'version'): string | undefined {
  const value = isObject(clientInfo as JsonObject) ? (clientInfo as JsonObject)[key] : undefined;
  return typeof value === 'string' ? shortText(value, MAX_NAME) : undefined;
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
