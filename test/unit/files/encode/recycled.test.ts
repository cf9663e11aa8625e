import { describe, expect, it } from '@jest/globals';
import { encodeFile } from '../../../../gateway/files/encode/index.js';
import { recycled } from '../../../../gateway/files/encode/recycled.js';
import { someBytes } from '../../../helpers/bytes.js';

const CHUNK = 256 * 1024;

/** A file in chunks, and the chunks that were released. */
function fileOf(bytes: Buffer) {
  const released: Buffer[] = [];
  const file = {
    name: 'f',
    mimeType: 'x/y',
    size: bytes.length,
    async *read() {
      for (let at = 0; at < bytes.length; at += CHUNK) yield bytes.subarray(at, at + CHUNK);
    },
    release: (chunk: Buffer) => {
      released.push(chunk);
    },
  };
  return { file, released };
}

/** Its base64, and the memory that held it. */
async function encoded(file: ReturnType<typeof fileOf>['file'], isReleased: boolean) {
  const { pieces } = await encodeFile('base64', file, { path: 'a' });
  const memory = new Set<ArrayBufferLike>();
  let text = '';
  for (const piece of pieces) {
    if (Buffer.isBuffer(piece)) {
      text += piece.toString();
      continue;
    }
    for await (const chunk of piece()) {
      text += chunk.toString('latin1');
      if (chunk.length > 100) memory.add(chunk.buffer);
      if (isReleased) recycled.giveBack(chunk);
    }
  }
  return { text, memory };
}

describe('memory of a file on its way to a server', () => {
  const bytes = someBytes(8 * CHUNK + 1);

  it('is used again when its text has been sent', async () => {
    const { file, released } = fileOf(bytes);
    const { text, memory } = await encoded(file, true);
    expect(text).toBe(`"${bytes.toString('base64')}"`);
    expect(memory.size).toBe(1);
    expect(Buffer.concat(released).equals(bytes)).toBe(true);
  });

  it('is left alone while its text may still be read', async () => {
    const { text, memory } = await encoded(fileOf(bytes).file, false);
    expect(text).toBe(`"${bytes.toString('base64')}"`);
    expect(memory.size).toBe(8);
  });

  it('is not given to two files at once, however often it comes back', () => {
    const piece = recycled.take(300_000);
    for (let n = 0; n < 3; n += 1) recycled.giveBack(piece);
    recycled.giveBack(Buffer.alloc(300_000));
    const taken = Array.from({ length: 6 }, () => recycled.take(300_000).buffer);
    expect(new Set(taken).size).toBe(6);
  });
});
