import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { HeldRequest } from '../../../../gateway/budget/held.js';
import { beginStep, isTurnOver } from '../../../../gateway/budget/turn.js';
import type { GatewayError } from '../../../../gateway/errors.js';
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

describe('a body with a file', () => {
  const limits = { ...DEFAULT_LIMITS, message: 40_000, inlineArgument: 200_000 };
  const fileOf = (length: number, more = '') => `{"a":"${more}","params":{"arguments":{"f":"${'A'.repeat(length)}"}}}`;

  it.each([1000, 50_000, 65_536, 1_000_000])('does not count it as message, in chunks of %i bytes', (chunk) => {
    const fate = (text: string) => {
      const body = new IncomingBody(limits, new HeldRequest(heldBudget(10_000_000), limits, {}));
      const bytes = Buffer.from(text);
      try {
        for (let at = 0; at < bytes.length; at += chunk) body.take(bytes.subarray(at, at + chunk));
        return body.whole().toString() === text ? 'taken' : 'shortened';
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    expect(fate(fileOf(100_000))).toBe('taken');
    expect(fate(fileOf(100_000, 'x'.repeat(39_000)))).toBe('taken');
    expect(fate(fileOf(100_000, 'x'.repeat(41_000)))).toBe('message_too_large');
    expect(fate(fileOf(41_000))).toBe('taken');
    // one that is small beside the limit counts
    expect(fate(fileOf(4_000, 'x'.repeat(37_000)))).toBe('message_too_large');
    expect(fate(fileOf(400_000))).toBe('shortened');
  });
});

describe('a long body, in a turn of the event loop that has lasted long enough', () => {
  const limits = { ...DEFAULT_LIMITS, message: 200_000, inlineArgument: 100_000 };
  const call = (more: string, text: string) =>
    `{"method":"tools/call","params":{"arguments":{"a":[${more}],"f":"${text}"}}}`;

  /** Nothing but the end of the turn, which does not come within a test that does not wait, makes it false again. */
  function longTurn(): void {
    beginStep();
    while (!isTurnOver());
  }

  /** In how many turns it is measured. */
  function turnsOf(body: IncomingBody, text: string): number {
    body.add(Buffer.from(text));
    let turns = 1;
    while (!body.catchUp()) turns += 1;
    return turns;
  }

  it('is measured a step at a time', () => {
    longTurn();
    const held = heldBudget(10_000_000);
    const body = new IncomingBody(limits, new HeldRequest(held, limits, {}));
    const text = call('1', 'A'.repeat(120_000)).padEnd(201_000);
    expect(turnsOf(body, text)).toBe(Math.ceil(text.length / 65_536));
    expect(body.whole().toString()).toBe(text);
  });

  it('is refused in the step that is too long, without the rest', () => {
    longTurn();
    const held = heldBudget(10_000_000);
    const body = new IncomingBody(limits, new HeldRequest(held, limits, {}));
    body.add(Buffer.from(call('1,'.repeat(250_000), '')));
    for (let step = 0; step < 3; step++) expect(body.catchUp()).toBe(false);
    expect(() => body.catchUp()).toThrow(expect.objectContaining({ code: 'message_too_large' }));
  });

  it('is shortened a step at a time, and counts what it keeps', () => {
    longTurn();
    const held = heldBudget(10_000_000);
    const body = new IncomingBody(limits, new HeldRequest(held, limits, {}));
    const more = '1,'.repeat(50_000).slice(0, -1);
    const text = call(more, 'A'.repeat(250_000));
    // once up to what is too long, and once again to shorten it
    expect(turnsOf(body, text)).toBeGreaterThan(Math.ceil(text.length / 65_536) + 3);
    expect(body.tooLong).toMatchObject({ path: ['f'] });
    expect(body.whole().toString()).toBe(call(more, ''));
    expect(held.used).toBeGreaterThanOrEqual(more.length);
    expect(held.used).toBeLessThan(text.length);
    expect(body.pieces).toEqual([]);
  });
});

describe('limits.message', () => {
  const limits = { ...DEFAULT_LIMITS, message: 50_000, inlineArgument: 100_000 };
  const call = (bytes: number, file: string) => {
    const of = (text: string) =>
      `{"method":"tools/call","params":{"arguments":{"a":"${file}","b":"${file}"},"text":"${text}"}}`;
    return Buffer.from(of('x'.repeat(bytes - of('').length + 2 * file.length)));
  };
  /** The error that a message causes; one that is measured only because of its files, too. */
  function refusal(message: Buffer, piece: number) {
    const held = heldBudget(10_000_000);
    const body = new IncomingBody(limits, new HeldRequest(held, limits, {}));
    try {
      for (let at = 0; at < message.length; at += piece) body.take(message.subarray(at, at + piece));
      return undefined;
    } catch (error) {
      return (error as GatewayError).facts;
    }
  }

  it.each([
    ['without a file', ''],
    ['with two long files', 'QUJD'.repeat(20_000)],
    ['with two files, one too long to be kept', 'QUJD'.repeat(40_000)],
  ])('is the bytes of a message %s, whatever is noted beside them', (_, file) => {
    for (const piece of [999, 65_536]) {
      expect(refusal(call(50_000, file), piece)).toBeUndefined();
      expect(refusal(call(50_001, file), piece)).toMatchObject({ limit: 'limits.message', allowed: 50_000 });
    }
  });

  it('counts what is noted beside them beyond 300 places, such as a long key above many files', () => {
    const deep = `"${'k'.repeat(20_000)}":`;
    const files = Array(10)
      .fill(`"${'QUJD'.repeat(20_000)}"`)
      .join(',');
    const body = Buffer.from(`{"params":{"arguments":{${deep}[${files}]}}}`);
    const take = (message: number) => {
      const taken = new IncomingBody({ ...limits, message }, { grow() {}, release() {} });
      for (let at = 0; at < body.length; at += 65_536) taken.take(body.subarray(at, at + 65_536));
    };
    const noted = 10 * 20_200 - 300 * 200;
    take(noted + 30_000);
    expect(() => take(noted)).toThrow(
      expect.objectContaining({ facts: expect.objectContaining({ limit: 'limits.message' }) }),
    );
  });
});
