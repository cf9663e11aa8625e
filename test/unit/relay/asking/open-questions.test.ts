import { describe, expect, it } from '@jest/globals';
import { HeldBudget } from '../../../../gateway/budget/held.js';
import { Ledger } from '../../../../gateway/budget/ledger.js';
import { OpenQuestions } from '../../../../gateway/relay/asking/open-questions.js';

const sharing = { ratio: 0.5, principals: true, servers: false };

function lab() {
  const waiting = new Ledger({ limit: 'limits.questions', total: 4, sharing });
  const bytes = new Ledger({ limit: 'limits.held', total: 1000, sharing });
  const questions = new OpenQuestions({
    ...{ waiting, held: new HeldBudget(bytes), server: 'docs' },
    ...{
      questions: { takeOver: () => () => undefined, isTakenOver: async () => false },
      timeouts: { elicitation: 1000 },
    },
  });
  return { waiting, bytes, questions };
}

const ann = { principal: 'ann', session: 's' };

describe('the open questions of a server', () => {
  it('are counted, with their bytes, until each has its answer', () => {
    const { waiting, bytes, questions } = lab();
    const one = questions.begin(ann, 1, 100);
    one?.hold(50);
    expect([waiting.used, bytes.used, questions.size]).toEqual([1, 150, 1]);
    one?.end();
    one?.end();
    expect([waiting.used, bytes.used, questions.size]).toEqual([0, 0, 0]);
  });

  it('are known by the ids that their servers have given them, to their callers alone', () => {
    const { questions } = lab();
    const one = questions.begin(ann, 'a', 1);
    expect(questions.has(ann, 'a')).toBe(true);
    expect([questions.has(ann, 'b'), questions.has({ ...ann, session: 't' }, 'a')]).toEqual([false, false]);
    // its client has renewed its token
    expect(questions.has({ ...ann, principal: 'ann, later' }, 'a')).toBe(true);
    one?.end();
    expect(questions.has(ann, 'a')).toBe(false);
  });

  it('are known by every other id that a server takes for the same one', () => {
    const { questions } = lab();
    questions.begin(ann, 42, 1);
    questions.begin(ann, '7', 1);
    for (const id of ['42', ' 42', '+42.0', '0x2a', '4_2', '４２', '٤٢', '𝟒𝟐', '\u008542', `${'0'.repeat(20_000)}42`])
      expect([id, questions.has(ann, id)]).toEqual([id, true]);
    for (const id of ['43', 'a42', '', '4 2', null, 7]) expect([id, questions.has(ann, id)]).toEqual([id, id === 7]);
  });

  it('are no more than limits.questions and the caller’s share of it', () => {
    const { waiting, questions } = lab();
    questions.begin(ann, 1, 1);
    questions.begin(ann, 2, 1);
    expect(() => questions.begin(ann, 3, 1)).toThrow(/your share of the calls that wait for a user here, 2\./);
    expect(questions.begin({ principal: 'bob', session: 's' }, 3, 1)).toBeDefined();
    expect(waiting.used).toBe(3);
  });

  it('take no more memory than limits.held allows, and no place without it', () => {
    const { waiting, bytes, questions } = lab();
    expect(() => questions.begin(ann, 1, 600)).toThrow(expect.objectContaining({ code: 'held_full' }));
    expect([waiting.used, bytes.used, questions.size]).toEqual([0, 0, 0]);
  });

  it('are asked once each, however often a stream repeats them, and by each session for itself', () => {
    const { questions } = lab();
    const one = questions.begin(ann, 'q', 1);
    expect(questions.begin(ann, 'q', 1)).toBeUndefined();
    expect(questions.begin({ ...ann, session: 't' }, 'q', 1)).toBeDefined();
    expect(questions.cancel({ principal: 'ann', session: 'u' }, 'q')).toBe(false);
    expect(questions.cancel(ann, 'q')).toBe(true);
    expect(one?.ended.signal.aborted).toBe(true);
    one?.end();
    expect(questions.begin(ann, 'q', 1)).toBeDefined();
  });
});
