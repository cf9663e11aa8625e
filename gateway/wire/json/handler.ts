import type { WireError } from '../errors.js';
import type { HeldMessage, SlotValue, WatchRange } from './held-message.js';
import type { WatchTree } from './watch-tree.js';

/**
 * Takes the raw bytes between the quotes of a cut string, in pieces, with JSON escapes still raw. The sink judges
 * control characters and escapes. When the body ends or the message is discarded inside the string, `end` is not
 * called.
 */
export interface SlotSink {
  write(chunk: Buffer, start: number, end: number): void;
  end(): void;
}

/** An error that a handler throws leaves `feed` or `end`; the reader cannot be used afterwards. */
export interface MessageHandler {
  /** A string at a slot has reached `slotMin` raw bytes. Its earlier bytes come with the first writes. Without it no string is cut. */
  slot?(value: SlotValue, message: HeldMessage): SlotSink;
  /** A watched value is complete and held, apart from its cut strings. */
  closed?(range: WatchRange, message: HeldMessage): void;
  /** Bytes newly held (+) or released (-). Only `discard()` releases the bytes of a finished message. */
  held?(delta: number, message: HeldMessage): void;
  /** A message passed `maxHeld` or `maxDepth`. Unless the handler discards it here, `feed` throws the error. */
  limit?(error: WireError, message: HeldMessage): void;
  /** A top-level JSON value, an SSE frame or a line is complete, or its malformed bytes have ended. */
  message(message: HeldMessage): void;
  /** Whitespace around the values of a `json` body. NDJSON clients wait for the newline: forward it at once. */
  space?(bytes: Buffer): void;
  /** An SSE comment line, without its colon. */
  comment?(bytes: Buffer): void;
  /** The first `MAX_NOISE` bytes of a line that does not begin like a message. */
  noise?(line: Buffer): void;
}

/** How a body is read, and within which limits. */
export interface ReaderOptions {
  tree: WatchTree;
  handler: MessageHandler;
  /** Most bytes that one message may hold. Default: no limit. */
  maxHeld?: number;
  /** Most containers that may be open at one time. Default: no limit. */
  maxDepth?: number;
  /** Raw length from which a string at a slot is cut; shorter ones stay in the message. Default: none is cut. */
  slotMin?: number;
  /**
   * Most messages that one `feed` delivers, with comments and lines that are not messages: a chunk may hold tens of
   * thousands. Default: no limit.
   */
  mostAtOnce?: number;
  /** False holds nothing: for a text that is in memory anyway, when only places in it are wanted. Default true. */
  holds?: boolean;
}

/** Reads the messages of one body, chunk by chunk. */
export interface MessageReader {
  /**
   * Chunks are held by reference where that saves memory; do not write to them afterwards.
   * @returns what is left of the chunk after `mostAtOnce` of them: feed it next
   * @throws WireError `held`, `depth`, `closed`; and any error that a handler throws
   */
  feed(chunk: Buffer): Buffer | undefined;
  /** Ends the body. @throws WireError `truncated` inside a value; an unfinished SSE frame is dropped instead */
  end(): void;
  /** True inside a message, also after `end`: what was reported of it will not be completed. */
  readonly inMessage: boolean;
}
