import { breathe, nextTurn } from '../../budget/turn.js';
import { GatewayError, tooDeep } from '../../errors.js';
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

/** Bytes handed to the reader in one go: the most that a part buffer's slack can take while its part is being sent. */
const MAX_FEED = 64 * 1024;

/**
 * Messages after which others have a turn: a chunk may hold thirty thousand of one byte, which take 0.4 s, or as many
 * comments, which take 0.15 s.
 */
const MOST_AT_ONCE = 1000;

/** A failed message is read to its end, so that the channel can continue, unless it is longer than this many files. */
const SKIPPED_FILES = 16;

interface CutReaderHandler {
  /** A message is complete. Its files may still be on their way: await `settle` first. */
  message(message: HeldMessage, cuts: MessageCuts): void;
  /** Whitespace between JSON values, to be forwarded at once. */
  space?(bytes: Buffer): void;
  /** An SSE comment. */
  comment?(bytes: Buffer): void;
  /** A line that is not a message. */
  noise?(line: Buffer): void;
  /** Set while messages wait that have been delivered; of a chunk with very many, the rest is then read later. */
  backlog?(): Promise<unknown> | undefined;
  /** Takes over a long string as it arrives; nothing of it is then kept or stored. */
  tap?(value: SlotValue, message: HeldMessage): SlotSink | undefined;
}

/** Reads an upstream body message by message, and cuts the long strings of file slots out into files. */
export class CutReader {
  readonly #reader: MessageReader;
  readonly #deps: CutDeps;
  readonly #owner: Owner;
  readonly #signal: AbortSignal;
  readonly #skipLimit: number;
  readonly #backlog: CutReaderHandler['backlog'];
  /** The cuts of the current message. */
  #current: MessageCuts | undefined;
  #skipped = 0;
  #isAbandoned = false;

  constructor(
    kind: Extract<BodyKind, 'json' | 'sse' | 'lines'>,
    deps: CutDeps & { tree: WatchTree; slotMin: number },
    handler: CutReaderHandler,
    { owner, signal }: { owner: Owner; signal: AbortSignal },
  ) {
    this.#deps = deps;
    this.#owner = owner;
    this.#signal = signal;
    this.#backlog = handler.backlog && (() => handler.backlog?.());
    this.#skipLimit = deps.limits.response + SKIPPED_FILES * deps.limits.file;
    this.#reader = createReader(kind, {
      tree: deps.tree,
      maxDepth: deps.limits.depth,
      // MessageCuts counts held bytes and inline strings together, and fails the message instead of the stream.
      maxHeld: Number.POSITIVE_INFINITY,
      slotMin: deps.slotMin,
      mostAtOnce: MOST_AT_ONCE,
      handler: {
        slot: (value, message) => handler.tap?.(value, message) ?? this.#cuts(message).open(value),
        closed: (range, message) => {
          if (range.name !== RANGE.holder) return;
          // a result may have a million small blocks; the range of one without a cut is not needed
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

  /** True inside a message: an end of the body would now cut it short. */
  get inMessage(): boolean {
    return this.#reader.inMessage;
  }

  /** The failure of the current message, if it has failed. */
  get failure(): GatewayError | undefined {
    return this.#current?.failure;
  }

  /**
   * The failure of the current message, if it is known to be an answer: a failed notification leaves no request
   * unanswered.
   */
  get failedAnswer(): GatewayError | undefined {
    return this.#current?.isAnswer ? this.#current.failure : undefined;
  }

  /**
   * Reads a chunk; afterwards `settle` says whether the source must wait.
   * @throws GatewayError when the body cannot be read further: too deep, or endless after its message has failed
   */
  feed(chunk: Buffer): Promise<void> | undefined {
    const rest = chunk.length > MAX_FEED ? undefined : this.#feedPiece(chunk);
    const fed = chunk.length > MAX_FEED ? this.#feedPieces(chunk) : rest && this.#feedRest(rest);
    // one that gives the body up for another reason does not await it
    fed?.catch(() => {});
    return fed;
  }

  async #feedRest(rest: Buffer): Promise<void> {
    await this.#backlog?.();
    await nextTurn(this.#owner);
    await this.#feedPieces(rest);
  }

  async #feedPieces(chunk: Buffer): Promise<void> {
    for (let at = 0; at < chunk.length; ) {
      const piece = chunk.subarray(at, at + MAX_FEED);
      const rest = this.#feedPiece(piece);
      at += piece.length - (rest?.length ?? 0);
      if (rest) await this.#backlog?.();
      await this.settle();
      await breathe(this.#owner);
    }
  }

  /** @returns the rest of a chunk with so many messages that others must have a turn before it is read */
  #feedPiece(chunk: Buffer): Buffer | undefined {
    // the rest of a chunk whose turn comes after the end would begin a message that nothing ends
    if (this.#isAbandoned) return undefined;
    let rest: Buffer | undefined;
    try {
      rest = this.#reader.feed(chunk);
    } catch (error) {
      throw this.#translate(error);
    }
    if (this.#current?.failure) {
      this.#skipped += chunk.length;
      if (this.#skipped > this.#skipLimit) throw this.#current.failure;
    }
    return rest;
  }

  /** Ends the body. @throws GatewayError `upstream_invalid` when it ends inside a message */
  async end(): Promise<void> {
    try {
      this.#reader.end();
    } catch (error) {
      throw this.#translate(error);
    }
    // an event stream may end inside a frame, which is then ignored
    this.abandon();
  }

  /** Set while the source must wait for the store or for memory. Never rejects. */
  settle(): Promise<unknown> | undefined {
    return this.#current?.settle();
  }

  /** Gives the body up and removes everything of an unfinished message. Nothing that follows is read. */
  abandon(): void {
    this.#isAbandoned = true;
    const current = this.#current;
    this.#current = undefined;
    if (!current) return;
    current.discardFiles();
    current.release();
  }

  /** A message stays accounted for after its last byte: what it held is released when it fails later. */
  #cuts(message: HeldMessage): MessageCuts {
    if (message.attachment instanceof MessageCuts) return message.attachment;
    const cuts = new MessageCuts(this.#deps, this.#owner, message, this.#signal);
    message.attachment = cuts;
    this.#current = cuts;
    return cuts;
  }

  #translate(error: unknown): unknown {
    if (!(error instanceof WireError)) return error;
    const { limits } = this.#deps;
    if (error.code === 'depth') return tooDeep(limits.depth, error);
    return new GatewayError('upstream_invalid', { reason: error.message }, error);
  }
}
