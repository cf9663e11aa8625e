import type { FrameFields } from '../../wire/sse/frame.js';
import { comment, DataWriter, FRAME_END, frameHead, writeData } from '../../wire/sse/write.js';
import type { Piece } from '../cut/splice.js';
import type { ClientResponse } from '../exchange.js';

/** Proxies and clients give up on a stream that stays silent; a comment is no event, so it cannot be misread. */
const HEARTBEAT_MS = 15_000;
const HEARTBEAT = comment('');

/** Bytes up to which pieces are joined: each write is a call of the system, and a copy of a long message is memory. */
const MAX_JOINED = 256 * 1024;

const EMPTY_DATA = Buffer.from('data:\n');
const NOTHING = Buffer.alloc(0);

/** Writes messages to one client, as SSE frames or as JSON values one after the other, at the client's own pace. */
export class Outlet {
  readonly #response: ClientResponse;
  readonly #format: 'sse' | 'json';
  readonly #idleMs: number;
  #heartbeat: NodeJS.Timeout | undefined;
  #inFrame = false;
  #bytes = 0;
  /** Set while the client takes no more. One wait for all that is written meanwhile: each costs the response listeners. */
  #pressure: Promise<void> | undefined;

  /** @param idleMs `timeouts.idle`: a client that takes nothing of what waits for it for that long is given up; 0: never */
  constructor(response: ClientResponse, format: 'sse' | 'json', idleMs: number) {
    this.#response = response;
    this.#format = format;
    this.#idleMs = idleMs;
    if (format !== 'sse') return;
    this.#heartbeat = setInterval(() => {
      // the answer may have been ended elsewhere, as an error without a stream
      if (this.gone) clearInterval(this.#heartbeat);
      else if (!this.#inFrame && !this.#pressure && response.headersSent) this.#write(HEARTBEAT);
    }, HEARTBEAT_MS);
    this.#heartbeat.unref();
  }

  /** Bytes written. */
  get bytes(): number {
    return this.#bytes;
  }

  /** True when nothing can reach the client any more. */
  get gone(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  /** Set while the client takes no more: whoever wrote must wait for it before the next. Never rejects. */
  get pressure(): Promise<void> | undefined {
    return this.#pressure;
  }

  /** Writes one message; `undefined` when the client takes more at once, which is the usual case. */
  send(pieces: readonly Piece[], frame: FrameFields | undefined): Promise<void> | undefined {
    if (this.gone) return undefined;
    const plain = pieces.every(Buffer.isBuffer) ? (pieces as readonly Buffer[]) : undefined;
    if (plain) {
      const bytes = this.#format === 'sse' ? framed(plain, frame) : plain;
      return this.#writeAll(bytes);
    }
    return this.#stream(pieces, frame);
  }

  /** A frame without a message: a priming event, or a `retry` alone. */
  sendEmpty(frame: FrameFields): Promise<void> | undefined {
    if (this.gone) return undefined;
    return this.#write(Buffer.concat([frameHead(frame), frame.data ? EMPTY_DATA : NOTHING, FRAME_END]));
  }

  comment(bytes: Buffer): Promise<void> | undefined {
    return this.gone || this.#inFrame ? undefined : this.#write(comment(bytes.toString('utf8')));
  }

  /** Whitespace between JSON values. */
  space(bytes: Buffer): Promise<void> | undefined {
    return this.gone ? undefined : this.#write(bytes);
  }

  /** The answer is complete. */
  end(): void {
    clearInterval(this.#heartbeat);
    if (!this.gone) this.#response.end();
  }

  /** Cuts the connection, so that the client sees a broken stream and resumes it. */
  abort(): void {
    clearInterval(this.#heartbeat);
    this.#response.destroy();
  }

  async #stream(pieces: readonly Piece[], frame: FrameFields | undefined): Promise<void> {
    const data = this.#format === 'sse' ? new DataWriter() : undefined;
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
      // half a message is out: only a broken connection tells the client that it will not be completed
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
    this.#bytes += bytes.length;
    if (this.#response.write(bytes) || this.gone) return undefined;
    this.#pressure ??= this.#drained();
    return this.#pressure;
  }

  #drained(): Promise<void> {
    // Node sees progress inside one write, and without a listener it destroys the connection when there is none.
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

function joined(pieces: readonly Buffer[]): Buffer[] {
  const out: Buffer[] = [];
  let group: Buffer[] = [];
  let length = 0;
  const flush = () => {
    if (group.length > 0) out.push(group.length === 1 ? (group[0] as Buffer) : Buffer.concat(group, length));
    group = [];
    length = 0;
  };
  for (const piece of pieces) {
    if (length + piece.length > MAX_JOINED) flush();
    group.push(piece);
    length += piece.length;
  }
  flush();
  return out;
}

function framed(pieces: readonly Buffer[], frame: FrameFields | undefined): Buffer[] {
  return [frameHead(frame ?? {}), ...writeData(pieces), FRAME_END];
}
