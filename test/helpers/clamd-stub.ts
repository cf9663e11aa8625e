import { type AddressInfo, createServer, type Socket } from 'node:net';

/** The command, the first piece's length, and as much of it as tells the proof from a file. */
const BEGINNING = 'zINSTREAM\0'.length + 4 + 64;

/** What a stub says to a file; it sees the pieces that have come so far. */
export interface StubOptions {
  /** To the commands that have no file. Default: `PONG`. */
  ping?: string;
  /** Said as soon as this many bytes have come, before the file's end. */
  early?: { after: number; text: string };
  /** Said at the end; undefined: it closes without a word. */
  reply?: (bytes: Buffer) => string | undefined;
  /** Says one byte after the other at the end of a file, and never the last one. */
  drips?: boolean;
  /** Reads nothing until this resolves. */
  reads?: Promise<void>;
  /** To the test file. Default: that it is found. */
  proof?: string;
  /** Says nothing to the test file. */
  provesNothing?: boolean;
}

/** A clamd of which a test says what it answers. The proof that Wharf asks for first it passes as a good one does. */
export class ClamdStub {
  /** Files that are on their way now, and the most there were at one time. */
  open = 0;
  most = 0;
  /** Bytes that have come, of all files but those of the proof. */
  came = 0;
  options: StubOptions;
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((socket) => this.#serve(socket));

  private constructor(options: StubOptions) {
    this.options = options;
  }

  static async start(options: StubOptions = {}): Promise<ClamdStub> {
    const stub = new ClamdStub(options);
    await new Promise<void>((resolve) => stub.#server.listen(0, '127.0.0.1', resolve));
    return stub;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #reply(bytes: Buffer): string {
    const said = (this.options.reply ?? (() => 'stream: OK'))(bytes);
    return said === undefined ? '' : `${said}\0`;
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    let raw = Buffer.alloc(0);
    let isCounted = false;
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#sockets.delete(socket);
      if (isCounted) this.open -= 1;
    });
    const isProof = () => raw.includes('EICAR');
    const { reads } = this.options;
    socket.on('data', (chunk: Buffer) => {
      raw = Buffer.concat([raw, chunk]);
      if (raw.toString('latin1').startsWith('zPING\0')) {
        socket.end(`${this.options.ping ?? 'PONG'}\0`);
        return;
      }
      // the test file comes with the first piece
      if (raw.length <= BEGINNING) return;
      if (!isProof()) {
        if (!isCounted) {
          isCounted = true;
          this.open += 1;
          this.most = Math.max(this.most, this.open);
        }
        this.came += chunk.length;
        if (reads && !socket.isPaused()) {
          socket.pause();
          void reads.then(() => socket.resume());
        }
        const { early } = this.options;
        if (early && raw.length > early.after) {
          socket.end(`${early.text}\0`);
          return;
        }
      }
      if (!raw.subarray(-4).equals(Buffer.alloc(4)) || bytesIn(raw) === undefined) return;
      const bytes = bytesIn(raw) as Buffer;
      if (isProof() && this.options.provesNothing) return;
      const said = isProof() ? `${this.options.proof ?? 'stream: Eicar FOUND'}\0` : this.#reply(bytes);
      if (this.options.drips && !isProof()) {
        const drops = setInterval(() => socket.write('s'), 50);
        socket.once('close', () => clearInterval(drops));
        return;
      }
      void (isProof() ? undefined : reads)?.then(() => socket.end(said));
      if (isProof() || !reads) socket.end(said);
    });
  }
}

/** The file in an INSTREAM; undefined before its end. */
function bytesIn(raw: Buffer): Buffer | undefined {
  const pieces: Buffer[] = [];
  let at = 'zINSTREAM\0'.length;
  while (at + 4 <= raw.length) {
    const length = raw.readUInt32BE(at);
    if (length === 0) return Buffer.concat(pieces);
    pieces.push(raw.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return undefined;
}
