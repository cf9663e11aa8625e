import type { Piece } from '../json/written.js';
import { PassedReply } from '../relay/passed-reply.js';
import type { MessageFacts, Reply, ReplyHead } from '../relay/reply.js';
import { GOOD, MAX_READ_BYTES, type Outcome, outcomesIn, requestIn } from './outcome.js';
import type { AskedClient } from './server-requests.js';

/** Most answers that are noted of one exchange: more than a batch has requests, and a server may send them for ever. */
const MOST_OUTCOMES = 2000;

/** Characters of an id that may be a client's: a client's own has at most 1024 bytes, and a server may write any other. */
const LONGEST_ID = 1024;

/** Sees which of the client's requests fail, and what the client itself is asked. */
export class WatchedReply extends PassedReply {
  readonly #asked: (request: AskedClient) => void;
  /** Of the requests that are answered, by their ids as JSON text. */
  readonly outcomes = new Map<string, Outcome>();

  /** @param asked called with each request that goes to the client */
  constructor(reply: Reply, asked: (request: AskedClient) => void) {
    super(reply);
    this.#asked = asked;
  }

  /** What has gone on its way is an answer, even if its client closes the connection as soon as it has it. */
  #noteAnswers(answers: readonly string[] | undefined): void {
    if (this.gone) return;
    for (const id of answers ?? []) if (!this.outcomes.has(id)) this.#keep(id, GOOD);
  }

  #keep(id: string, outcome: Outcome): void {
    if (id.length > LONGEST_ID) return;
    if (this.outcomes.size < MOST_OUTCOMES || this.outcomes.has(id)) this.outcomes.set(id, outcome);
  }

  override message(pieces: readonly Piece[], facts?: MessageFacts): Promise<void> | undefined {
    // what a file is spliced into is a result
    if (pieces.every(Buffer.isBuffer)) {
      if (facts?.answers && facts.answers.length > 0) this.#note(pieces as Buffer[]);
      else this.#noteAsked(pieces as Buffer[], facts?.isOwn === true);
      // a file that is read while it is written may still break off
      this.#noteAnswers(facts?.answers);
    }
    return super.message(pieces, facts);
  }

  override all(head: ReplyHead, body?: Buffer, answers?: readonly string[]): void {
    if (body) this.#note([body]);
    this.#noteAnswers(answers);
    super.all(head, body, answers);
  }

  override only(head: ReplyHead, pieces: readonly Buffer[], facts: MessageFacts): void {
    this.#note(pieces);
    this.#noteAnswers(facts.answers);
    super.only(head, pieces, facts);
  }

  #noteAsked(pieces: readonly Buffer[], isOwn: boolean): void {
    const size = pieces.reduce((sum, { length }) => sum + length, 0);
    if (size > MAX_READ_BYTES) return;
    const request = requestIn(Buffer.concat(pieces, size));
    if (request) this.#asked({ ...request, isOwn });
  }

  #note(pieces: readonly Buffer[]): void {
    const size = pieces.reduce((sum, { length }) => sum + length, 0);
    if (size > MAX_READ_BYTES) return;
    for (const [id, outcome] of outcomesIn(Buffer.concat(pieces, size))) this.#keep(id, outcome);
  }
}
