import { breathe } from '../../budget/turn.js';
import { GatewayError } from '../../errors.js';
import type { ConsoleUser } from '../../ports/console.js';
import { CSV_HEAD, csvLine } from '../console/audit-csv.js';
import { AuditPage, NoAuditPage, type Written } from '../console/audit-page.js';
import { type AuditFilter, searchAudit, WHATS } from '../console/audit-search.js';
import { consolePage } from '../console/console-layout.js';
import type { ConsoleSources } from '../console/facts.js';

/** Lines on one page. */
const ON_PAGE = 100;

/** Lines of one CSV: 20 MB, which a spreadsheet still opens. */
const IN_CSV = 50_000;

const NAMES = ['principal', 'tool', 'server', 'what', 'outcome', 'actor', 'from', 'until'] as const;

const MAX_TEXT = 200;

type Query = Readonly<Record<string, string | undefined>>;
type Audit = ConsoleSources['audit'];

interface Search {
  /** As the address spells it. */
  written: Written;
  filter: AuditFilter;
  /** What is wrong, by its name: a filter without it would find what was not asked for. */
  problems: ReadonlyMap<string, string>;
}

const OUTCOMES: readonly string[] = ['allowed', 'refused'];

/** The filter of an address, as it is written there and as it is meant. */
function searchIn(query: Query): Search {
  const written = Object.fromEntries(
    NAMES.flatMap((name) => (query[name] ? [[name, query[name].slice(0, MAX_TEXT)]] : [])),
  );
  const { principal, tool, server, what, outcome, actor } = written;
  const filter = {
    ...{ principal, tool, server, actor },
    what: WHATS.find((one) => one === what),
    allowed: outcome === undefined ? undefined : outcome === 'allowed',
    from: timeIn(written.from),
    until: timeIn(written.until),
  };
  const kinds: readonly string[] = WHATS;
  const problems = [
    ...(['from', 'until'] as const).flatMap((name) =>
      written[name] !== undefined && filter[name] === undefined
        ? [[name, `"${name}" is not a time such as 2026-08-01T14:30:00: ${written[name]}`] as const]
        : [],
    ),
    ...wrongChoice('what', what, kinds),
    ...wrongChoice('outcome', outcome, OUTCOMES),
  ];
  return { written, filter, problems: new Map(problems) };
}

function wrongChoice(name: string, is: string | undefined, options: readonly string[]): [string, string][] {
  if (is === undefined || options.includes(is)) return [];
  return [[name, `"${name}" is none of ${options.join(', ')}: ${is}`]];
}

/** For programs. @throws GatewayError `request_invalid` */
function filterIn(query: Query): AuditFilter {
  const { filter, problems } = searchIn(query);
  if (problems.size > 0) throw new GatewayError('request_invalid', { reason: [...problems.values()].join('; ') });
  return filter;
}

/** Without it `Date.parse` finds a year in any words with a number. */
const BEGINS_AS_DATE = /^\d{4}-\d\d/;

/** A form sends the local time of nowhere; the page says that it is UTC. */
function timeIn(text: string | undefined): number | undefined {
  if (text === undefined || !BEGINS_AS_DATE.test(text)) return undefined;
  const at = Date.parse(/Z$|[+-]\d\d:\d\d$/.test(text) ? text : `${text}Z`);
  return Number.isNaN(at) ? undefined : at;
}

const addressOf = (path: string, written: Written, after?: string) =>
  `${path}?${new URLSearchParams({ ...written, ...(after !== undefined && { after }) })}`;

/** A page of the audit log, searched by what the query says, the newest first. */
export async function auditPage(user: ConsoleUser, { audit, servers }: ConsoleSources, query: Query) {
  if (!audit.newest) return <NoAuditPage user={user} use={audit.name} />;
  const { written, filter, problems } = searchIn(query);
  const form = { user, written, servers: servers().map(({ name }) => name) };
  if (problems.size > 0) return consolePage(<AuditPage {...form} problems={problems} />, 400);
  const found = await searchAudit(audit.newest, filter, { after: query.after ?? '', limit: ON_PAGE });
  const next = found.next === undefined ? undefined : addressOf('/audit', written, found.next);
  return <AuditPage {...form} found={found} next={next} csv={addressOf('/audit.csv', written)} />;
}

/** The page as data. */
export async function auditJson({ newest, name }: Audit, query: Query) {
  if (!newest) return { use: name, lines: [] };
  return searchAudit(newest, filterIn(query), { after: query.after ?? '', limit: ON_PAGE });
}

/** What fits, as a file for a spreadsheet. */
export async function auditCsv({ newest }: Audit, query: Query): Promise<Response> {
  const filter = filterIn(query);
  const { lines } = newest ? await searchAudit(newest, filter, { limit: IN_CSV }) : { lines: [] };
  const rows = [CSV_HEAD];
  for (const line of lines) {
    rows.push(csvLine(line));
    // as many of them as may be here take half a second
    const wait = breathe();
    if (wait) await wait;
  }
  return new Response(rows.join(''), {
    headers: {
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': 'attachment; filename="wharf-audit.csv"',
      'cache-control': 'no-store',
    },
  });
}
