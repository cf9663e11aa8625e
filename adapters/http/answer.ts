import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { AnswerHead, AnswerHeaders } from '../../gateway/wire/http/head.js';

/** The connection that a body comes from. It learns when the reader wants more, and when the reader has left. */
export interface BodySource {
  readonly socket: Socket;
  resume(): void;
  /** Called once. */
  left(isComplete: boolean): void;
}

/** Most bytes that wait for a reader; with more, Wharf stops reading the connection. */
const WAITING_BYTES = 64 * 1024;

/** A body that comes while it is read. */
export class AnswerBody extends Readable {
  readonly #source: BodySource;
  /** True when all of it has arrived, if not yet been read. */
  isComplete = false;

  constructor(source: BodySource) {
    super({ highWaterMark: WAITING_BYTES });
    this.#source = source;
  }

  get socket(): Socket {
    return this.#source.socket;
  }

  override _read(): void {
    this.#source.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#source.left(this.isComplete);
    callback(error);
  }
}

/** A connection, as its answers know it. */
export interface Origin {
  /** @param body of the answer that says so, where it comes while it is read */
  distrust(body: Readable | undefined): void;
}

/** The head of an answer, with its body: whole where it came in one packet with the head, otherwise as a stream. */
export class Answer {
  readonly statusCode: number;
  readonly headers: AnswerHeaders;
  /** All of the body; its connection is free already. */
  readonly whole: Buffer | undefined;
  #body: Readable | undefined;
  readonly #from: Origin;

  constructor({ status, headers }: AnswerHead, body: Buffer | AnswerBody, from: Origin) {
    this.#from = from;
    this.statusCode = status;
    this.headers = headers;
    this.whole = Buffer.isBuffer(body) ? body : undefined;
    this.#body = Buffer.isBuffer(body) ? undefined : body;
  }

  /** @param name in lower case @returns undefined where it is missing, and for `set-cookie`, which is a list */
  header(name: string): string | undefined {
    const value = this.headers[name];
    return typeof value === 'string' ? value : undefined;
  }

  /** Made only when it is asked for: a stream costs more than all else that is done for a short answer. */
  get body(): Readable {
    this.#body ??= streamOf(this.whole as Buffer);
    return this.#body;
  }

  /** The connection that the body still comes from. */
  get socket(): Socket | undefined {
    return this.#body instanceof AnswerBody ? this.#body.socket : undefined;
  }

  /** It is the answer to another request: its connection is used no more, if only by this body until its end. */
  distrust(): void {
    this.#from.distrust(this.#body);
  }

  /** Gives the rest of the body up. */
  destroy(error?: Error): void {
    if (this.whole === undefined || this.#body) this.body.destroy(error);
  }
}

function streamOf(bytes: Buffer): Readable {
  const stream = new Readable({ read() {} });
  if (bytes.length > 0) stream.push(bytes);
  stream.push(null);
  return stream;
}
