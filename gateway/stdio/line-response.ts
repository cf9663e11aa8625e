import { EventEmitter } from 'node:events';
import type { ClientResponse } from '../relay/exchange.js';
import { addAll } from '../wire/add-all.js';
import type { MessageReader } from '../wire/json/reader.js';
import { type AnswerLines, EventLines, JsonLines, ValueLines } from './answer-lines.js';
import { watchAnswers } from './answer-watch.js';
import { type LineOutput, NEWLINE } from './output.js';

/** Most bytes read of an answer that is an error with a status of its own. */
const REFUSAL_BYTES = 64 * 1024;

/** CAN: JSON has no place for it, so no client takes the line that ends with it for a message. */
const CANCEL = Buffer.from('\x18');

export interface LineResponseOptions {
  output: LineOutput;
  /** A request was answered; `version` comes with the result of an `initialize`. */
  answered: (id: string, version: string | undefined) => void;
}

/**
 * What the relay takes for the client's response: each message it writes becomes a line of standard output. Several
 * write at the same time, so a line is begun when its turn has come, and until then the writer waits.
 */
export class LineResponse extends EventEmitter implements ClientResponse {
  headersSent = false;
  writableEnded = false;
  destroyed = false;
  status = 0;
  sessionId: string | undefined;
  readonly #output: LineOutput;
  readonly #watch: MessageReader;
  #lines: AnswerLines | undefined;
  #refusal: Buffer[] | undefined;
  #refusalBytes = 0;
  readonly #parts: Buffer[] = [];
  #isWriting = false;
  /** Set while a line of this response is under way. */
  #release: (() => void) | undefined;
  #isClosed = false;

  constructor({ output, answered }: LineResponseOptions) {
    super();
    this.#output = output;
    this.#watch = watchAnswers(answered);
  }

  /** Where an event stream that broke off can be taken up again. */
  get resumption(): { lastEventId: string; retryMs: number | undefined } | undefined {
    const { lastEventId, retryMs } = this.#lines instanceof EventLines ? this.#lines : {};
    return lastEventId === undefined ? undefined : { lastEventId, retryMs };
  }

  /** The body of an error with a status of its own; it is not written to the client. */
  get refusal(): string | undefined {
    return this.#refusal && Buffer.concat(this.#refusal).toString('utf8');
  }

  /** True when the server answered well, but with something else than messages. */
  get hasNoMessages(): boolean {
    return this.headersSent && !this.#lines && !this.#refusal;
  }

  /** Resolves when everything has been written, or nothing more will be. */
  get closed(): Promise<void> {
    return this.#isClosed ? Promise.resolve() : new Promise((resolve) => this.once('close', () => resolve()));
  }

  writeHead(status: number, headers: Record<string, string | string[]> = {}): this {
    this.headersSent = true;
    this.status = status;
    const session = headers['mcp-session-id'];
    if (typeof session === 'string') this.sessionId = session;
    if (status >= 300) this.#refusal = [];
    else this.#lines = linesOf(String(headers['content-type'] ?? ''));
    return this;
  }

  flushHeaders(): void {}

  /** A writer may only be waiting for its turn, and a host that reads nothing of its own server harms nobody else. */
  setTimeout(): void {}

  write(bytes: Buffer): boolean {
    if (this.destroyed || this.writableEnded) return true;
    if (this.#refusal) {
      if (this.#refusalBytes < REFUSAL_BYTES) this.#refusal.push(Buffer.from(bytes));
      this.#refusalBytes += bytes.length;
      return true;
    }
    return this.#send(this.#lines?.write(bytes) ?? []);
  }

  end(bytes?: Buffer): this {
    if (bytes) this.write(bytes);
    if (this.destroyed || this.writableEnded) return this;
    this.writableEnded = true;
    this.#send(this.#lines?.end() ?? []);
    if (!this.#isWriting) this.#close();
    return this;
  }

  /** Nothing more will come. A line that is half out is spoiled, so that the next one begins cleanly. */
  destroy(): this {
    if (this.destroyed || this.#isClosed) return this;
    this.destroyed = true;
    this.#parts.length = 0;
    if (this.#release) this.#parts.push(CANCEL, NEWLINE);
    if (this.#parts.length > 0) void this.#flush();
    this.#close();
    return this;
  }

  #send(parts: readonly Buffer[]): boolean {
    if (parts.length > 0) {
      addAll(this.#parts, parts);
      void this.#flush();
    }
    return !this.#isWriting;
  }

  async #flush(): Promise<void> {
    if (this.#isWriting) return;
    this.#isWriting = true;
    for (let part = this.#parts[0]; part; part = this.#parts[0]) {
      if (!this.#release) {
        this.#release = await this.#output.turn();
        // destroyed while it waited
        if (this.#parts[0] !== part) {
          this.#endLine();
          continue;
        }
      }
      this.#parts.shift();
      await this.#output.write(part);
      if (!this.destroyed) this.#watch.feed(part);
      if (part === NEWLINE) this.#endLine();
    }
    this.#isWriting = false;
    this.emit('drain');
    if (this.writableEnded) this.#close();
  }

  #endLine(): void {
    this.#release?.();
    this.#release = undefined;
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // not now: whoever ends a response does not expect to be called before the call returns
    setImmediate(() => this.emit('close'));
  }
}

function linesOf(contentType: string): AnswerLines | undefined {
  if (/^text\/event-stream\b/i.test(contentType)) return new EventLines();
  if (/^application\/(x-ndjson|jsonl)\b/i.test(contentType)) return new ValueLines();
  return /^application\/([\w.-]+\+)?json\b/i.test(contentType) ? new JsonLines() : undefined;
}
