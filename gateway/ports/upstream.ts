import type { Readable } from 'node:stream';

/**
 * What the bytes of an answer are: one or more JSON values, SSE frames, one JSON value per line, anything else, or
 * nothing at all. An adapter says it, it never parses JSON itself.
 */
export type BodyKind = 'json' | 'sse' | 'lines' | 'bytes' | 'none';

export interface UpstreamRequest {
  method: 'POST' | 'GET' | 'DELETE';
  /** Lower-case names; the adapter adds Host, framing, Accept-Encoding and the operator's own headers. */
  headers: Record<string, string>;
  /** The whole message, for POST. */
  body?: Buffer;
}

export interface UpstreamAnswer {
  status: number;
  /** As the upstream sent them: lower-case names, repeated ones as arrays. Nothing is filtered yet. */
  headers: Record<string, string | string[] | undefined>;
  kind: BodyKind;
  /** Already decoded when the upstream used a content coding. Errors are `GatewayError`s. Destroy it to let go. */
  body: Readable;
  /** Bytes of the body where the upstream announced them and used no coding. */
  contentLength?: number;
}

/** An upstream that answers each request on a channel of its own (Streamable HTTP). */
export interface ExchangeUpstream {
  readonly channel: 'exchange';
  readonly transport: string;
  /**
   * Sends one request and resolves with the head of its answer.
   * @throws GatewayError `upstream_unreachable`, `upstream_timeout`, `upstream_invalid`
   */
  open(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer>;
  /** Resolves when the upstream can be reached, for readiness. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** One session's channel to an upstream on which every message of that session travels (stdio, legacy SSE). */
export interface SharedConnection {
  readonly kind: 'lines' | 'sse';
  /** Everything the upstream says, as bytes. Ends or errs when the connection does. */
  readonly body: Readable;
  /**
   * Sends one message; resolves when the upstream took it.
   * @throws GatewayError `upstream_closed`, `upstream_unreachable`, `upstream_timeout`, `upstream_refused`
   */
  send(message: Buffer): Promise<void>;
  /** Ends the connection; for stdio the whole process group is gone when it resolves. Safe to call again. */
  close(): Promise<void>;
}

export interface SharedUpstream {
  readonly channel: 'shared';
  readonly transport: string;
  /**
   * Opens the channel of one session: starts the process, or opens the event stream and learns the POST address.
   * @throws GatewayError `upstream_unreachable`, `upstream_timeout`, `upstream_invalid`, `process_limit`
   */
  connect(signal: AbortSignal): Promise<SharedConnection>;
  check(): Promise<void>;
  close(): Promise<void>;
}

export type Upstream = ExchangeUpstream | SharedUpstream;
