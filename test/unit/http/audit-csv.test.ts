import { describe, expect, it } from '@jest/globals';
import { CSV_HEAD, csvLine } from '../../../gateway/http/console/audit-csv.js';
import type { AuditLine } from '../../../gateway/http/console/audit-search.js';

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
  it('has a cell for each column (12.10)', () => {
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
    'holds no formula that a spreadsheet would run: %j (12.10)',
    (tool) => {
      expect(cellsOf({ ...LINE, tool }).tool).toBe(`"'${tool}"`);
    },
  );

  it('quotes what would end a cell or a line (12.10)', () => {
    expect(csvLine({ ...LINE, tool: 'a"b,c\r\nd' })).toContain('"a""b,c\r\nd"');
    expect(csvLine({ ...LINE, client: '=HYPERLINK("https://evil.example","x")' })).toContain(
      `"'=HYPERLINK(""https://evil.example"",""x"")"`,
    );
  });
});
