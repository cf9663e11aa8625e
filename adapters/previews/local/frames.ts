/**
 * How the gateway and its render process talk over a pipe: a kind, the length of the payload, the payload.
 *
 *     to the process    job {limits} · data … data · end        (or cancel: forget this job)
 *     from the process  ready, once · result {outcome} [· image]
 *
 * Where the process does not need the whole file, it asks: want {range}, to which data … end, or cancel, is the answer.
 */
export const KINDS = ['job', 'data', 'end', 'cancel', 'result', 'image', 'want', 'ready'] as const;
type FrameKind = (typeof KINDS)[number];

export interface Frame {
  kind: FrameKind;
  payload: Buffer;
}

const HEADER_BYTES = 5;
/** Far above what either side sends; a longer frame means a faulty peer. */
const MAX_PAYLOAD = 1024 * 1024;
/** File bytes go in pieces of this size, which fill a pipe. */
const DATA_BYTES = 64 * 1024;

/** A frame of the pipe to the renderer: its header, then `payload`. */
export function encodeFrame(kind: FrameKind, payload: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat([headerOf(kind, payload.length), payload]);
}

/** `chunk` as data frames, each with its header before its bytes, which are not copied. */
export function* encodeData(chunk: Buffer): Generator<readonly [Buffer, Buffer]> {
  for (let at = 0; at < chunk.length; at += DATA_BYTES) {
    const payload = chunk.subarray(at, at + DATA_BYTES);
    yield [headerOf('data', payload.length), payload];
  }
}

function headerOf(kind: FrameKind, length: number): Buffer {
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header[0] = KINDS.indexOf(kind);
  header.writeUInt32BE(length, 1);
  return header;
}

/**
 * Takes frames out of a pipe's chunks. The payload of a `data` frame comes in pieces, as it arrives and without a copy:
 * it is valid until the next one. All others come whole.
 */
export class FrameReader {
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerLength = 0;
  #kind: FrameKind = 'data';
  #payload: Buffer[] = [];
  /** Bytes of the payload that are still to come. */
  #missing = 0;

  /** @throws Error on a frame that neither side sends; the stream cannot be used afterwards. */
  *push(chunk: Buffer): Generator<Frame> {
    let at = 0;
    while (at < chunk.length) {
      if (this.#headerLength < HEADER_BYTES) {
        at += this.#takeHeader(chunk, at);
        if (this.#headerLength < HEADER_BYTES) return;
        if (this.#missing > 0) continue;
      }
      const piece = chunk.subarray(at, at + this.#missing);
      at += piece.length;
      this.#missing -= piece.length;
      if (this.#kind === 'data') {
        if (piece.length > 0) yield { kind: 'data', payload: piece };
      } else {
        this.#payload.push(piece);
        if (this.#missing === 0) yield { kind: this.#kind, payload: Buffer.concat(this.#payload) };
      }
      if (this.#missing > 0) return;
      this.#payload = [];
      this.#headerLength = 0;
    }
  }

  #takeHeader(chunk: Buffer, at: number): number {
    const taken = chunk.copy(this.#header, this.#headerLength, at, at + HEADER_BYTES - this.#headerLength);
    this.#headerLength += taken;
    if (this.#headerLength < HEADER_BYTES) return taken;
    const kind = KINDS[this.#header[0] ?? KINDS.length];
    this.#missing = this.#header.readUInt32BE(1);
    if (kind === undefined || this.#missing > MAX_PAYLOAD) {
      throw new Error('The pipe to the render process is out of step.');
    }
    this.#kind = kind;
    return taken;
  }
}
