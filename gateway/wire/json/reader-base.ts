import { MarkFilter } from '../byte-order-mark.js';
import { WireError } from '../errors.js';
import type { MessageReader, ReaderOptions } from './handler.js';
import { HeldMessage, type HoldRules } from './held-message.js';
import { Tokenizer } from './tokenizer.js';

/**
 * The common part of the three readers: holds the current message, drops a byte order mark, and reads nothing after a
 * failure.
 */
export abstract class ReaderBase implements MessageReader {
  protected readonly options: ReaderOptions;
  protected readonly tokenizer: Tokenizer;
  protected message: HeldMessage | undefined;
  /** Bytes of the body before the current chunk. */
  protected consumed = 0;
  /** How many messages, comments and lines of noise the current `feed` may still deliver. */
  protected mayDeliver = Number.POSITIVE_INFINITY;
  readonly #rules: HoldRules;
  readonly #mark = new MarkFilter();
  #closed = false;

  constructor(options: ReaderOptions) {
    const { handler, maxHeld = Number.POSITIVE_INFINITY, holds = true } = options;
    this.options = options;
    this.tokenizer = new Tokenizer(options);
    this.#rules = {
      maxHeld,
      holds,
      onHeld: handler.held && ((delta, message) => handler.held?.(delta, message)),
      onLimit: handler.limit && ((error, message) => handler.limit?.(error, message)),
    };
  }

  get inMessage(): boolean {
    return this.message !== undefined;
  }

  feed(chunk: Buffer): Buffer | undefined {
    if (this.#closed) throw new WireError('closed', 'fed after the end', this.consumed);
    // stays true when the next line throws
    this.#closed = true;
    const rest = this.#take(this.#mark.isOver ? chunk : this.#mark.filter(chunk));
    this.#closed = false;
    return rest;
  }

  end(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#take(this.#mark.end());
    this.finish();
  }

  #take(bytes: Buffer): Buffer | undefined {
    if (bytes.length === 0) return undefined;
    this.mayDeliver = this.options.mostAtOnce ?? Number.POSITIVE_INFINITY;
    this.tokenizer.use(bytes);
    const read = this.read(bytes);
    this.consumed += read;
    return read < bytes.length ? bytes.subarray(read) : undefined;
  }

  /** @returns how many bytes it has read: all, unless `mayDeliver` is used up */
  protected abstract read(chunk: Buffer): number;
  protected abstract finish(): void;

  protected begin(): HeldMessage {
    const message = new HeldMessage(this.#rules);
    this.message = message;
    this.tokenizer.begin(message);
    return message;
  }

  /** The current message is complete. */
  protected deliver(): void {
    const message = this.message as HeldMessage;
    this.message = undefined;
    this.mayDeliver -= 1;
    this.options.handler.message(message);
  }
}
