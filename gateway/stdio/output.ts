import type { Writable } from 'node:stream';

/** What ends a message: MCP over stdio has one on each line. */
export const NEWLINE = Buffer.from('\n');

/** Standard output, shared by all exchanges: whole lines, one after the other, at the client's pace. */
export class LineOutput {
  readonly #out: Writable;
  #tail: Promise<void> = Promise.resolve();

  constructor(out: Writable) {
    this.#out = out;
    // a client that has gone is noticed by its closing
    out.on('error', () => undefined);
  }

  get gone(): boolean {
    return this.#out.destroyed;
  }

  /** Resolves when a line may begin, with a function to call after its end. */
  turn(): Promise<() => void> {
    let release: () => void = () => undefined;
    const mine = new Promise<void>((resolve) => {
      release = resolve;
    });
    const turn = this.#tail.then(() => release);
    this.#tail = this.#tail.then(() => mine);
    return turn;
  }

  /** For the holder of the turn; `undefined` when more can be written at once. */
  write(bytes: Buffer): Promise<void> | undefined {
    if (this.gone || this.#out.write(bytes)) return undefined;
    return new Promise((resolve) => {
      const done = (): void => {
        this.#out.off('drain', done);
        this.#out.off('close', done);
        resolve();
      };
      this.#out.on('drain', done);
      this.#out.on('close', done);
    });
  }

  async line(bytes: Buffer): Promise<void> {
    const release = await this.turn();
    try {
      await this.write(Buffer.concat([bytes, NEWLINE]));
    } finally {
      // what follows must not wait for a line that failed
      release();
    }
  }

  /** Resolves when everything written has been sent. */
  async flushed(): Promise<void> {
    await this.#tail;
    if (!this.gone) await new Promise<void>((resolve) => this.#out.write('', () => resolve()));
  }
}
