import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { HeldRequest } from '../../../../gateway/budget/held.js';
import { DEFAULT_LIMITS } from '../../../../gateway/policy/limits.js';
import { IncomingBody } from '../../../../gateway/relay/client/incoming-body.js';
import { inputLines } from '../../../../gateway/stdio/input.js';
import { heldBudget } from '../../../helpers/budgets.js';

const LINE = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { text: 'x'.repeat(10_000) } });

/** Each byte in memory of its own, as Node's HTTP parser gives them. */
function* singly(text: string): Generator<Buffer> {
  for (const byte of Buffer.from(text)) {
    const chunk = Buffer.allocUnsafeSlow(1);
    chunk[0] = byte;
    yield chunk;
  }
}

/** Bytes of memory that these buffers keep alive. */
function memoryOf(pieces: readonly Buffer[]): number {
  const backing = new Set(pieces.map((piece) => piece.buffer));
  // a Buffer object and its ArrayBuffer cost some 200 bytes beside their bytes
  return [...backing].reduce((sum, { byteLength }) => sum + byteLength, 0) + 200 * (pieces.length + backing.size);
}

describe('a body that comes byte by byte', () => {
  it('takes little more memory than its bytes', () => {
    const held = heldBudget(10_000_000);
    const body = new IncomingBody(DEFAULT_LIMITS, new HeldRequest(held, DEFAULT_LIMITS, {}));
    for (const chunk of singly(LINE)) body.take(chunk);
    expect(held.used).toBe(LINE.length);
    expect(memoryOf(body.pieces)).toBeLessThan(2 * LINE.length);
    expect(body.whole().toString()).toBe(LINE);
  });

  it('is kept as it is when it comes at once', () => {
    const held = heldBudget(10_000_000);
    const body = new IncomingBody(DEFAULT_LIMITS, new HeldRequest(held, DEFAULT_LIMITS, {}));
    const chunk = Buffer.from(LINE);
    body.take(chunk);
    expect(body.whole()).toBe(chunk);
  });

  it('is read on standard input too', async () => {
    const held = heldBudget(10_000_000);
    const lines = [];
    for await (const line of inputLines(Readable.from(singly(`${LINE}\n${LINE}\n`)), DEFAULT_LIMITS, held, {}))
      lines.push(line);
    expect(lines).toEqual([{ bytes: Buffer.from(LINE) }, { bytes: Buffer.from(LINE) }]);
    expect(held.used).toBe(0);
  });
});

describe('a body with an argument that is too long, and very many values behind', () => {
  it('keeps what shows that it is malformed, and none of the rest', () => {
    const limits = { ...DEFAULT_LIMITS, message: 200_000, inlineArgument: 100_000 };
    const held = heldBudget(10_000_000);
    const body = new IncomingBody(limits, new HeldRequest(held, limits, {}));
    const call = (text: string) => `{"method":"tools/call","params":{"arguments":{"f":"${text}"}}}`;
    body.take(Buffer.from(call('A'.repeat(250_000))));
    body.take(Buffer.from(' 1'.repeat(50_000)));
    expect(body.whole().toString()).toBe(`${call('')}1`);
  });
});
