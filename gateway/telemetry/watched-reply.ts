import type { Piece } from '../relay/cut/splice.js';
import { PassedReply } from '../relay/passed-reply.js';
import type { MessageFacts, ReplyHead } from '../relay/reply.js';
import { MAX_READ_BYTES, type Outcome, outcomesIn } from './outcome.js';

/** Sees which of the client's requests fail. */
export class WatchedReply extends PassedReply {
  /** Of the requests that have failed, by their ids as JSON text. */
  readonly outcomes = new Map<string, Outcome>();

  override message(pieces: readonly Piece[], facts?: MessageFacts): Promise<void> | undefined {
    // what a file is spliced into is a result
    if (facts?.answers && facts.answers.length > 0 && pieces.every(Buffer.isBuffer)) this.#note(pieces as Buffer[]);
    return super.message(pieces, facts);
  }

  override all(head: ReplyHead, body?: Buffer, answers?: readonly string[]): void {
    if (body) this.#note([body]);
    super.all(head, body, answers);
  }

  override only(head: ReplyHead, pieces: readonly Buffer[], answers: readonly string[]): void {
    this.#note(pieces);
    super.only(head, pieces, answers);
  }

  #note(pieces: readonly Buffer[]): void {
    const size = pieces.reduce((sum, { length }) => sum + length, 0);
    if (size > MAX_READ_BYTES) return;
    for (const [id, outcome] of outcomesIn(Buffer.concat(pieces, size))) this.outcomes.set(id, outcome);
  }
}
