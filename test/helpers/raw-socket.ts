import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A connection on which a test says exactly what it likes. */
export class RawSocket {
  readonly #socket: Socket;
  #received = '';
  #isClosed = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#received += chunk.toString('latin1');
    });
    socket.on('error', () => {});
    socket.once('close', () => {
      this.#isClosed = true;
    });
  }

  static async open(port: number): Promise<RawSocket> {
    const socket = connect(port, '127.0.0.1');
    const raw = new RawSocket(socket);
    await once(socket, 'connect');
    return raw;
  }

  /** A request's head; Host is added. */
  head(line: string, headers: Record<string, string | number> | [string, string | number][]): void {
    const all = Array.isArray(headers) ? headers : Object.entries(headers);
    this.send(
      `${line} HTTP/1.1\r\nHost: localhost\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    );
  }

  send(bytes: string | Buffer): void {
    this.#socket.write(bytes);
  }

  /** Says that no more will be sent. */
  end(): void {
    this.#socket.end();
  }

  /** Goes away without a word. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  /** Everything received, once it matches or the other side has closed. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.#received) && !this.#isClosed) await new Promise((resolve) => setTimeout(resolve, 5));
    return this.#received;
  }

  /** Everything received until the other side closed. */
  async toEnd(): Promise<string> {
    while (!this.#isClosed) await new Promise((resolve) => setTimeout(resolve, 5));
    return this.#received;
  }
}
