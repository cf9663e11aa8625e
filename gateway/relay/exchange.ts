import type { IncomingHttpHeaders } from 'node:http';
import type { GatewayError } from '../errors.js';
import type { FileRecord } from '../files/file.js';
import type { Answer } from '../mcp/responses.js';
import type { TooLongArgument } from '../mcp/shortened-body.js';

/** What the relay needs of a response. Node's is one; a face without HTTP has its own. */
export interface ClientResponse {
  writeHead(status: number, headers?: Record<string, string | string[]>): unknown;
  flushHeaders(): void;
  /** False when the client takes no more for now; `drain` says when it does again. */
  write(bytes: Buffer): boolean;
  end(bytes?: Buffer): unknown;
  destroy(): unknown;
  once(event: 'drain' | 'close', listener: () => void): unknown;
  off(event: 'drain' | 'close', listener: () => void): unknown;
  /** Destroys the response when the client has taken nothing for that long; 0: never. */
  setTimeout(ms: number): unknown;
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  readonly destroyed: boolean;
}

/** One HTTP request of a client and all that answers it. */
export interface Exchange {
  headers: IncomingHttpHeaders;
  /** The whole body of a POST. */
  body: Buffer;
  /** An argument that was too long to be kept, and is empty in the body. */
  tooLong?: TooLongArgument | undefined;
  response: ClientResponse;
  principal: string;
  /** Where the connection comes from; of a proxy's, the proxy. */
  address?: string | undefined;
  /** The client has no headers (stdio): those that repeat the body are made from it, and there is nothing to compare. */
  headersFromBody?: boolean;
  /** Aborted when the client has gone or Wharf shuts down. */
  signal: AbortSignal;
  /** What the access log will say; filled in on the way. */
  facts: ExchangeFacts;
}

export interface ExchangeFacts {
  /** The requests of a POST, so that an error can name them. */
  requests: readonly Answer[];
  /** Id of the session, of which the log says a hash. */
  session: string | undefined;
  /** `clientInfo.name` */
  client: string | undefined;
  method: string | undefined;
  /** Tool, prompt or resource. */
  name: string | undefined;
  version: string | undefined;
  files: number;
  fileBytes: number;
  bytesOut: number;
  /** Code of the error the client was told, if any. */
  error: string | undefined;
  /** Of a `resources/read`: the file that the first of its contents has become, where it was one. */
  content?: FileRecord;
  /** The limit that caused it, by its name in the config, which only the operator is told in words. */
  limit: string | undefined;
  /** What the limit allows, and what there was. */
  allowed: number | undefined;
  actual: number | undefined;
}

/** Of an exchange that has just begun. */
export function noFacts(): ExchangeFacts {
  return {
    requests: [],
    session: undefined,
    client: undefined,
    method: undefined,
    name: undefined,
    version: undefined,
    files: 0,
    fileBytes: 0,
    bytesOut: 0,
    error: undefined,
    limit: undefined,
    allowed: undefined,
    actual: undefined,
  };
}

/** What the client of an exchange is told instead of an answer, for the log and the metrics. */
export function noteError(facts: ExchangeFacts, { code, facts: { limit, allowed, actual } }: GatewayError): void {
  facts.error = code;
  facts.limit = limit === undefined ? undefined : String(limit);
  facts.allowed = typeof allowed === 'number' ? allowed : undefined;
  facts.actual = typeof actual === 'number' ? actual : undefined;
}
