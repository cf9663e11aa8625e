import { refusesCredential } from '../audit/caller-logins.js';
import { ERROR_TABLE, type ErrorCode } from '../errors.js';
import { isObject } from '../json/value.js';
import type { ClientRequest } from '../mcp/request.js';
import type { Audit, AuditEntry, AuditFile } from '../ports/audit.js';
import { causeOf, type Exchange } from './exchange.js';

/** Who an entry is about, as far as an exchange has found it out. */
function callerOf(exchange: Exchange): Pick<AuditEntry, 'principal' | 'actor' | 'client' | 'address'> {
  return { principal: exchange.principal || undefined, ...causeOf(exchange) };
}

function callOf({ method, subject }: Pick<ClientRequest, 'method' | 'subject'>) {
  return method === 'tools/call' ? { method, tool: subject } : { method, subject };
}

/** The prompt, or the resources, for whose argument a client wants values. */
function completed({ method, params: { ref } }: ClientRequest): string | undefined {
  if (method !== 'completion/complete' || !isObject(ref)) return undefined;
  return [ref.name, ref.uri].find((name) => typeof name === 'string');
}

/**
 * Records what a POST asks for, before a server sees it: each request that names a tool, a prompt, a resource or a
 * task, and the opening of a session. Lists and pings decide nothing.
 * @throws GatewayError `audit_unavailable`
 */
export async function recordRequests(
  audit: Audit,
  exchange: Exchange,
  { server, requests }: { server: string; requests: readonly ClientRequest[] },
): Promise<void> {
  const about = { ...callerOf(exchange), server, allowed: true };
  const entries = requests.flatMap((request): AuditEntry[] => {
    if (request.method === 'initialize') return [{ what: 'login', subject: 'session', ...about }];
    const subject = request.subject ?? completed(request);
    return subject === undefined ? [] : [{ what: 'call', ...about, ...callOf({ ...request, subject }) }];
  });
  await Promise.all(entries.map((entry) => audit.record(entry)));
}

/** Notes that an exchange was refused: by a rule, a limit or a check of Wharf's own, and not by a failing part. */
export function noteRefusal(audit: Audit, exchange: Exchange, server: string): void {
  const { facts, principal } = exchange;
  const { error: code, limit, source = limit, rule = source, method, name, ownName } = facts;
  if (code === undefined || !isRefusal(code, limit)) return;
  // the line of the call itself has that name, too
  const subject = (method === 'tools/call' && name !== undefined && ownName?.(name)) || name;
  const about = { ...callerOf(exchange), server, allowed: false, code, rule };
  if (principal !== '')
    audit.note({ what: 'call', ...about, ...(method !== undefined && callOf({ method, subject })) });
  else if (!refusesCredential(code)) audit.note({ what: 'login', ...about });
}

/** A resource whose bytes were the answer to a request. */
interface GivenStream {
  server: string;
  /** The server that the file comes from; undefined for the caller's own. */
  from: string | undefined;
  method: string;
  uri: string;
  file: AuditFile;
  outcome: AuditEntry['outcome'];
}

/** Notes bytes that a client has got as the answer to a request, whole or not. */
export function noteStream(
  audit: Audit,
  exchange: Exchange,
  { server, from, method, uri, file, outcome }: GivenStream,
): void {
  const about = { ...callerOf(exchange), server, from, method, subject: uri, allowed: true };
  audit.note({ what: 'download', ...about, files: [file], outcome });
}

function isRefusal(code: string, limit: string | undefined): boolean {
  if (!Object.hasOwn(ERROR_TABLE, code)) return false;
  return limit !== undefined || ERROR_TABLE[code as ErrorCode].http < 500;
}
