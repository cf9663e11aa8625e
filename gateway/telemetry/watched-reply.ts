import type { Piece } from '../relay/cut/splice.js';
import type { MessageFacts, Reply, ReplyHead } from '../relay/reply.js';
import type { FrameFields } from '../wire/sse/frame.js';
import { MAX_READ_BYTES, type Outcome, outcomesIn } from './outcome.js';

/** Passes everything on to the client's own reply, and sees which of its requests fail. */
export class WatchedReply implements Reply {
  /** Of the requests that have failed, by their ids as JSON text. */
  readonly outcomes = new Map<string, Outcome>();
  readonly #reply: Reply;

  constructor(reply: Reply) {
    this.#reply = reply;
  }

  get begun(): boolean {
    return this.#reply.begun;
  }

  get gone(): boolean {
    return this.#reply.gone;
  }

  get written(): number {
    return this.#reply.written;
  }

  get pressure(): Promise<void> | undefined {
    return this.#reply.pressure;
  }

  get takesBodies(): boolean {
    return this.#reply.takesBodies;
  }

  head(head: ReplyHead): void {
    this.#reply.head(head);
  }

  message(pieces: readonly Piece[], facts?: MessageFacts): Promise<void> | undefined {
    // what a file is spliced into is a result
    if (facts?.answers && facts.answers.length > 0 && pieces.every(Buffer.isBuffer)) this.#note(pieces as Buffer[]);
    return this.#reply.message(pieces, facts);
  }

  event(frame: FrameFields): Promise<void> | undefined {
    return this.#reply.event(frame);
  }

  comment(bytes: Buffer): Promise<void> | undefined {
    return this.#reply.comment(bytes);
  }

  space(bytes: Buffer): Promise<void> | undefined {
    return this.#reply.space(bytes);
  }

  all(head: ReplyHead, body?: Buffer, answers?: readonly string[]): void {
    if (body) this.#note([body]);
    this.#reply.all(head, body, answers);
  }

  end(): void {
    this.#reply.end();
  }

  abort(): void {
    this.#reply.abort();
  }

  onClose(listener: () => void): void {
    this.#reply.onClose(listener);
  }

  #note(pieces: readonly Buffer[]): void {
    const size = pieces.reduce((sum, { length }) => sum + length, 0);
    if (size > MAX_READ_BYTES) return;
    for (const [id, outcome] of outcomesIn(Buffer.concat(pieces, size))) this.outcomes.set(id, outcome);
  }
}
