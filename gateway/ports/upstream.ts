import type { Readable } from 'node:stream';

/**
 * What the bytes of an answer are: one or more JSON values, SSE frames, one JSON value per line, anything else, or
 * nothing at all. An adapter says it, it never parses JSON itself.
 */
export type BodyKind = 'json' | 'sse' | 'lines' | 'bytes' | 'none';

/** A message too long to be held: its exact length, and its bytes as often as asked. */
export interface StreamedMessage {
  /** Bytes. A source that gives fewer or more is a fault, and the upstream is kept from taking it for a message. */
  length: number;
  /** Each call begins at the first byte. A reading that is given up is returned, so that it can let go. No piece may change later. */
  read(): AsyncIterable<Buffer>;
}

export type OutgoingMessage = Buffer | StreamedMessage;

export interface UpstreamRequest {
  method: 'POST' | 'GET' | 'DELETE';
  /**
   * Lower-case names. The adapter adds Host, framing, Accept-Encoding and the operator's own headers, which win over
   * the ones given here.
   */
  headers: Record<string, string>;
  /**
   * The message, for POST. A streamed one is read as fast as the upstream takes it, and once more if the connection
   * turns out to have been closed as idle.
   */
  body?: OutgoingMessage;
  /** Whose share of `limits.connections` it takes. */
  principal?: string;
  /** Path and query on the server's own origin, instead of the configured one. */
  path?: string;
  /** `answer`: a redirect is handed back like any other answer; otherwise it is an error. */
  redirects?: 'answer';
}

export interface UpstreamAnswer {
  status: number;
  /** As node:http reads them: lower-case names, repeats joined or dropped, `set-cookie` an array. Not filtered yet. */
  headers: Record<string, string | string[] | undefined>;
  kind: BodyKind;
  /**
   * Already decoded when the upstream used a content coding. It must be read to its end or destroyed, unless `kind` is
   * `none`: then it is empty. A body that breaks off errs with a GatewayError: `upstream_closed`,
   * `upstream_coding_limit`, `upstream_invalid`, or the signal's reason. One that ends without an error is complete,
   * unless HTTP framed it by the end of the connection: then only its content can tell.
   */
  body: Readable;
  /** Bytes of the body where the upstream announced them and used no coding. */
  contentLength?: number;
}

/** An upstream that answers each request on a channel of its own (Streamable HTTP). */
export interface ExchangeUpstream {
  readonly channel: 'exchange';
  readonly transport: string;
  /**
   * Sends one request and resolves with the head of its answer, whatever its status; only a redirect, 401 and 403 are
   * errors. An answer that comes before the message is sent is read like any other; if it refuses, the rest is not sent.
   * @param signal ends the request, and later its body, with the signal's reason when that is a GatewayError and with
   *   `upstream_closed` otherwise
   * @throws GatewayError `upstream_unreachable`, `upstream_timeout`, `upstream_closed`, `upstream_invalid`,
   *   `upstream_unauthorized`, `upstream_coding`, `connection_limit`, `internal` when a streamed message has another length than it says; what
   *   the source of a streamed message failed with, as it is
   */
  open(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer>;
  /**
   * Resolves when the upstream can be reached, for readiness. Nothing is sent to it.
   * @throws GatewayError `upstream_unreachable`
   */
  check(): Promise<void>;
  /** Breaks every exchange under way and closes every connection. */
  close(): Promise<void>;
}

/** One session's channel to an upstream on which every message of that session travels (stdio, legacy SSE). */
export interface SharedConnection {
  readonly kind: 'lines' | 'sse';
  /**
   * Everything the upstream says, as bytes. When the upstream ends the connection it ends, or errs with a GatewayError
   * (`upstream_closed`) after the last byte received; a process never just ends. After `close()` it errs no more.
   */
  readonly body: Readable;
  /**
   * Sends one message; resolves when the upstream took it. On `lines` held messages arrive in the order of the calls,
   * before streamed ones that wait for their turn, and line breaks between JSON tokens become blanks; on `sse` whoever
   * needs an order waits for the promise. When the source of a streamed message fails, the upstream gets no message, and
   * the connection lives on.
   * @throws GatewayError `upstream_closed`, `upstream_unreachable`, `upstream_timeout`, `upstream_refused`,
   *   `upstream_unauthorized`, `upstream_invalid`, `connection_limit`, `internal` when a streamed message has another length than it says; what
   *   the source of a streamed message failed with, as it is
   */
  send(message: OutgoingMessage): Promise<void>;
  /** Ends the connection; for stdio the whole process group is gone when it resolves. Safe to call again. */
  close(): Promise<void>;
}

export interface SharedUpstream {
  readonly channel: 'shared';
  readonly transport: string;
  /**
   * Opens the channel of one session: starts the process, or opens the event stream and learns the POST address.
   * @param signal gives the opening up; the open connection no longer listens to it
   * @param principal whose session it is, and whose share of processes and connections it takes
   * @throws GatewayError `upstream_unreachable`, `upstream_timeout`, `upstream_closed`, `upstream_refused`,
   *   `upstream_unauthorized`, `upstream_invalid`, `upstream_coding`, `process_limit`, `connection_limit`
   */
  connect(signal: AbortSignal, principal?: string): Promise<SharedConnection>;
  /**
   * Resolves when the upstream can be reached, for readiness: a TCP or TLS connection, or the program's file.
   * @throws GatewayError `upstream_unreachable`
   */
  check(): Promise<void>;
  /** Ends every connection; of stdio servers no process is left when it resolves. */
  close(): Promise<void>;
}

export type Upstream = ExchangeUpstream | SharedUpstream;
