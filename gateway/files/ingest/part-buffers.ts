/** Room after a full part, so that one socket read (64 KiB) decodes without a check in between. */
const SLACK = 64 * 1024;

/** Buffers kept for reuse while nothing is stored; more would only raise the idle memory. */
const KEPT = 2;

/** Milliseconds after which the buffers of a busy time are released. */
const IDLE_MS = 10_000;

/**
 * Hands out part buffers and takes them back. Allocating 5 MiB for each file would cost a page fault per 4 KiB. While
 * files are being stored, no buffer is released: until the garbage collector runs, its bytes would count in
 * `limits.partMemory` for the next buffer and still use memory beyond it.
 */
export class PartBuffers {
  readonly partSize: number;
  readonly #free: Buffer[] = [];
  #trim: NodeJS.Timeout | undefined;

  constructor(partSize: number) {
    this.partSize = partSize;
  }

  take(): Buffer {
    this.#trim?.refresh();
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(this.partSize + SLACK);
  }

  giveBack(buffer: Buffer): void {
    this.#free.push(buffer);
    this.#trim ??= setTimeout(() => this.#letGo(), IDLE_MS).unref();
  }

  #letGo(): void {
    this.#trim = undefined;
    this.#free.length = Math.min(this.#free.length, KEPT);
  }
}
