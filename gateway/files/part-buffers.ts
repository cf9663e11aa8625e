/** Room after a full part, so that one socket read (64 KiB) decodes without a check in between. */
const SLACK = 64 * 1024;

/** Buffers kept for reuse; more would only raise the idle memory. */
const KEPT = 2;

/** Hands out part buffers and takes them back: allocating 5 MiB for each file would cost a page fault per 4 KiB. */
export class PartBuffers {
  readonly partSize: number;
  readonly #free: Buffer[] = [];

  constructor(partSize: number) {
    this.partSize = partSize;
  }

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(this.partSize + SLACK);
  }

  giveBack(buffer: Buffer): void {
    if (this.#free.length < KEPT) this.#free.push(buffer);
  }
}
