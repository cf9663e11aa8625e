import type { Piece } from '../json/written.js';
import { joined } from '../relay/client/joined.js';
import type { MessageFacts, OpenedSession, Reply, ReplyHead } from '../relay/reply.js';
import { onOneLine } from '../wire/blank.js';
import type { FrameFields } from '../wire/sse/frame.js';
import { type LineOutput, NEWLINE } from './output.js';

/** Most bytes kept of an error answer with its own status. */
const REFUSAL_BYTES = 64 * 1024;

/** CAN: JSON does not allow it, so no client accepts a line that ends with it as a message. */
const SPOILED = Buffer.from('\x18\n');

interface LineReplyOptions {
  output: LineOutput;
  /** A request was answered; called with its id as JSON text. */
  answered: (id: string) => void;
  /** The server has sent what is not a message. */
  dropped: () => void;
  /** The only answer to these requests cannot be read; called with their ids as JSON text. */
  unreadable?: ((ids: readonly string[]) => Promise<void>) | undefined;
}

/** Begins of a JSON-RPC message and of a batch, with the ends that leave nothing in them. */
const OPENING: ReadonlyMap<number | undefined, number> = new Map([
  [0x7b, 0x7d],
  [0x5b, 0x5d],
]);

/** What a header can carry (RFC 9110 §5.5), one character for each byte. */
const FIELD_VALUE = /^[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/;

/**
 * An event's id, as its bytes stand in a header. One that no header can carry is as none: a request with it would fail, and
 * one with an older id would bring events again.
 */
function asHeader(id: Buffer): string | undefined {
  const text = id.toString('latin1');
  return FIELD_VALUE.test(text) ? text : undefined;
}

const BLANKS: readonly number[] = [0x20, 0x09, 0x0a, 0x0d];

/** Whether it begins as a message does: other JSON is a text, a number, a word, or holds nothing. */
function mayBeMessage([first]: readonly Piece[]): boolean {
  if (!Buffer.isBuffer(first)) return true;
  const start = notBlank(first, 0);
  const end = OPENING.get(first[start]);
  return end !== undefined && first[notBlank(first, start + 1)] !== end;
}

function notBlank(bytes: Buffer, from: number): number {
  let at = from;
  while (BLANKS.includes(bytes[at] ?? -1)) at++;
  return at;
}

/**
 * Answers the client on standard output: each message becomes a line. Several replies write at the same time, so a line
 * begins when its turn has come, and its writer waits until then. There is no time limit for that: the writer may only
 * wait for its turn, and a host that does not read its own server harms no other caller.
 */
export class LineReply implements Reply {
  readonly takesBodies = false;
  readonly #options: LineReplyOptions;
  #head: ReplyHead | undefined;
  readonly #refusal: Buffer[] = [];
  /** Bytes that may still be kept of it. */
  #refusalRoom = REFUSAL_BYTES;
  #lastEventId: string | undefined;
  #retryMs: number | undefined;
  #written = 0;
  #isEnded = false;
  #isBroken = false;
  #isClosed = false;
  /** Set while lines wait for their turn, or are being written. */
  #tail: Promise<void> | undefined;
  /** Set while a line of this reply is being written: lets the next one begin. */
  #release: (() => void) | undefined;
  /** The last write, while the output is full. */
  #writing: Promise<void> | undefined;
  readonly #listeners: (() => void)[] = [];
  #begin: () => void = () => undefined;
  /** Resolves with its head, if one comes. */
  readonly opened = new Promise<void>((resolve) => {
    this.#begin = resolve;
  });
  /** Resolves when everything has been written, or nothing more will be. */
  readonly closed = new Promise<void>((resolve) => this.onClose(resolve));

  constructor(options: LineReplyOptions) {
    this.#options = options;
  }

  get status(): number {
    return this.#head?.status ?? 0;
  }

  get session(): OpenedSession | undefined {
    return this.#head?.session;
  }

  /** Where a broken event stream can be resumed. */
  get resumption(): { lastEventId: string; retryMs: number | undefined } | undefined {
    const lastEventId = this.#lastEventId;
    return lastEventId === undefined ? undefined : { lastEventId, retryMs: this.#retryMs };
  }

  /** The body of an error with its own status, which is not written to the client. */
  get refusal(): string | undefined {
    return this.#isRefusal ? Buffer.concat(this.#refusal).toString('utf8') : undefined;
  }

  /** True when the server answered successfully, but not with messages. */
  get hasNoMessages(): boolean {
    return this.#head?.body === 'other' && !this.#isRefusal;
  }

  get begun(): boolean {
    return this.#head !== undefined;
  }

  get gone(): boolean {
    return this.#isEnded || this.#isBroken;
  }

  get written(): number {
    return this.#written;
  }

  get pressure(): Promise<void> | undefined {
    return this.#tail;
  }

  get output(): LineOutput {
    return this.#options.output;
  }

  head(head: ReplyHead): void {
    this.#head = head;
    this.#begin();
  }

  message(pieces: readonly Piece[], { answers = [], frame, broken }: MessageFacts = {}): Promise<void> | undefined {
    if (this.gone || this.hasNoMessages) return undefined;
    if (this.#isRefusal) {
      this.#keepRefusal(pieces);
      return undefined;
    }
    // MCP clients ignore a frame of any other type
    const type = frame?.event?.toString('latin1') ?? 'message';
    if (frame && type !== 'message') return this.event(frame);
    // "The server MUST NOT write anything to its stdout that is not a valid MCP message" (MCP 2025-11-25, stdio)
    if (broken || !mayBeMessage(pieces)) {
      this.#options.dropped();
      const noted = frame && this.event(frame);
      // the stream may stay open, without another answer on it
      return broken && broken.length > 0 ? this.#queue(async () => this.#options.unreadable?.(broken)) : noted;
    }
    return this.#queue(async () => {
      await this.#line(pieces);
      if (this.#isBroken) return;
      if (frame) this.#note(frame);
      for (const id of answers) this.#options.answered(id);
    });
  }

  event(frame: FrameFields): Promise<void> | undefined {
    if (this.gone || this.#isRefusal) return undefined;
    if (this.#tail) return this.#queue(async () => this.#note(frame));
    this.#note(frame);
    return undefined;
  }

  comment(): undefined {}

  space(): undefined {}

  all(head: ReplyHead, body?: Buffer, answers: readonly string[] = []): void {
    this.head(head);
    if (body && body.length > 0) void this.message([body], { answers });
    this.end();
  }

  only(head: ReplyHead, pieces: readonly Buffer[], { answers }: MessageFacts): void {
    this.all(head, Buffer.concat(pieces), answers);
  }

  end(): void {
    if (this.gone) return;
    this.#isEnded = true;
    if (!this.#tail) this.#close();
  }

  /** A half-written line is made invalid, so that the next one begins cleanly. */
  abort(): void {
    if (this.#isBroken || this.#isClosed) return;
    this.#isBroken = true;
    const release = this.#release;
    this.#release = undefined;
    if (release) void this.#spoil(release);
    this.#close();
  }

  onClose(listener: () => void): void {
    this.#listeners.push(listener);
  }

  get #isRefusal(): boolean {
    return this.status >= 300;
  }

  #keepRefusal(pieces: readonly Piece[]): void {
    for (const piece of pieces) {
      // bytes from the store are longer than that
      if (this.#refusalRoom <= 0 || !Buffer.isBuffer(piece)) return;
      this.#refusal.push(Buffer.from(piece.subarray(0, this.#refusalRoom)));
      this.#refusalRoom -= piece.length;
    }
  }

  #note({ id, retry }: FrameFields): void {
    if (id) this.#lastEventId = asHeader(id);
    if (retry) this.#retryMs = Number(retry.toString('latin1'));
  }

  /** Runs tasks one after the other; all waiting tasks share one promise. */
  #queue(task: () => Promise<void>): Promise<void> {
    const done = (this.#tail ?? Promise.resolve()).then(task);
    const tail: Promise<void> = done
      .catch(() => {})
      .then(() => {
        if (this.#tail !== tail) return;
        this.#tail = undefined;
        if (this.#isEnded) this.#close();
      });
    this.#tail = tail;
    return done;
  }

  async #line(pieces: readonly Piece[]): Promise<void> {
    if (this.#isBroken) return;
    const release = await this.#options.output.turn();
    // aborted while it waited
    if (this.#isBroken) return release();
    this.#release = release;
    try {
      if (pieces.every(Buffer.isBuffer)) await this.#writeAll([...pieces, NEWLINE]);
      else await this.#stream(pieces);
    } catch (error) {
      this.abort();
      throw error;
    }
    this.#release?.();
    this.#release = undefined;
  }

  async #writeAll(pieces: readonly Buffer[]): Promise<void> {
    for (const bytes of joined(pieces.map((piece) => (piece === NEWLINE ? piece : onOneLine(piece))))) {
      await this.#write(bytes);
    }
  }

  async #stream(pieces: readonly Piece[]): Promise<void> {
    for (const piece of pieces) {
      if (this.#isBroken) return;
      if (Buffer.isBuffer(piece)) await this.#write(onOneLine(piece));
      else
        for await (const bytes of piece()) {
          if (this.#isBroken) return;
          await this.#write(onOneLine(bytes));
        }
    }
    await this.#write(NEWLINE);
  }

  #write(bytes: Buffer): Promise<void> | undefined {
    if (this.#isBroken) return undefined;
    this.#written += bytes.length;
    this.#writing = this.#options.output.write(bytes);
    return this.#writing;
  }

  async #spoil(release: () => void): Promise<void> {
    await this.#writing;
    await this.#options.output.write(SPOILED);
    release();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // not now: the caller does not expect to be called before its own call returns
    setImmediate(() => {
      for (const listener of this.#listeners) listener();
    });
  }
}
