import { chunkSize, cutStep } from './effort.js';

/** Where every cut is tried up to this many bytes; longer inputs are cut near their borders and at primes. */
const EVERY_CUT = 400;

/** The bytes in chunks of `size`, each with memory of its own, as they come from a socket. */
export function chunked(bytes: Uint8Array, size: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(own(bytes.subarray(at, at + size)));
  return chunks;
}

/** Chunks of `size`, one when the one before is done with, as a stream gives them. */
export async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Buffer> {
  yield* chunked(bytes, size);
}

/** The bytes cut at the given positions. */
export function cutAt(bytes: Uint8Array, positions: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let start = 0;
  for (const position of [...positions, bytes.length]) {
    if (position > start) chunks.push(own(bytes.subarray(start, position)));
    start = Math.max(start, position);
  }
  return chunks;
}

/** Whole, byte by byte, in sevens, and cut in two at every position: a byte machine must not see the difference. */
export function* chunkings(bytes: Uint8Array): Generator<{ name: string; chunks: Buffer[] }> {
  yield { name: 'whole', chunks: [own(bytes)] };
  yield { name: 'byte by byte', chunks: chunked(bytes, chunkSize(1)) };
  yield { name: 'in sevens', chunks: chunked(bytes, 7) };
  const step = cutStep(bytes.length <= EVERY_CUT ? 1 : 97);
  for (let at = 1; at < bytes.length; at += step) yield { name: `cut at ${at}`, chunks: cutAt(bytes, [at]) };
}

function own(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  copy.set(bytes);
  return copy;
}
