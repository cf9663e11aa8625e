import type { Piece } from '../json/written.js';
import type { FrameFields } from '../wire/sse/frame.js';
import type { MessageFacts, Reply, ReplyHead } from './reply.js';

/** Passes everything on to the client's own reply. For those that see or change some of it. */
export class PassedReply implements Reply {
  protected readonly reply: Reply;

  constructor(reply: Reply) {
    this.reply = reply;
  }

  get begun(): boolean {
    return this.reply.begun;
  }

  get gone(): boolean {
    return this.reply.gone;
  }

  get written(): number {
    return this.reply.written;
  }

  get pressure(): Promise<void> | undefined {
    return this.reply.pressure;
  }

  get takesBodies(): boolean {
    return this.reply.takesBodies;
  }

  get output(): object | undefined {
    return this.reply.output;
  }

  head(head: ReplyHead): void {
    this.reply.head(head);
  }

  message(pieces: readonly Piece[], facts?: MessageFacts): Promise<void> | undefined {
    return this.reply.message(pieces, facts);
  }

  event(frame: FrameFields): Promise<void> | undefined {
    return this.reply.event(frame);
  }

  comment(bytes: Buffer): Promise<void> | undefined {
    return this.reply.comment(bytes);
  }

  space(bytes: Buffer): Promise<void> | undefined {
    return this.reply.space(bytes);
  }

  all(head: ReplyHead, body?: Buffer, answers?: readonly string[]): void {
    this.reply.all(head, body, answers);
  }

  only(head: ReplyHead, pieces: readonly Buffer[], facts: MessageFacts): void {
    this.reply.only(head, pieces, facts);
  }

  end(): void {
    this.reply.end();
  }

  abort(): void {
    this.reply.abort();
  }

  onClose(listener: () => void): void {
    this.reply.onClose(listener);
  }
}
