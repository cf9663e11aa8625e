/** Milliseconds after which the buffers of a busy time are released. */
const IDLE_MS = 10_000;

/**
 * Hands out buffers of one size and takes them back. Fresh ones cost a page fault per 4 KiB, and for every 64 MiB of them
 * V8 looks at its whole heap. While they are in use, none is released: until the garbage collector runs, its bytes would
 * count in a limit for the next buffer and still use memory beyond it. So as many are kept as were in use at one time.
 */
export class BufferPool {
  readonly #size: number;
  readonly #kept: number;
  readonly #free: Buffer[] = [];
  #trim: NodeJS.Timeout | undefined;

  /** @param size bytes of each @param kept how many stay when the busy time is over; more would only raise the idle memory */
  constructor(size: number, kept: number) {
    this.#size = size;
    this.#kept = kept;
  }

  take(): Buffer {
    this.#trim?.refresh();
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(this.#size);
  }

  /** @param buffer the result of a `take`, of which the caller keeps no part */
  giveBack(buffer: Buffer): void {
    this.#free.push(buffer);
    this.#trim ??= setTimeout(() => this.#letGo(), IDLE_MS).unref();
  }

  #letGo(): void {
    this.#trim = undefined;
    this.#free.length = Math.min(this.#free.length, this.#kept);
  }
}
