import type { Piece } from '../../json/written.js';
import type { FrameFields } from '../../wire/sse/frame.js';
import { PassedReply } from '../passed-reply.js';
import type { MessageFacts, ReplyHead } from '../reply.js';

/** A client knows soon that its answer is coming: a head that waits longer for its message is sent alone. */
export const HEAD_WAIT_MS = 1000;

/** Most bytes of an answer that is written together with its head and its end; a longer one would be copied for it. */
export const MAX_WHOLE_BYTES = 64 * 1024;

/** The only message so far. */
interface OnlyMessage {
  pieces: Buffer[];
  size: number;
  facts: MessageFacts;
}

/**
 * For an answer that is short and complete, but is read through before it is sent. Its head waits for its message, and
 * the message for the end: one write instead of three, 18 of a call's 205 µs. Any other call sends both first.
 */
export class LateHead extends PassedReply {
  #head: ReplyHead | undefined;
  #only: OnlyMessage | undefined;
  #timer: NodeJS.Timeout | undefined;

  override get begun(): boolean {
    return this.#head !== undefined || this.reply.begun;
  }

  override head(head: ReplyHead): void {
    this.#head = head;
    this.#timer = setTimeout(() => this.#send(true), HEAD_WAIT_MS);
  }

  override message(pieces: readonly Piece[], facts: MessageFacts = {}): Promise<void> | undefined {
    const only = this.#head && !this.#only ? onlyMessage(pieces, facts) : undefined;
    if (only) {
      this.#only = only;
      return undefined;
    }
    const slow = this.#send();
    return slow ? slow.then(() => this.reply.message(pieces, facts)) : this.reply.message(pieces, facts);
  }

  override event(frame: FrameFields): Promise<void> | undefined {
    this.#send();
    return this.reply.event(frame);
  }

  override comment(bytes: Buffer): Promise<void> | undefined {
    this.#send();
    return this.reply.comment(bytes);
  }

  override space(bytes: Buffer): Promise<void> | undefined {
    // many servers end their JSON with a line feed
    if (this.#only && this.#only.size + bytes.length <= MAX_WHOLE_BYTES) {
      this.#only.pieces.push(bytes);
      this.#only.size += bytes.length;
      return undefined;
    }
    this.#send();
    return this.reply.space(bytes);
  }

  override end(): void {
    const head = this.#head;
    const only = this.#only;
    if (head && only && !this.gone) {
      this.#clear();
      this.reply.only(head, only.pieces, only.facts);
    } else this.#send();
    this.reply.end();
  }

  override abort(): void {
    const held = this.#only !== undefined && !this.gone;
    this.#send();
    // what is written in this turn leaves with its end: the client still gets the message that came before the fault
    if (held) setImmediate(() => this.reply.abort());
    else this.reply.abort();
  }

  /** @param isEarly nothing follows at once */
  #send(isEarly = false): Promise<void> | undefined {
    const head = this.#head;
    const only = this.#only;
    this.#clear();
    if (!head || this.gone) return undefined;
    this.reply.head({ ...head, isEarly });
    return only && this.reply.message(only.pieces, only.facts);
  }

  #clear(): void {
    clearTimeout(this.#timer);
    this.#head = undefined;
    this.#only = undefined;
  }
}

function onlyMessage(pieces: readonly Piece[], facts: MessageFacts): OnlyMessage | undefined {
  if (!facts.answers?.length || !pieces.every(Buffer.isBuffer)) return undefined;
  const whole = [...pieces];
  const size = whole.reduce((sum, { length }) => sum + length, 0);
  return size <= MAX_WHOLE_BYTES ? { pieces: whole, size, facts } : undefined;
}
