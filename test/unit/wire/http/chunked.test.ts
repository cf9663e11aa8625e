import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { WireError } from '../../../../gateway/wire/errors.js';
import { Chunked } from '../../../../gateway/wire/http/chunked.js';

/** The body, and what follows it; undefined where it goes on. */
function read(pieces: readonly Buffer[]): { body: string; rest: string } | undefined {
  const chunked = new Chunked();
  const parts: Buffer[] = [];
  for (const [place, piece] of pieces.entries()) {
    const end = chunked.feed(piece, 0, (start, stop) => parts.push(piece.subarray(start, stop)));
    if (end === -1) continue;
    const rest = Buffer.concat([piece.subarray(end), ...pieces.slice(place + 1)]);
    return { body: Buffer.concat(parts).toString('latin1'), rest: rest.toString('latin1') };
  }
  return undefined;
}

/** Whole, byte by byte, and in two pieces with each possible border. */
function cuts(text: string): Buffer[][] {
  const bytes = Buffer.from(text, 'latin1');
  const inTwo = [...bytes.keys()].map((at) => [bytes.subarray(0, at), bytes.subarray(at)]);
  return [[bytes], [...bytes].map((byte) => Buffer.from([byte])), ...inTwo];
}

describe('a chunked body', () => {
  it.each([
    ['no byte', '0\r\n\r\n', '', ''],
    ['one chunk', '5\r\nhello\r\n0\r\n\r\n', 'hello', ''],
    ['several', '1\r\na\r\nA\r\n0123456789\r\n0a\r\n0123456789\r\n0\r\n\r\n', 'a01234567890123456789', ''],
    ['line ends in it', '4\r\n\r\n\r\n\r\n0\r\n\r\n', '\r\n\r\n', ''],
    ['extensions', '5;a=b;c="d"\r\nhello\r\n5 \r\nworld\r\n0;x\r\n\r\n', 'helloworld', ''],
    ['a trailer', '5\r\nhello\r\n0\r\nX: y\r\nZ:\r\n\r\n', 'hello', ''],
    ['bytes after it', '5\r\nhello\r\n000\r\n\r\nHTTP/1.1', 'hello', 'HTTP/1.1'],
  ])('with %s is read in any pieces', (_what, text, body, rest) => {
    for (const pieces of cuts(text)) expect(read(pieces)).toEqual({ body, rest });
  });

  it.each([
    ['a size that is none', 'zz\r\n'],
    ['an empty size', '\r\n'],
    ['a size below zero', '-1\r\n'],
    ['a size with a prefix', '0x5\r\nhello'],
    ['too long a size', '00000000000005\r\nhello'],
    ['a line feed alone after its size', '5\nhello'],
    ['a carriage return alone after its size', '5\rhello'],
    ['more than it says', '5\r\nhello!\r\n'],
    ['a line feed alone after its bytes', '5\r\nhello\n0\r\n\r\n'],
    ['a line feed in an extension', '5;a\nb\r\nhello'],
    ['too long extensions', `5;${'x'.repeat(20_000)}\r\nhello`],
    ['too long extensions of many chunks', '1;xxxxxxxxx\r\na\r\n'.repeat(2000)],
    ['too long a trailer', `0\r\n${'X: y\r\n'.repeat(20_000)}`],
    ['a line feed alone in its trailer', '0\r\nX: y\n\r\n'],
    ['a carriage return alone at its end', '0\r\n\rX'],
  ])('with %s is refused', (_what, text) => {
    const bytes = Buffer.from(text);
    expect(() => read([bytes])).toThrow(WireError);
    expect(() => read([...bytes].map((byte) => Buffer.from([byte])))).toThrow(WireError);
  });

  it('gives back what was written, however it is divided', () => {
    const body = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 8 });
    fc.assert(
      fc.property(body, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (chunks, steps) => {
        const written = chunks.flatMap((chunk) => [`${chunk.length.toString(16)}\r\n`, chunk, '\r\n']);
        const bytes = Buffer.concat([...written, '0\r\n\r\n'].map((part) => Buffer.from(part as string)));
        const pieces: Buffer[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const step = steps[turn % steps.length] ?? 1;
          pieces.push(bytes.subarray(at, at + step));
          at += step;
        }
        expect(read(pieces)).toEqual({ body: Buffer.concat(chunks).toString('latin1'), rest: '' });
      }),
    );
  });
});
