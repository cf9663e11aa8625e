import type { HeldBudget } from '../../budget/held.js';
import { asGatewayError, GatewayError } from '../../errors.js';
import type { Piece } from '../../json/written.js';
import { knownId } from '../../mcp/responses.js';
import type { Owner } from '../../ports/owner.js';
import { GatheredBytes } from '../cut/gathered-bytes.js';
import type { MessageFacts, Reply, ReplyHead } from '../reply.js';

interface CollectOptions {
  /** Id of the only request whose answer is wanted, as JSON text. */
  id: string;
  held: HeldBudget;
  /** The owner whose share of `limits.held` the answer takes. */
  owner: Owner;
  /** Most bytes of the answer, if it is not for a client, and the limit's name. */
  most?: { limit: string; bytes: number };
  /** The client's own reply, which this one replaces: it is observed, and aborted with this one. */
  instead?: Reply;
  /** Called once, when the answer is there, or when no usable answer will follow. */
  enough?: () => void;
}

/**
 * An answer that Wharf itself uses: to an exchange of its own, or one that its client gets in another form. It keeps
 * only the message that answers the request, counted against `limits.held` until it is released.
 */
export class CollectedReply implements Reply {
  readonly takesBodies = false;
  readonly pressure = undefined;
  readonly #options: CollectOptions;
  readonly #bytes = new GatheredBytes();
  #counted = 0;
  #isWhole = false;
  #isOver = false;
  #head: ReplyHead | undefined;
  /** Why no answer is kept. */
  failure: GatewayError | undefined;

  constructor(options: CollectOptions) {
    this.#options = options;
  }

  get begun(): boolean {
    return this.#head !== undefined;
  }

  get gone(): boolean {
    return this.#isOver || this.#options.instead?.gone === true;
  }

  get written(): number {
    return this.#bytes.size;
  }

  /** The head, once it was given. */
  get headGiven(): ReplyHead | undefined {
    return this.#head;
  }

  /** The answer, once it is complete. */
  get answer(): Buffer | undefined {
    return this.#isWhole ? this.#bytes.whole() : undefined;
  }

  /** Releases the answer. */
  release(): void {
    const counted = this.#counted;
    this.#counted = 0;
    this.#bytes.clear();
    this.#options.held.add(-counted, this.#options.owner);
  }

  head(head: ReplyHead): void {
    this.#head = head;
  }

  message(pieces: readonly Piece[], { answers = [] }: MessageFacts = {}): Promise<void> | undefined {
    const { id } = this.#options;
    const wanted = new Set([id]);
    if (this.gone || this.failure || this.#isWhole) return undefined;
    if (!answers.some((answer) => knownId(wanted, answer) === id)) return undefined;
    if (!pieces.every(Buffer.isBuffer)) return this.#gather(pieces);
    for (const bytes of pieces) this.#keep(bytes);
    this.#complete();
    return undefined;
  }

  event(): undefined {}

  comment(): undefined {}

  space(): undefined {}

  all(head: ReplyHead, body?: Buffer, answers: readonly string[] = []): void {
    this.head(head);
    if (body) this.message([body], { answers });
    this.end();
  }

  only(head: ReplyHead, pieces: readonly Buffer[], { answers }: MessageFacts): void {
    this.all(head, Buffer.concat(pieces), answers);
  }

  end(): void {
    this.#isOver = true;
  }

  abort(): void {
    this.#isOver = true;
    this.#options.instead?.abort();
  }

  onClose(listener: () => void): void {
    this.#options.instead?.onClose(listener);
  }

  async #gather(pieces: readonly Piece[]): Promise<void> {
    for (const piece of pieces) {
      if (Buffer.isBuffer(piece)) this.#keep(piece);
      else for await (const bytes of piece()) if (!this.#keep(bytes)) break;
      if (this.failure) break;
    }
    this.#complete();
  }

  /** Returns false when nothing more is kept. */
  #keep(bytes: Buffer): boolean {
    if (this.failure) return false;
    const { most, held, owner } = this.#options;
    const actual = this.#bytes.size + bytes.length;
    this.#counted += bytes.length;
    try {
      held.add(bytes.length, owner);
      if (most && actual > most.bytes)
        throw new GatewayError('response_too_large', { limit: most.limit, allowed: most.bytes, actual });
      this.#bytes.add(bytes);
    } catch (error) {
      this.failure = asGatewayError(error);
    }
    return this.failure === undefined;
  }

  #complete(): void {
    this.#isWhole = this.failure === undefined;
    this.#options.enough?.();
  }
}
