import { BufferPool } from '../../budget/memory/buffer-pool.js';

/** Room after a full part, so that one socket read (64 KiB) decodes without a check in between. */
const SLACK = 64 * 1024;

/** Buffers kept for reuse while nothing is stored. */
const KEPT = 2;

/** The part buffers of files that are being stored. */
export class PartBuffers extends BufferPool {
  readonly partSize: number;

  constructor(partSize: number) {
    super(partSize + SLACK, KEPT);
    this.partSize = partSize;
  }
}
