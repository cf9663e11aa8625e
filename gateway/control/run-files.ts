import { sizeText } from '../policy/amounts.js';
import { type FilesAction, MOST_LISTED, USUAL_LISTED } from './files-command.js';

interface Shown {
  id: string;
  principal: string;
  server?: string;
  tool?: string;
  name: string;
  mimeType: string;
  size: number;
  createdAt: string;
  revokedAt?: string;
  heldAt?: string;
}

interface Answer {
  files?: Shown[];
  next?: string;
  removed?: number;
  held?: number;
  error?: { message: string };
}

/** How long the gateway may take: it looks at up to a thousand files for one page. */
const WAIT_MS = 60_000;
/** How long it may take to look at all files; fetch waits no longer for an answer. */
const WAIT_FOR_ALL_MS = 300_000;

/**
 * Runs `wharf files` against the admin port, so that each change is in the audit log, and works with state in memory too.
 * @param base URL of the admin port
 * @returns what to print, and whether all of it was done
 */
export async function runFiles(
  { verb, ids, filter, isJson }: Omit<FilesAction, 'from'>,
  base: string,
): Promise<{ text: string; isDone: boolean }> {
  const lines: string[] = [];
  let isDone = true;
  const ask = async (method: string, path: string, waitMs = WAIT_MS): Promise<Answer & Partial<Shown>> => {
    const answer = await fetch(new URL(path, base), { method, signal: AbortSignal.timeout(waitMs) });
    const body = (await answer.json()) as Answer & Partial<Shown>;
    if (!answer.ok) isDone = false;
    return body;
  };
  const say = (body: Answer & Partial<Shown>, text: (body: Answer & Partial<Shown>) => string, id = '') => {
    const refused = body.error && (id === '' ? body.error.message : `${id}: ${body.error.message}`);
    lines.push(isJson ? JSON.stringify(body) : (refused ?? text(body)));
  };
  const query = new URLSearchParams(filter);
  if (verb === 'list') say(await listed((path) => ask('GET', path), filter), (body) => listText(body, query));
  else if (ids.length === 0) say(await ask('DELETE', `/files?${query}`, WAIT_FOR_ALL_MS), removedText);
  for (const id of ids) {
    const place = `/files/${encodeURIComponent(id)}`;
    if (verb === 'show') say(await ask('GET', place), (body) => JSON.stringify(body, null, 2), id);
    else if (verb === 'remove') say(await ask('DELETE', place), removedText, id);
    else if (verb !== 'list') say(await ask('POST', `${place}/${verb}`), (body) => rowOf(body as Shown), id);
  }
  return { text: `${lines.join('\n')}\n`, isDone };
}

/**
 * As many files as are asked for, over as many pages as that takes: the admin port looks at a thousand files for one page, and
 * where few of them are meant, a page may be empty with files behind it.
 */
async function listed(ask: (path: string) => Promise<Answer>, filter: Record<string, string>): Promise<Answer> {
  const most = Number(filter.limit ?? USUAL_LISTED);
  const until = Date.now() + WAIT_FOR_ALL_MS;
  let files: readonly Shown[] = [];
  let next: string | undefined;
  do {
    const limit = String(most - files.length);
    const page = await ask(
      `/files?${new URLSearchParams({ ...filter, limit, ...(next !== undefined && { after: next }) })}`,
    );
    if (page.error) return page;
    files = files.concat(page.files ?? []);
    next = page.next;
  } while (next !== undefined && files.length < most && Date.now() < until);
  return { files: [...files], ...(next !== undefined && { next }) };
}

/** Why there was no answer. fetch itself says no more than "fetch failed". */
export function whyUnreachable(error: unknown): string {
  const { cause, message } = error as Error;
  const first = cause instanceof AggregateError ? cause.errors[0] : cause;
  return first instanceof Error && first.message !== '' ? first.message : message;
}

function listText({ files = [], next }: Answer, asked: URLSearchParams): string {
  const rows = files.map(rowOf);
  if (next === undefined) return rows.length === 0 ? 'No files.' : rows.join('\n');
  const page = new URLSearchParams([...asked, ['after', next]]);
  return [
    ...rows,
    `There may be more: --limit shows up to ${MOST_LISTED} at a time, and the admin port has the next ones at /files?${page}.`,
  ].join('\n');
}

function rowOf({ id, principal, server, tool, name, mimeType, size, createdAt, revokedAt, heldAt }: Shown): string {
  const marks = [revokedAt && 'revoked', heldAt && 'held'].filter(Boolean).join(', ');
  const about = [id, createdAt, principal, placeOf(server, tool), sizeText(size), mimeType, JSON.stringify(name)];
  return [...about, ...(marks ? [marks] : [])].join('  ');
}

/** `hr.read_all`: a server's name has no dots. */
function placeOf(server: string | undefined, tool: string | undefined): string {
  if (server === undefined) return '(uploaded)';
  return tool === undefined ? server : `${server}.${tool}`;
}

function removedText({ removed = 0, held = 0 }: Answer): string {
  return `${removed} removed${held > 0 ? `; ${held} held, which stay` : ''}.`;
}
