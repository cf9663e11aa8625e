import type { IncomingHttpHeaders } from 'node:http';
import type { PaceLimits } from '../budget/pace.js';
import type { GatewayError } from '../errors.js';
import type { FileRecord } from '../files/file.js';
import type { TempFiles } from '../files/temp-files.js';
import type { Uploads } from '../files/upload.js';
import type { Answer } from '../mcp/responses.js';
import type { TooLongArgument } from '../mcp/shortened-body.js';
import type { Limits, Timeouts } from '../policy/limits.js';
import type { Clock } from '../ports/clock.js';
import type { Dialect } from '../ports/dialect.js';
import type { ClientProfile, ToolSettings } from '../ports/file-slot.js';
import type { Log } from '../ports/log.js';
import type { Metrics } from '../ports/metrics.js';
import type { Transfer } from '../ports/transfer.js';
import type { WatchTree } from '../wire/json/watch-tree.js';
import type { IncomingFile, IncomingFileDeps } from './arguments/incoming-files.js';
import type { CutDeps } from './cut/message-cuts.js';
import type { LocalMethods } from './local/local-methods.js';
import type { LocalTools } from './local/local-tools.js';
import type { OwnResources } from './local/own-resources.js';
import type { OutgoingFileDeps } from './results/outgoing-files.js';
import type { TaskTools } from './results/tool-of-task.js';
import type { Sessions } from './session.js';
import type { Catalog } from './tools/catalog.js';
import type { FileTakers } from './tools/file-takers.js';
import type { RemoteMethods } from './upstream/unknown-methods.js';

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

/** What every exchange with one server works with. */
export interface RelayDeps {
  server: string;
  limits: Limits;
  /** Largest message this upstream takes, bytes. */
  accepts: number;
  timeouts: Timeouts;
  /** How slowly the server may send. */
  pace: PaceLimits;
  cut: CutDeps & { tree: WatchTree; slotMin: number };
  files: OutgoingFileDeps;
  dialects: readonly Dialect[];
  /** What the operator says of each tool, by its name. */
  settings: Readonly<Record<string, ToolSettings>>;
  /** Clients that speak a dialect without declaring it. */
  profiles: readonly ClientProfile[];
  incoming: IncomingFileDeps;
  tempFiles: TempFiles;
  /** Makes a file that came inside a call one with a handle and a link. */
  storeInline: (file: IncomingFile, principal: string, signal: AbortSignal) => Promise<FileRecord>;
  transfer: Transfer;
  remoteMethods: RemoteMethods;
  /** Of an HTTP server: what it names there may be as private as itself. */
  upstreamOrigin: string | undefined;
  /** `servers.X.fetch.origins` */
  fetchOrigins: readonly string[];
  /** Ports at which Wharf listens. */
  ownPorts: () => readonly number[];
  /** Of an HTTP server, as the operator wrote it. */
  upstreamUrl: string | undefined;
  /** The operator's own, which are for this server's origin only. */
  upstreamHeaders: Readonly<Record<string, string>>;
  uploads: Uploads;
  methods: LocalMethods;
  resources: OwnResources;
  tools: LocalTools;
  sessions: Sessions;
  catalog: Catalog;
  takers: FileTakers;
  taskTools: TaskTools;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}
