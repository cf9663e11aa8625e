import type { WireError } from '../errors.js';
import type { HeldMessage, SlotValue, WatchRange } from './held-message.js';
import type { WatchTree } from './watch-tree.js';

/**
 * Takes the raw bytes between the quotes of a cut string, JSON escapes still raw, cut anywhere. Control characters and
 * escapes are the sink's to judge. When the body ends or the message is discarded inside the string, `end` never comes.
 */
export interface SlotSink {
  write(chunk: Buffer, start: number, end: number): void;
  end(): void;
}

/** Whatever a handler throws comes out of `feed` or `end`, and the reader is of no use afterwards. */
export interface MessageHandler {
  /** A string at a slot has grown to `slotMin` raw bytes. What has been seen of it comes with the first writes. */
  slot(value: SlotValue, message: HeldMessage): SlotSink;
  /** A watched value is complete and held, apart from its cut strings. */
  closed?(range: WatchRange, message: HeldMessage): void;
  /** Bytes newly held (+) or given back (-). A finished message's bytes are given back by `discard()` only. */
  held?(delta: number, message: HeldMessage): void;
  /** A message passed `maxHeld` or `maxDepth`. Unless it is discarded here, `feed` throws the error. */
  limit?(error: WireError, message: HeldMessage): void;
  /** A top-level JSON value, an SSE frame or a line is complete, or known to be malformed to its end. */
  message(message: HeldMessage): void;
  /** Whitespace around the values of a `json` body. NDJSON clients wait for the newline: forward it at once. */
  space?(bytes: Buffer): void;
  /** An SSE comment line, without its colon. */
  comment?(bytes: Buffer): void;
  /** A line that does not begin like a message: the first `MAX_NOISE` bytes of it. */
  noise?(line: Buffer): void;
}

export interface ReaderOptions {
  tree: WatchTree;
  handler: MessageHandler;
  /** Bytes one message may hold. */
  maxHeld: number;
  /** Containers that may be open at one time. */
  maxDepth: number;
  /** Raw bytes from which on a string at a slot is cut; shorter ones stay in the message. */
  slotMin: number;
  /** False where the text is at hand anyway and only places in it are asked for: then nothing is held. Default true. */
  holds?: boolean;
}

export interface MessageReader {
  /**
   * Chunks are held by reference where that saves memory: they must not be written to afterwards.
   * @throws WireError `held`, `depth`, `closed`; and whatever a handler throws
   */
  feed(chunk: Buffer): void;
  /** The body is over. @throws WireError `truncated` inside a value; an unfinished SSE frame is dropped instead */
  end(): void;
  /** True inside a message, also after `end`: what has been reported of it will not be completed. */
  readonly inMessage: boolean;
}
