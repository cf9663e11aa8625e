/**
 * How the gateway and its render process talk over a pipe: a kind, the length of the payload, the payload.
 *
 *     to the process    job {limits} · data … data · end        (or cancel: forget this job)
 *     from the process  result {outcome} [· image]
 */
export const KINDS = ['job', 'data', 'end', 'cancel', 'result', 'image'] as const;
export type FrameKind = (typeof KINDS)[number];

export interface Frame {
  kind: FrameKind;
  payload: Buffer;
}

const HEADER_BYTES = 5;
/** Far above what either side sends; a longer frame means a faulty peer. */
const MAX_PAYLOAD = 1024 * 1024;
/** Image bytes go in pieces of this size, so that a piece never has to be assembled from many reads. */
const DATA_BYTES = 64 * 1024;

export function encodeFrame(kind: FrameKind, payload: Buffer = Buffer.alloc(0)): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
  frame[0] = KINDS.indexOf(kind);
  frame.writeUInt32BE(payload.length, 1);
  payload.copy(frame, HEADER_BYTES);
  return frame;
}

/** `chunk` as data frames. */
export function* encodeData(chunk: Buffer): Generator<Buffer> {
  for (let at = 0; at < chunk.length; at += DATA_BYTES) yield encodeFrame('data', chunk.subarray(at, at + DATA_BYTES));
}

/** Assembles frames from a pipe's chunks. Payloads are copies, so the pipe's buffers can be reused. */
export class FrameReader {
  #pending: Buffer[] = [];
  #length = 0;

  /** @throws Error on a frame that neither side sends; the stream cannot be used afterwards. */
  *push(chunk: Buffer): Generator<Frame> {
    this.#pending.push(chunk);
    this.#length += chunk.length;
    while (this.#length >= HEADER_BYTES) {
      const header = this.#peek(HEADER_BYTES);
      const kind = KINDS[header[0] ?? KINDS.length];
      const size = header.readUInt32BE(1);
      if (kind === undefined || size > MAX_PAYLOAD) throw new Error('The pipe to the render process is out of step.');
      if (this.#length < HEADER_BYTES + size) return;
      const payload = Buffer.from(this.#peek(HEADER_BYTES + size).subarray(HEADER_BYTES, HEADER_BYTES + size));
      this.#drop(HEADER_BYTES + size);
      yield { kind, payload };
    }
  }

  /** The first `count` bytes or more; joins buffers only when the first one is too short. */
  #peek(count: number): Buffer {
    const first = this.#pending[0] ?? Buffer.alloc(0);
    if (first.length >= count) return first;
    const joined = Buffer.concat(this.#pending, this.#length);
    this.#pending = [joined];
    return joined;
  }

  #drop(count: number): void {
    const [first = Buffer.alloc(0), ...rest] = this.#pending;
    this.#pending = first.length > count ? [first.subarray(count), ...rest] : rest;
    this.#length -= count;
  }
}
