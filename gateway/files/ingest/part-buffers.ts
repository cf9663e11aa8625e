/** Room after a full part, so that one socket read (64 KiB) decodes without a check in between. */
const SLACK = 64 * 1024;

/** Buffers kept for reuse while nothing is stored; more would only raise the idle memory. */
const KEPT = 2;

/** Milliseconds after which the buffers of a busy time are let go. */
const IDLE_MS = 10_000;

/**
 * Hands out part buffers and takes them back: allocating 5 MiB for each file would cost a page fault per 4 KiB. And as
 * long as files are being stored none is let go, for the collector takes its time: meanwhile the bytes would be both in
 * `limits.partMemory` and beyond it.
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
