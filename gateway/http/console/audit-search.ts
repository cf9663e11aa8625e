import type { AuditPlace, AuditText, AuditWhat } from '../../ports/audit.js';

/** What an audit log can be searched by. All of it must fit. */
export interface AuditFilter {
  /** Milliseconds since the epoch. */
  from?: number | undefined;
  until?: number | undefined;
  /** A part of the name, in any case. */
  principal?: string | undefined;
  actor?: string | undefined;
  tool?: string | undefined;
  /** Whole. */
  server?: string | undefined;
  what?: string | undefined;
  allowed?: boolean | undefined;
}

/** One line as it was written, without its hashes. */
export interface AuditLine {
  seq: number;
  chain: string;
  time: string;
  what: AuditWhat;
  allowed: boolean;
  principal?: string;
  actor?: string;
  client?: string;
  address?: string;
  server?: string;
  method?: string;
  tool?: string;
  subject?: string;
  from?: string;
  to?: string;
  rule?: string;
  reason?: string;
  code?: string;
  outcome?: string;
  count?: number;
  token?: { issuer?: string; client?: string; id?: string; claimed?: true };
  scan?: { verdict: string; signature?: string; database?: string };
  files?: { id?: string; digest?: string; size: number; mimeType?: string }[];
}

/** A page of a search. */
export interface AuditPage {
  lines: AuditLine[];
  /** Where an older page begins; absent at the end of the log. */
  next?: string;
  /** Lines that were looked at. */
  looked: number;
}

/** The kinds of lines, in the order of the form. */
export const WHATS: readonly AuditWhat[] = [
  ...(['call', 'file', 'handoff', 'upload', 'download'] as const),
  ...(['scan', 'login', 'consent', 'control', 'config'] as const),
];

/** Lines that one request looks at: 40 MB, which take half a second. */
const MOST_LOOKED = 100_000;

/**
 * The lines that fit, the newest first.
 * @param after the `next` of the page before: only older lines are read
 */
export async function searchAudit(
  newest: (before?: AuditPlace) => AsyncIterable<AuditText>,
  filter: AuditFilter,
  { after = '', limit }: { after?: string; limit: number },
): Promise<AuditPage> {
  const lines: AuditLine[] = [];
  let looked = 0;
  const before = placeIn(after);
  if (after !== '' && !before) return { lines, looked };
  for await (const { text, at: begin } of newest(before)) {
    looked += 1;
    const line = lineIn(text);
    if (!line) continue;
    const at = Date.parse(line.time);
    if (filter.from !== undefined && at < filter.from) break;
    if (fits(line, at, filter)) lines.push(line);
    if (lines.length === limit || looked >= MOST_LOOKED)
      return { lines, next: `${line.chain}.${line.seq}.${begin}`, looked };
  }
  return { lines, looked };
}

const PLACE = /^([\w-]{1,40})\.(\d{1,15})\.(\d{1,15})$/;

function placeIn(text: string): AuditPlace | undefined {
  const [, chain = '', seq, at] = PLACE.exec(text) ?? [];
  return chain === '' ? undefined : { chain, seq: Number(seq), at: Number(at) };
}

function fits(line: AuditLine, at: number, filter: AuditFilter): boolean {
  const { until, principal, actor, tool, server, what, allowed } = filter;
  return (
    (until === undefined || at <= until) &&
    (what === undefined || line.what === what) &&
    (allowed === undefined || line.allowed === allowed) &&
    (server === undefined || [line.server, line.from, line.to].includes(server)) &&
    has(line.principal, principal) &&
    has(line.actor, actor) &&
    has(line.tool, tool)
  );
}

function has(text: string | undefined, part: string | undefined): boolean {
  return part === undefined || (text ?? '').toLowerCase().includes(part.toLowerCase());
}

/** Undefined for what is not a line of an audit log: the file may have been damaged. */
function lineIn(text: string): AuditLine | undefined {
  try {
    const { prev: _, hash: __, ...line } = JSON.parse(text) as AuditLine & { prev: string; hash: string };
    return typeof line.time === 'string' && typeof line.seq === 'number' ? line : undefined;
  } catch {
    return undefined;
  }
}
