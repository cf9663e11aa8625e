import { breathe } from '../../budget/turn.js';
import { GatewayError } from '../../errors.js';
import { RANGE } from '../../mcp/ranges.js';
import type { Owner } from '../../ports/owner.js';
import type { BodyKind } from '../../ports/upstream.js';
import { WireError } from '../../wire/errors.js';
import {
  createReader,
  type HeldMessage,
  type MessageReader,
  type SlotSink,
  type SlotValue,
} from '../../wire/json/reader.js';
import type { WatchTree } from '../../wire/json/watch-tree.js';
import { type CutDeps, MessageCuts } from './message-cuts.js';

/** Bytes handed to the reader in one go: what a part buffer's slack can take while its part is being sent. */
const MAX_FEED = 64 * 1024;

/** A failed message is read on to its end, so that the channel lives on, unless it is longer than that many files. */
const SKIPPED_FILES = 16;

export interface CutReaderHandler {
  /** One message is complete; its files may still be on their way: wait for `settle` first. */
  message(message: HeldMessage, cuts: MessageCuts): void;
  /** Whitespace between JSON values, to be forwarded at once. */
  space?(bytes: Buffer): void;
  /** An SSE comment. */
  comment?(bytes: Buffer): void;
  /** A line that is no message. */
  noise?(line: Buffer): void;
  /** Takes a long string over while it arrives; nothing of it is kept or stored then. */
  tap?(value: SlotValue, message: HeldMessage): SlotSink | undefined;
}

/** Reads one upstream body message by message, with the long strings of file slots cut out into files. */
export class CutReader {
  readonly #reader: MessageReader;
  readonly #deps: CutDeps;
  readonly #owner: Owner;
  readonly #signal: AbortSignal;
  readonly #skipLimit: number;
  /** A message is still accounted for after its last byte: what it held is given back when it fails late. */
  readonly #known = new WeakMap<HeldMessage, MessageCuts>();
  /** Of the message being read now. */
  #current: MessageCuts | undefined;
  #skipped = 0;

  constructor(
    kind: Extract<BodyKind, 'json' | 'sse' | 'lines'>,
    deps: CutDeps & { tree: WatchTree; slotMin: number },
    owner: Owner,
    handler: CutReaderHandler,
    signal: AbortSignal,
  ) {
    this.#deps = deps;
    this.#owner = owner;
    this.#signal = signal;
    this.#skipLimit = deps.limits.response + SKIPPED_FILES * deps.limits.file;
    this.#reader = createReader(kind, {
      tree: deps.tree,
      maxDepth: deps.limits.depth,
      // MessageCuts counts held bytes and inline strings together, and fails the message instead of the stream.
      maxHeld: Number.POSITIVE_INFINITY,
      slotMin: deps.slotMin,
      handler: {
        slot: (value, message) => handler.tap?.(value, message) ?? this.#cuts(message).open(value),
        closed: (range, message) => {
          if (range.name !== RANGE.holder) return;
          // a result may well have a million small blocks: without a cut in them nobody asks where they stand
          if (message.slots.length === 0 || !this.#cuts(message).closed(range)) message.forgetRange();
        },
        held: (delta, message) => {
          this.#cuts(message).account(delta);
        },
        limit: (error, message) => this.#cuts(message).fail(this.#translate(error)),
        message: (message) => {
          const cuts = this.#cuts(message);
          this.#current = undefined;
          this.#skipped = 0;
          handler.message(message, cuts);
        },
        space: (bytes) => handler.space?.(bytes),
        comment: (bytes) => handler.comment?.(bytes),
        noise: (line) => handler.noise?.(line),
      },
    });
  }

  /** True when the body stands inside a message, so that its end now would cut the message short. */
  get inMessage(): boolean {
    return this.#reader.inMessage;
  }

  /** The failure of the message being read, if it has failed already. */
  get failure(): GatewayError | undefined {
    return this.#current?.failure;
  }

  /** The same where the message is known to be an answer: a notification that fails takes nobody's answer away. */
  get failedAnswer(): GatewayError | undefined {
    return this.#current?.isAnswer ? this.#current.failure : undefined;
  }

  /**
   * Reads a chunk; afterwards `settle` says whether the source must wait.
   * @throws GatewayError when the body cannot be read on: too deep, or endless after its message has failed
   */
  feed(chunk: Buffer): Promise<void> | undefined {
    if (chunk.length <= MAX_FEED) {
      this.#feedPiece(chunk);
      return undefined;
    }
    return this.#feedPieces(chunk);
  }

  async #feedPieces(chunk: Buffer): Promise<void> {
    for (let at = 0; at < chunk.length; at += MAX_FEED) {
      this.#feedPiece(chunk.subarray(at, at + MAX_FEED));
      await this.settle();
      await breathe();
    }
  }

  #feedPiece(chunk: Buffer): void {
    try {
      this.#reader.feed(chunk);
    } catch (error) {
      throw this.#translate(error);
    }
    if (this.#current?.failure) {
      this.#skipped += chunk.length;
      if (this.#skipped > this.#skipLimit) throw this.#current.failure;
    }
  }

  /** The body is over. @throws GatewayError `upstream_closed` facts are the caller's: here `upstream_invalid` */
  async end(): Promise<void> {
    try {
      this.#reader.end();
    } catch (error) {
      throw this.#translate(error);
    }
    // an event stream may end inside a frame, which then counts for nothing
    this.abandon();
  }

  /** Set while the source must wait for the store or for memory. Never rejects. */
  settle(): Promise<unknown> | undefined {
    return this.#current?.settle();
  }

  /** The body is given up: nothing of an unfinished message stays behind. */
  abandon(): void {
    const current = this.#current;
    this.#current = undefined;
    if (!current) return;
    current.discardFiles();
    current.release();
  }

  #cuts(message: HeldMessage): MessageCuts {
    const known = this.#known.get(message);
    if (known) return known;
    const cuts = new MessageCuts(this.#deps, this.#owner, message, this.#signal);
    this.#known.set(message, cuts);
    this.#current = cuts;
    return cuts;
  }

  #translate(error: unknown): unknown {
    if (!(error instanceof WireError)) return error;
    const { limits } = this.#deps;
    if (error.code === 'depth')
      return new GatewayError('too_deep', { limit: 'limits.depth', allowed: limits.depth }, error);
    return new GatewayError('upstream_invalid', { reason: error.message }, error);
  }
}
