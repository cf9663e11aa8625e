import type { Piece } from '../json/written.js';
import type { FrameFields } from '../wire/sse/frame.js';

/** A session that an answer opens. */
export interface OpenedSession {
  id: string;
  /** Negotiated MCP version. */
  version: string;
  /** As in `Session`. */
  channel: 'exchange' | 'shared';
}

/** The beginning of an answer. */
export interface ReplyHead {
  status: number;
  /** The kind of body: messages as events, as consecutive JSON values, as the items of an array, or something else. */
  body: 'events' | 'values' | 'batch' | 'other';
  /** Further headers of a reply over HTTP. */
  headers?: Record<string, string | string[]>;
  session?: OpenedSession | undefined;
  /** The body may take long: tell the client at once that its answer is coming. */
  isEarly?: boolean;
}

/** Facts about a message besides its bytes. */
export interface MessageFacts {
  /** Ids of the requests that it answers, as JSON text. */
  answers?: readonly string[];
  /** If it is a server's request to ask its client's user: the id, as JSON text. */
  asks?: string | undefined;
  frame?: FrameFields | undefined;
  /** Of broken JSON that passes as it came, which a reader of a body sees by itself: ids of the requests that it would answer. */
  broken?: readonly string[] | undefined;
  /** It is a message of Wharf's own, which no server has sent. */
  isOwn?: boolean;
}

/**
 * How the relay answers an exchange, for every kind of client: as HTTP, as lines, or collected for Wharf's own
 * requests. A write returns a promise while the client does not read, the same one for everything written meanwhile.
 * The writer awaits it before the next write, and until then counts what it has written.
 */
export interface Reply {
  /** True once a head has been given, which can no longer be changed. */
  readonly begun: boolean;
  /** True when nothing can reach the client from now on: it has left, or its answer is complete. */
  readonly gone: boolean;
  /** Bytes written after the head. */
  readonly written: number;
  /** Set while the client does not read. Never rejects. */
  readonly pressure: Promise<void> | undefined;
  /** True when a body can be sent as its server wrote it. Otherwise only messages can, one by one. */
  readonly takesBodies: boolean;
  /** The place where all replies of a client write their messages, if there is one: its standard output. */
  readonly output?: object | undefined;
  head(head: ReplyHead): void;
  /** @throws the error of a piece that is made while it is written; the reply is then aborted */
  message(pieces: readonly Piece[], facts?: MessageFacts): Promise<void> | undefined;
  /** A frame without a message: a priming event, or a `retry` alone. */
  event(frame: FrameFields): Promise<void> | undefined;
  comment(bytes: Buffer): Promise<void> | undefined;
  /** Whitespace between JSON values. */
  space(bytes: Buffer): Promise<void> | undefined;
  /** Head, body and end in one. A body is one message or, if `takesBodies`, anything. */
  all(head: ReplyHead, body?: Buffer, answers?: readonly string[]): void;
  /** Head, the only message, and end in one. */
  only(head: ReplyHead, pieces: readonly Buffer[], facts: MessageFacts): void;
  /** The answer is complete. */
  end(): void;
  /** Aborts it, so that the client sees that it is incomplete. */
  abort(): void;
  /** @param listener called once, when all is written or nothing more will be; not if that is so already */
  onClose(listener: () => void): void;
}
