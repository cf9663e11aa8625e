import type { Piece } from '../../json/written.js';
import type { FrameFields } from '../../wire/sse/frame.js';
import { comment, DataWriter, FRAME_END, frameHead, wholeFrame } from '../../wire/sse/write.js';
import type { MessageFacts, Reply, ReplyHead } from '../reply.js';
import type { Beating, Heart, Heartbeats } from './heartbeats.js';
import { joined } from './joined.js';

/** A comment is not an event, so clients cannot misread it. */
const HEARTBEAT = comment('');

const EMPTY_DATA = Buffer.from('data:\n');
const NOTHING = Buffer.alloc(0);

const OPEN_BATCH = Buffer.from('[');
const NEXT_IN_BATCH = Buffer.from(',');
const CLOSE_BATCH = Buffer.from(']');

/** The needed part of Node's response. */
export interface HttpResponse {
  writeHead(status: number, headers?: Record<string, string | string[]>): unknown;
  flushHeaders(): void;
  /** False while the client does not read; `drain` reports when it does again. */
  write(bytes: Buffer): boolean;
  end(bytes?: Buffer): unknown;
  destroy(): unknown;
  once(event: 'drain' | 'close', listener: () => void): unknown;
  off(event: 'drain' | 'close', listener: () => void): unknown;
  /** Destroys the response when the client has read nothing for that long; 0: never. */
  setTimeout(ms: number): unknown;
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  readonly destroyed: boolean;
}

/** Answers a client over HTTP: messages as SSE frames, as consecutive JSON values or as an array, at the client's pace. */
export class HttpReply implements Reply, Beating {
  readonly takesBodies = true;
  readonly #response: HttpResponse;
  readonly #idleMs: number;
  readonly #heartbeats: Heartbeats;
  #isEvents = false;
  /** What comes before the next message, and before the end, of an array. */
  #batch: { next: Buffer; end: Buffer } | undefined;
  #heart: Heart | undefined;
  #inFrame = false;
  #written = 0;
  /** Set while the client does not read. One wait for everything written meanwhile, because each costs listeners. */
  #pressure: Promise<void> | undefined;

  /** @param idleMs `timeouts.idle`: a client that reads nothing for this long is given up; 0: never */
  constructor(response: HttpResponse, idleMs: number, heartbeats: Heartbeats) {
    this.#response = response;
    this.#idleMs = idleMs;
    this.#heartbeats = heartbeats;
  }

  get begun(): boolean {
    return this.#response.headersSent;
  }

  get gone(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  get written(): number {
    return this.#written;
  }

  get pressure(): Promise<void> | undefined {
    return this.#pressure;
  }

  head(head: ReplyHead): void {
    this.#isEvents = head.body === 'events';
    if (head.body === 'batch') this.#batch = { next: OPEN_BATCH, end: Buffer.from('[]') };
    this.#response.writeHead(head.status, headersOf(head));
    if (head.isEarly) this.#response.flushHeaders();
    if (this.#isEvents) this.#heart = this.#heartbeats.add(this);
  }

  message(pieces: readonly Piece[], { frame }: MessageFacts = {}): Promise<void> | undefined {
    if (this.gone) return undefined;
    if (this.#batch) {
      this.#write(this.#batch.next);
      this.#batch = { next: NEXT_IN_BATCH, end: CLOSE_BATCH };
    }
    const plain = pieces.every(Buffer.isBuffer) ? pieces : undefined;
    if (plain) return this.#writeAll(this.#isEvents ? wholeFrame(plain, frame) : plain);
    return this.#stream(pieces, frame);
  }

  event(frame: FrameFields): Promise<void> | undefined {
    if (this.gone) return undefined;
    return this.#write(Buffer.concat([frameHead(frame), frame.data ? EMPTY_DATA : NOTHING, FRAME_END]));
  }

  comment(bytes: Buffer): Promise<void> | undefined {
    return this.gone || this.#inFrame ? undefined : this.#write(comment(bytes.toString('utf8')));
  }

  space(bytes: Buffer): Promise<void> | undefined {
    return this.gone ? undefined : this.#write(bytes);
  }

  all(head: ReplyHead, body?: Buffer): void {
    const headers = headersOf(head);
    if (!body) {
      this.#response.writeHead(head.status, headers);
      this.#response.end();
      return;
    }
    this.#response.writeHead(head.status, { ...headers, 'content-length': String(body.length) });
    this.#response.end(body);
    this.#written += body.length;
  }

  only(head: ReplyHead, pieces: readonly Buffer[], { frame }: MessageFacts): void {
    this.all(head, Buffer.concat(whole(head.body, pieces, frame)));
  }

  end(): void {
    this.#stopBeating();
    if (this.#batch && !this.gone) this.#write(this.#batch.end);
    if (!this.gone) this.#response.end();
  }

  /** Cuts the connection, so that the client sees a broken stream and resumes it. */
  abort(): void {
    this.#stopBeating();
    this.#response.destroy();
  }

  onClose(listener: () => void): void {
    this.#response.once('close', listener);
  }

  beat(): void {
    // the answer may have been ended elsewhere, as an error without a stream
    if (this.gone) this.#stopBeating();
    else if (!this.#inFrame && !this.#pressure) this.#write(HEARTBEAT);
  }

  #stopBeating(): void {
    if (this.#heart) this.#heartbeats.remove(this.#heart);
    this.#heart = undefined;
  }

  async #stream(pieces: readonly Piece[], frame: FrameFields | undefined): Promise<void> {
    const data = this.#isEvents ? new DataWriter() : undefined;
    const writeAll = async (buffers: readonly Buffer[]) => {
      for (const buffer of buffers) await this.#write(buffer);
    };
    this.#inFrame = true;
    try {
      if (data) await this.#write(frameHead(frame ?? {}));
      for (const piece of pieces) {
        if (Buffer.isBuffer(piece)) await writeAll(data?.write(piece) ?? [piece]);
        else for await (const bytes of piece()) await writeAll(data?.write(bytes) ?? [bytes]);
      }
      if (data) await writeAll([...data.end(), FRAME_END]);
    } catch (error) {
      // half a message was sent: only a broken connection shows the client that it will not be completed
      this.abort();
      throw error;
    } finally {
      this.#inFrame = false;
    }
  }

  #writeAll(pieces: readonly Buffer[]): Promise<void> | undefined {
    for (const bytes of joined(pieces)) this.#write(bytes);
    return this.#pressure;
  }

  #write(bytes: Buffer): Promise<void> | undefined {
    this.#written += bytes.length;
    if (this.#response.write(bytes) || this.gone) return undefined;
    this.#pressure ??= this.#drained();
    return this.#pressure;
  }

  #drained(): Promise<void> {
    // Node sees progress inside one write, and destroys an idle connection that has no listener.
    this.#response.setTimeout(this.#idleMs);
    return new Promise((resolve) => {
      const done = () => {
        this.#pressure = undefined;
        this.#response.setTimeout(0);
        this.#response.off('drain', done);
        this.#response.off('close', done);
        resolve();
      };
      this.#response.once('drain', done);
      this.#response.once('close', done);
    });
  }
}

function whole(body: ReplyHead['body'], message: readonly Buffer[], frame: FrameFields | undefined): readonly Buffer[] {
  if (body === 'events') return wholeFrame(message, frame);
  return body === 'batch' ? [OPEN_BATCH, ...message, CLOSE_BATCH] : message;
}

function headersOf({ headers, session }: ReplyHead): Record<string, string | string[]> | undefined {
  return session ? { ...headers, 'mcp-session-id': session.id } : headers;
}
