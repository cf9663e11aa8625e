import type { Readable } from 'node:stream';
import type { Identity } from './identity.js';

/**
 * The format of an answer's bytes: one or more JSON values, SSE frames, one JSON value per line, anything else, or
 * nothing. An adapter declares it, but never parses JSON itself.
 */
export type BodyKind = 'json' | 'sse' | 'lines' | 'bytes' | 'none';

/** A message too long to be held: its exact length, and its bytes, readable repeatedly. */
export interface StreamedMessage {
  /** Bytes. A source that yields fewer or more is a fault; the upstream is then kept from accepting the message. */
  length: number;
  /**
   * Each call begins at the first byte. An abandoned iterator gets `return`, so that it can clean up. A yielded piece
   * does not change later, unless it is released.
   */
  read(): AsyncIterable<Buffer>;
  /** Takes a piece back that has been sent: its memory may be used again. Calling it is not required. */
  release?(piece: Buffer): void;
}

/** A message to an upstream: whole, or read while it is sent. */
export type OutgoingMessage = Buffer | StreamedMessage;

/** One HTTP request to an upstream. */
export interface UpstreamRequest {
  method: 'POST' | 'GET' | 'DELETE';
  /**
   * Lower-case names. The adapter adds Host, framing, Accept-Encoding and the operator's own headers, which override
   * these.
   */
  headers: Record<string, string>;
  /**
   * The message, for POST. A streamed one is read as fast as the upstream takes it, and a second time if the connection
   * had been closed as idle.
   */
  body?: OutgoingMessage;
  /** The principal whose share of `limits.connections` it takes. */
  principal?: string;
  /** Who it is sent for, where the server is told; absent for what Wharf asks for itself. */
  identity?: Identity;
  /** Path and query on the server's own origin, instead of the configured one. */
  path?: string;
  /** `answer`: a redirect is returned like any other answer; otherwise it is an error. */
  redirects?: 'answer';
  /** `answer`: 401 and 403 are returned like any other answer; otherwise they are errors. */
  refusals?: 'answer';
}

/** The head of an upstream's answer, and its body to be read. */
export interface UpstreamAnswer {
  status: number;
  /** As node:http reads them: lower-case names, repeats joined or dropped, `set-cookie` an array. Not filtered yet. */
  headers: Record<string, string | string[] | undefined>;
  kind: BodyKind;
  /**
   * Already decoded when the upstream used a content coding. Read it to its end or destroy it, unless `kind` is `none`:
   * then it is empty. A body that breaks off fails with a GatewayError: `upstream_closed`, `upstream_coding_limit`,
   * `held_full`, `upstream_invalid`, or the signal's reason. A body that ends without an error is complete, unless HTTP
   * framed it by the end of the connection: then only its content can show that.
   */
  body: Readable;
  /** Bytes of the body, if the upstream announced them, or all have arrived, and it used no coding. */
  contentLength?: number;
  /** All of the body, where it has arrived with the head and in no coding: a reader of it need not touch `body`. */
  whole?: Buffer;
  /** What it came on. `distrust`: it is an answer to another request, and no further one is to come from there. */
  connection?: { distrust(): void };
}

/** An upstream that answers each request on a channel of its own (Streamable HTTP). */
export interface ExchangeUpstream {
  readonly channel: 'exchange';
  readonly transport: string;
  /**
   * Sends one request and resolves with the head of its answer, whatever its status; only a redirect, 401, 403 and 407
   * are errors. An answer that comes before the message is sent is read like any other; if it refuses, the rest is not
   * sent.
   * @param signal ends the request, and later its body, with the signal's reason if that is a GatewayError, otherwise
   * with `upstream_closed`
   * @throws GatewayError `upstream_unreachable`, `upstream_timeout`, `upstream_closed`, `upstream_invalid`,
   * `upstream_unauthorized`, `upstream_coding`, `connection_limit`, `internal` when a streamed message differs from its
   * declared length; the error of a streamed message's source, unchanged
   */
  open(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamAnswer>;
  /**
   * Resolves when the upstream can be reached, for readiness. Sends nothing to it.
   * @throws GatewayError `upstream_unreachable`
   */
  check(): Promise<void>;
  /** Aborts every exchange under way and closes every connection. */
  close(): Promise<void>;
}

/** One session's channel to an upstream, which carries every message of that session (stdio, legacy SSE). */
export interface SharedConnection {
  readonly kind: 'lines' | 'sse';
  /** Of the process that the server is, for the log. */
  readonly pid?: number;
  /**
   * Everything the upstream sends, as bytes. When the upstream ends the connection, this ends, or fails with a
   * GatewayError (`upstream_closed`) after the last byte received; for a process it always fails. After `close()` it no
   * longer fails.
   */
  readonly body: Readable;
  /**
   * Sends one message; resolves when the upstream has taken it. On `lines`, held messages arrive in the order of the
   * calls, before streamed ones that wait for their turn, and line breaks between JSON tokens become blanks. On `sse`,
   * a caller that needs an order awaits each promise. When the source of a streamed message fails, the upstream gets no
   * message, and the connection stays open.
   * @throws GatewayError `upstream_closed`, `upstream_unreachable`, `upstream_timeout`, `upstream_refused`,
   * `upstream_unauthorized`, `upstream_invalid`, `connection_limit`, `internal` when a streamed message differs from
   * its declared length; the error of a streamed message's source, unchanged
   */
  send(message: OutgoingMessage): Promise<void>;
  /** Ends the connection. For stdio the whole process group is gone when it resolves. Safe to call again. */
  close(): Promise<void>;
}

/** An upstream with one channel for all messages of a session (stdio, legacy SSE). */
export interface SharedUpstream {
  readonly channel: 'shared';
  readonly transport: string;
  /**
   * Opens the channel of one session: starts the process, or opens the event stream and learns the POST address.
   * @param signal aborts the opening; the open connection no longer listens to it
   * @param principal owner of the session, whose share of processes and connections it takes
   * @throws GatewayError `upstream_unreachable`, `upstream_timeout`, `upstream_closed`, `upstream_refused`,
   * `upstream_unauthorized`, `upstream_invalid`, `upstream_coding`, `process_limit`, `connection_limit`
   */
  connect(signal: AbortSignal, principal?: string): Promise<SharedConnection>;
  /**
   * Resolves when the upstream can be reached, for readiness: opens a TCP or TLS connection, or finds the program's
   * file, whose last process has not ended by itself before it wrote anything.
   * @throws GatewayError `upstream_unreachable`
   */
  check(): Promise<void>;
  /** True as long as a program has not been started: `check` knows no more of it than its file. */
  readonly isUntried?: boolean;
  /** Ends every connection. When it resolves, no stdio server's process is left. */
  close(): Promise<void>;
}

/** A configured server, by the kind of channel that its transport has. */
export type Upstream = ExchangeUpstream | SharedUpstream;
