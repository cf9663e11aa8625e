import type { IncomingHttpHeaders } from 'node:http';
import type { ErrorCode, GatewayError } from '../errors.js';
import type { FileRecord } from '../files/file.js';
import type { ClientMessages } from '../mcp/request.js';
import type { Answer } from '../mcp/responses.js';
import type { TooLongArgument } from '../mcp/shortened-body.js';
import type { AuditCause } from '../ports/audit.js';
import type { Identity } from '../ports/identity.js';
import type { Reply } from './reply.js';

/** One request of a client, over HTTP or as a line, and its whole answer. */
export interface Exchange {
  headers: IncomingHttpHeaders;
  /** The whole body of a POST. */
  body: Buffer;
  /** An argument that was too long to be kept; it is empty in the body. */
  tooLong?: TooLongArgument | undefined;
  reply: Reply;
  identity: Identity;
  /** That of the identity. */
  principal: string;
  /** Address of the connection's peer, which may be a proxy. */
  address?: string | undefined;
  /** The client has no headers (stdio): those that repeat the body are made from it, so there is nothing to compare. */
  headersFromBody?: boolean;
  /** As in `ClientFacts`. */
  hasOnlyHttp?: boolean;
  /** It came while Wharf drains: only answers and notifications of its client are passed on. */
  isLate?: boolean;
  /** Aborted when the client has gone or Wharf shuts down. */
  signal: AbortSignal;
  /** On the stopwatch: when its first byte came, if that is known. */
  startedAt?: number;
  /** Facts for the access log, filled in on the way. */
  facts: ExchangeFacts;
}

export interface ExchangeFacts {
  /** The requests of a POST, so that an error can name them. */
  requests: readonly Answer[];
  /** Id of the session, which is logged only as a hash. */
  session: string | undefined;
  /** `clientInfo.name` */
  client: string | undefined;
  method: string | undefined;
  /** Tool, prompt or resource. */
  name: string | undefined;
  /** The server's own name of what clients know as a tool; absent where both are the same. */
  ownName?: (given: string) => string | undefined;
  /** Of MCP: that of the session, or the one that a request names. */
  version: string | undefined;
  /** Files in its answer, and their bytes. */
  files: number;
  fileBytes: number;
  /** Bytes of its answer, as they were sent. */
  bytesOut: number;
  /** Code of the error that the client got, if any, or of what it got instead of an answer. */
  error: string | undefined;
  /** That error, if it is one of Wharf's own: for an exchange that Wharf makes itself. */
  thrown?: GatewayError;
  /** For a `resources/read`: the file that the content it asked for has become, if any. */
  content?: FileRecord;
  /** The place in the config that refused it, if it is not a limit; for the operator. */
  rule: string | undefined;
  /** Config name of the limit that caused it; texts name it only to the operator. */
  limit: string | undefined;
  /** The place in the config that sets it, where that is more special than its name says. */
  source: string | undefined;
  /** The limit's value, and the actual value. */
  allowed: number | undefined;
  actual: number | undefined;
}

const NO_REQUESTS: readonly Answer[] = [];

/** Facts of an exchange that has just begun. */
export function noFacts(): ExchangeFacts {
  return {
    requests: NO_REQUESTS,
    session: undefined,
    client: undefined,
    method: undefined,
    name: undefined,
    version: undefined,
    files: 0,
    fileBytes: 0,
    bytesOut: 0,
    error: undefined,
    rule: undefined,
    limit: undefined,
    source: undefined,
    allowed: undefined,
    actual: undefined,
  };
}

/** Who an entry of the audit log names beside the principal, as far as an exchange has found it out. */
export function causeOf({
  identity: { actor },
  facts: { client },
  address,
}: Pick<Exchange, 'identity' | 'facts' | 'address'>): AuditCause {
  return { ...(actor !== undefined && { actor }), client, address };
}

/** Records what a POST has brought. */
export function noteMessages(facts: ExchangeFacts, messages: ClientMessages): void {
  facts.requests = messages.requests;
  facts.method = messages.firstMethod;
  facts.name = messages.requests[0]?.subject;
  facts.version = messages.statelessVersion;
}

/** Records which call of a batch an error is about: the line of the exchange, and of the audit log, names that one. */
export function noteCall(facts: ExchangeFacts, tool: string): void {
  if (facts.requests.length < 2) return;
  facts.method = 'tools/call';
  facts.name = tool;
}

/**
 * Records that a server answered requests with success and without an answer, such as the page of a login in front of it.
 * The client gets what came.
 */
export function noteNoAnswer(facts: ExchangeFacts): void {
  facts.error = 'upstream_invalid' satisfies ErrorCode;
}

/** Records the error that the client gets instead of an answer, for the log and the metrics. */
export function noteError(facts: ExchangeFacts, error: GatewayError): void {
  const { code, facts: about } = error;
  facts.thrown = error;
  const { limit, source, allowed, actual, tool, rule } = about;
  if (typeof tool === 'string') noteCall(facts, tool);
  facts.error = code;
  facts.limit = limit === undefined ? undefined : String(limit);
  facts.source = source === undefined ? undefined : String(source);
  if (typeof rule === 'string') facts.rule = rule;
  facts.allowed = typeof allowed === 'number' ? allowed : undefined;
  facts.actual = typeof actual === 'number' ? actual : undefined;
}
