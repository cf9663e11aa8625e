import { connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { GatewayError } from '../../../gateway/errors.js';
import type { Scan, Verdict } from '../../../gateway/ports/antivirus.js';
import { MAX_REPLY, readReply } from './reply.js';

/** How long a connection may take: clamd is near, and a file waits. */
const CONNECT_MS = 5000;

export interface ClamdAddress {
  host: string;
  port: number;
  /** Milliseconds without any movement, and from the first byte of a reply to its end. */
  timeout: number;
}

/** What clamd is for clients of Wharf; the log and the doctor tell the causes. */
export function unavailable(reason: string, cause?: unknown): GatewayError {
  return new GatewayError('antivirus_unavailable', { reason }, new Error(reason, cause === undefined ? {} : { cause }));
}

/**
 * One command to clamd, on a connection of its own: on a shared one, one file's reply could be taken for another's.
 * @see clamd(8): commands begin with `z` and end with NUL, and so do the replies
 */
export class ClamdConnection {
  readonly #socket: Socket;
  readonly #replied: Promise<string>;
  #reply = Buffer.alloc(0);
  #wake: (() => void) | undefined;
  #failure: GatewayError | undefined;
  #late: NodeJS.Timeout | undefined;
  /** The reply, once it has come. */
  said: string | undefined;

  private constructor(socket: Socket, timeout: number) {
    this.#socket = socket;
    this.#replied = new Promise((resolve, reject) => {
      socket.on('data', (chunk: Buffer) => {
        if (this.said !== undefined) return;
        this.#reply = Buffer.concat([this.#reply, chunk]);
        const end = this.#reply.indexOf(0);
        if (end >= 0) {
          this.said = this.#reply.toString('latin1', 0, end);
          resolve(this.said);
          this.#wake?.();
          // nothing may follow, and it is not read without an end
          socket.destroy();
        } else if (this.#reply.length > MAX_REPLY) this.#fail(unavailable('its reply is too long'));
        // bytes that drip are movement, but no answer
        else this.#late ??= setTimeout(() => this.#fail(unavailable('it did not answer in time')), timeout);
      });
      socket.on('error', (error) => this.#fail(unavailable('the connection broke off', error)));
      socket.on('timeout', () => this.#fail(unavailable('it did not answer in time')));
      socket.on('close', () => {
        clearTimeout(this.#late);
        const failure = this.#failure ?? unavailable('it closed the connection without a reply');
        this.#failure = failure;
        reject(failure);
        this.#wake?.();
      });
    });
    // it is awaited later, or not at all
    this.#replied.catch(() => undefined);
  }

  /** @throws GatewayError `antivirus_unavailable`, or the signal's reason */
  static async open(
    command: string,
    { host, port, timeout }: ClamdAddress,
    signal: AbortSignal,
  ): Promise<ClamdConnection> {
    signal.throwIfAborted();
    const socket = connect({ host, port, noDelay: true });
    const onAbort = () => socket.destroy();
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('close', () => signal.removeEventListener('abort', onAbort));
    const opened = new ClamdConnection(socket, timeout);
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => {
        socket.destroy();
        reject(unavailable('no connection in time'));
      }, CONNECT_MS);
      socket.once('connect', resolve);
      socket.once('error', (error) => reject(unavailable('it cannot be reached', error)));
      socket.once('close', () => {
        clearTimeout(late);
        reject(signal.aborted ? signal.reason : unavailable('it cannot be reached'));
      });
      socket.once('connect', () => clearTimeout(late));
    });
    socket.setTimeout(timeout);
    socket.write(`z${command}\0`, 'latin1');
    return opened;
  }

  /**
   * Resolves when the bytes are on their way, or a reply has come before all of them were sent.
   * @returns false if it came before any of them
   */
  async write(bytes: Buffer): Promise<boolean> {
    // what has come is read first: clamd closes behind an early reply, which a write to the closed connection would lose
    await setImmediate();
    if (this.said !== undefined) return false;
    if (this.#failure) throw this.#failure;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      this.#socket.write(bytes, () => resolve());
    });
    this.#wake = undefined;
    if (this.#failure && this.said === undefined) throw this.#failure;
    return true;
  }

  /** @throws GatewayError `antivirus_unavailable` */
  reply(): Promise<string> {
    return this.#replied;
  }

  close(): void {
    this.#socket.destroy();
  }

  #fail(failure: GatewayError): void {
    this.#failure ??= failure;
    this.#socket.destroy();
  }
}

/** A file on its way through INSTREAM: pieces, each after its length, and a length of nought at the end. */
export class ClamdScan implements Scan {
  readonly #connection: ClamdConnection;

  constructor(connection: ClamdConnection) {
    this.#connection = connection;
  }

  async write(bytes: Buffer): Promise<void> {
    // an empty piece would be the end
    if (bytes.length === 0) return;
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    await this.#connection.write(Buffer.concat([length, bytes]));
  }

  async end(): Promise<Verdict> {
    try {
      const hasEnd = await this.#connection.write(Buffer.alloc(4));
      const said = await this.#connection.reply();
      const verdict = readReply(said);
      if (!verdict) throw unavailable('its reply is not a verdict', new Error(said.slice(0, 200)));
      // what it has not seen to its end it cannot have found clean
      if (!hasEnd && verdict.kind === 'clean') throw unavailable('it replied before the end of the file');
      return verdict;
    } finally {
      this.abort();
    }
  }

  abort(): void {
    this.#connection.close();
  }
}
