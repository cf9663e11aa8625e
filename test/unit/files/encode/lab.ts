import { type EncodedValue, encodeFile, type FileSource } from '../../../../gateway/files/encode/index.js';
import type { Encoding } from '../../../../gateway/ports/file-slot.js';
import { chunked } from '../../../helpers/chunked.js';

export const F1 = Buffer.from('Hello world!');
export const F4 = Buffer.from([0x00, 0x01, 0x02, 0xfd, 0xfe, 0xff]);

/** A stored file whose bytes come in the given chunks. */
export function sourceOf(chunks: readonly Buffer[], about: Partial<FileSource> = {}): FileSource {
  return {
    name: 'x.bin',
    mimeType: 'application/octet-stream',
    size: chunks.reduce((sum, chunk) => sum + chunk.length, 0),
    async *read() {
      yield* chunks;
    },
    ...about,
  };
}

export function fileOf(bytes: Buffer, about: Partial<FileSource> = {}): FileSource {
  return sourceOf(chunked(bytes, 5), about);
}

export async function* piecesOf(value: EncodedValue): AsyncGenerator<Buffer> {
  for (const piece of value.pieces) {
    if (typeof piece === 'function') yield* piece();
    else yield piece;
  }
}

export async function joined(value: EncodedValue): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of piecesOf(value)) parts.push(part);
  return Buffer.concat(parts);
}

/** The JSON of the value. Throws where its length is not the promised one. */
export async function jsonOf(encoding: Encoding, file: FileSource, parts = {}): Promise<string> {
  const value = await encodeFile(encoding, file, { path: 'image', ...parts });
  const json = await joined(value);
  if (json.length !== value.length) throw new Error(`${value.length} bytes were promised, ${json.length} came`);
  return json.toString();
}
