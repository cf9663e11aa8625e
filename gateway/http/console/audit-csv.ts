import type { AuditLine } from './audit-search.js';

const COLUMNS = [
  ...['time', 'what', 'allowed', 'principal', 'actor', 'client', 'address', 'server', 'method', 'tool', 'subject'],
  ...['from', 'to', 'rule', 'code', 'files', 'bytes', 'chain', 'seq', 'reason', 'count', 'outcome'],
  ...['issuer', 'oauthClient', 'tokenId', 'claimed', 'verdict', 'signature', 'database'],
] as const;

/**
 * A cell that begins like this is a formula to a spreadsheet, and may send what is in the others elsewhere. Those of some
 * countries read the full-width signs too.
 */
const FORMULA = /^[\s]*[=+\-@|%＝＋－＠]|^[\t\r\n]/;

/** Those of other countries end a cell here as well, even within quotes: what follows would begin one. */
const OTHER_ENDS = /; {0,8}(?=[=+\-@|%＝＋－＠])/g;

/** The head of the table, as a line. */
export const CSV_HEAD = `${COLUMNS.join(',')}\r\n`;

/** A line of the table (RFC 4180). Names come from peers, so what could be a formula begins with an apostrophe. */
export function csvLine(line: AuditLine): string {
  const { files = [], token, scan } = line;
  const cells: Record<string, unknown> = {
    ...line,
    issuer: token?.issuer,
    oauthClient: token?.client,
    tokenId: token?.id,
    claimed: token?.claimed,
    ...scan,
    files: files.flatMap(({ digest = [] }) => digest).join(' '),
    bytes: files.length === 0 ? '' : files.reduce((all, { size }) => all + size, 0),
  };
  return `${COLUMNS.map((column) => cell(cells[column])).join(',')}\r\n`;
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = typeof value === 'string' ? value.replace(OTHER_ENDS, "$&'") : String(value);
  const safe = typeof value === 'string' && FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
