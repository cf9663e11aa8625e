import { describe, expect, it } from '@jest/globals';
import type { Piece } from '../../../../gateway/json/written.js';
import { outgoing } from '../../../../gateway/relay/arguments/outgoing-message.js';

/** A file of so many bytes, in two pieces, between two texts. */
function withFile(bytes: number, failure?: Error): { length: number; pieces: Piece[]; opened: () => number } {
  let opened = 0;
  async function* file() {
    opened += 1;
    yield Buffer.alloc(bytes - 1, 'a');
    if (failure) throw failure;
    yield Buffer.from('b');
  }
  return { length: bytes + 2, pieces: [Buffer.from('<'), file, Buffer.from('>')], opened: () => opened };
}

describe('a message on its way to a server', () => {
  it('is sent in one piece with a small file in it', async () => {
    const message = await outgoing(withFile(1000));
    expect(Buffer.isBuffer(message) && message.toString()).toBe(`<${'a'.repeat(999)}b>`);
  });

  it('is ready at once when a small file is in memory', () => {
    const message = outgoing({ length: 6, pieces: [Buffer.from('<'), () => [Buffer.from('file')], Buffer.from('>')] });
    expect(Buffer.isBuffer(message) && message.toString()).toBe('<file>');
  });

  it('fails before anything is sent when a small file cannot be read', async () => {
    await expect(outgoing(withFile(1000, new Error('gone')))).rejects.toThrow('gone');
  });

  it('is read as it is sent with a large one', async () => {
    const written = withFile(100_000);
    const message = await outgoing(written);
    expect(written.opened()).toBe(0);
    if (Buffer.isBuffer(message)) throw new Error('read too early');
    let length = 0;
    for await (const chunk of message.read()) length += chunk.length;
    expect([length, message.length]).toEqual([100_002, 100_002]);
  });
});
