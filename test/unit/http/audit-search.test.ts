import { describe, expect, it } from '@jest/globals';
import { type AuditFilter, type AuditLine, searchAudit } from '../../../gateway/http/console/audit-search.js';

const NOON = Date.parse('2026-11-26T12:00:00.000Z');
const MINUTE = 60_000;

const line = (seq: number, more: Partial<AuditLine> = {}): AuditLine => ({
  ...{ seq, chain: 'c_1', time: new Date(NOON + seq * MINUTE).toISOString(), what: 'call', allowed: true },
  ...more,
});

/** The lines of a log, the newest first. */
const logOf = (lines: readonly (AuditLine | string)[]) =>
  async function* newest() {
    for (const [at, one] of lines.entries()) yield { text: typeof one === 'string' ? one : JSON.stringify(one), at };
  };

async function found(lines: readonly (AuditLine | string)[], filter: AuditFilter, limit = 10): Promise<number[]> {
  return (await searchAudit(logOf(lines), filter, { limit })).lines.map(({ seq }) => seq);
}

describe('a search in the audit log', () => {
  it('knows the times between which a line was written, both of them included', async () => {
    const lines = [4, 3, 2, 1].map((seq) => line(seq));
    expect(await found(lines, { from: NOON + 2 * MINUTE, until: NOON + 3 * MINUTE })).toEqual([3, 2]);
    expect(await found(lines, { until: NOON + 2 * MINUTE - 1 })).toEqual([1]);
  });

  it('finds a server by its calls, and by files that came from it or went to it', async () => {
    const lines = [
      line(4, { server: 'crm' }),
      line(3, { from: 'crm', to: 'web' }),
      line(2, { from: 'web', to: 'crm' }),
      line(1, { server: 'web' }),
    ];
    expect(await found(lines, { server: 'crm' })).toEqual([4, 3, 2]);
  });

  it('finds parts of names in any case, and whole words of kinds', async () => {
    const lines = [
      line(3, { principal: 'Ada@example.com', tool: 'read_file' }),
      line(2, { principal: 'bob', what: 'login', actor: 'ada', allowed: false }),
      line(1, { tool: 'READ_mail' }),
    ];
    expect(await found(lines, { principal: 'ada' })).toEqual([3]);
    expect(await found(lines, { actor: 'AD' })).toEqual([2]);
    expect(await found(lines, { tool: 'read_' })).toEqual([3, 1]);
    expect(await found(lines, { what: 'login' })).toEqual([2]);
    expect(await found(lines, { allowed: true })).toEqual([3, 1]);
  });

  it('passes over what is not a line of the log, and counts it', async () => {
    const { lines, looked } = await searchAudit(logOf(['', '{', '[]', '{"seq":"1"}', line(1)]), {}, { limit: 10 });
    expect([lines.length, looked]).toEqual([1, 5]);
  });

  it('looks at a hundred thousand lines at the most, and says where the rest begins', async () => {
    let given = 0;
    async function* newest() {
      const text = JSON.stringify(line(7));
      for (; ; given += 1) yield { text, at: given };
    }
    const page = await searchAudit(newest, { tool: 'absent' }, { limit: 10 });
    expect(page).toEqual({ lines: [], looked: 100_000, next: 'c_1.7.99999' });
  });

  it('goes on behind the last line of the page before, and nowhere from a place that it did not give', async () => {
    const asked: unknown[] = [];
    const newest = (before?: unknown) => {
      asked.push(before);
      return logOf([line(1)])();
    };
    expect((await searchAudit(newest, {}, { after: 'c_1.2.345', limit: 10 })).lines).toHaveLength(1);
    expect(asked).toEqual([{ chain: 'c_1', seq: 2, at: 345 }]);
    for (const after of ['c_1.2', 'c_1.2.3.4', '../x.1.2', 'c_1.-1.2'])
      expect(await searchAudit(newest, {}, { after, limit: 10 })).toEqual({ lines: [], looked: 0 });
    expect(asked).toHaveLength(1);
  });
});
