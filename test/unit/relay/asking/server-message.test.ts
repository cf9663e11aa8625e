import { describe, expect, it } from '@jest/globals';
import { refusalText, serverMessage } from '../../../../gateway/relay/asking/server-message.js';

const asked = (params: unknown) => [
  Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'elicitation/create', params })),
];
const nested = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown;

describe('a question of a server', () => {
  it.each<[string, Buffer[], string]>([
    ['is too long', asked({ message: 'x'.repeat(300_000) }), 'is 300.1 kB long'],
    ['is a little too long', asked({ message: 'x'.repeat(262_080) }), 'is 262.2 kB long'],
    ['has too many values', asked({ a: Array.from({ length: 6000 }, () => 1) }), 'has more values'],
    ['has too many levels', asked({ a: nested(101) }), 'has more levels'],
    ['has no parameters', asked(undefined), 'is not one message'],
  ])('that %s cannot be read, and its server is told why', (_what, pieces, excess) => {
    expect(serverMessage(pieces, true)).toBeUndefined();
    expect(refusalText(pieces)).toBe(
      `a question is one message of at most 262.1 kB, 5000 values and 100 levels, and this one ${excess}`,
    );
  });
});
