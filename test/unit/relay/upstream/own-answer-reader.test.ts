import { describe, expect, it } from '@jest/globals';
import { DEFAULT_LIMITS } from '../../../../gateway/policy/limits.js';
import { OwnAnswerReader } from '../../../../gateway/relay/upstream/own-answer-reader.js';
import { heldBudget } from '../../../helpers/budgets.js';

const ANSWER = '{"jsonrpc":"2.0","id":7,"result":{"a":1}}';

describe('an answer to a request of Wharf’s own', () => {
  const reader = (kind: 'json' | 'sse') =>
    new OwnAnswerReader(kind, { id: '7', limits: DEFAULT_LIMITS, held: heldBudget(1e6), owner: {} });

  it.each<['json' | 'sse', string, string]>([
    ['json', '1 ', `${ANSWER} `],
    ['sse', 'data:1\n\n', `data: ${ANSWER}\n\n`],
  ])('over %s is found behind very many messages, between which others have a turn', async (kind, other, answer) => {
    const found = reader(kind);
    let turns = 0;
    const watch = setInterval(() => {
      turns += 1;
    });
    const reading = found.feed(Buffer.from(other.repeat(5000) + answer + other.repeat(5000)));
    expect(found.answer).toBeUndefined();
    await reading;
    clearInterval(watch);
    expect(found.answer?.skeleton().toString()).toBe(ANSWER);
    expect(turns).toBeGreaterThan(0);
    found.release();
  });

  it('is found at once in a short chunk', () => {
    const found = reader('json');
    expect(found.feed(Buffer.from(ANSWER))).toBeUndefined();
    found.end();
    expect(found.answer?.skeleton().toString()).toBe(ANSWER);
  });
});
