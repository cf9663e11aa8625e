import { describe, expect, it } from '@jest/globals';
import { CSV_HEAD, csvLine } from '../../../gateway/http/console/audit-csv.js';
import type { AuditLine } from '../../../gateway/http/console/audit-search.js';
import { auditCsv } from '../../../gateway/http/routes/console-audit.js';

const LINE: AuditLine = { seq: 7, chain: 'c_1', time: '2026-11-22T21:04:09.000Z', what: 'call', allowed: true };

/** The cells of a line that has no line end and no comma within its quotes. */
const cellsOf = (line: AuditLine) => {
  const cells = csvLine(line).trimEnd().split(',');
  return Object.fromEntries(
    CSV_HEAD.trimEnd()
      .split(',')
      .map((name, index) => [name, cells[index]]),
  );
};

describe('a line of an audit log as CSV', () => {
  it('has a cell for each column', () => {
    const files = [
      { digest: 'abc', size: 10 },
      { digest: 'def', size: 5 },
    ];
    expect(cellsOf({ ...LINE, principal: 'ada', tool: 'echo', files })).toMatchObject({
      ...{ time: LINE.time, what: 'call', allowed: 'true', principal: 'ada', tool: 'echo' },
      ...{ files: 'abc def', bytes: '15', seq: '7' },
    });
  });

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '  =1', '|calc', '%0A=1'])(
    'holds no formula that a spreadsheet would run: %j',
    (tool) => {
      expect(cellsOf({ ...LINE, tool }).tool).toBe(`"'${tool}"`);
    },
  );

  it.each(['＝1+1', '＋1', '－1', '＠SUM(A1)'])('holds none in full-width signs: %s', (tool) => {
    expect(cellsOf({ ...LINE, tool }).tool).toBe(`"'${tool}"`);
  });

  it('holds none behind what ends a cell in other countries', () => {
    const cell = (tool: string) => cellsOf({ ...LINE, tool }).tool;
    expect([cell('a;=1+1'), cell('a; @b;;-1')]).toEqual([`"a;'=1+1"`, `"a; '@b;;'-1"`]);
    expect(cell('a;b - c')).toBe('a;b - c');
  });

  it('quotes what would end a cell or a line', () => {
    expect(csvLine({ ...LINE, tool: 'a"b,c\r\nd' })).toContain('"a""b,c\r\nd"');
    expect(csvLine({ ...LINE, client: '=HYPERLINK("https://evil.example","x")' })).toContain(
      `"'=HYPERLINK(""https://evil.example"",""x"")"`,
    );
  });
});

describe('the audit log for a spreadsheet', () => {
  it('lets others have a turn while it is made, however many lines it has', async () => {
    const text = JSON.stringify({ ...LINE, tool: '=a tool'.repeat(30), time: '2026-11-26T10:00:00.000Z', seq: 1 });
    const newest = async function* lines() {
      for (let n = 0; n < 50_000; n++) yield { text, at: 0 };
    };
    let turns = 0;
    let next = setImmediate(function count() {
      turns += 1;
      next = setImmediate(count);
    });
    const answer = await auditCsv({ name: 'file', newest }, {});
    clearImmediate(next);
    expect(turns).toBeGreaterThan(2);
    expect((await answer.text()).split('\r\n')).toHaveLength(50_002);
  });
});
