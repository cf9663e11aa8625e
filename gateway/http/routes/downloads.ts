import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import { type Ledger, refusalFacts } from '../../budget/ledger.js';
import { asGatewayError, GatewayError } from '../../errors.js';
import type { FewLines } from '../../few-lines.js';
import {
  asksByTag,
  type DownloadRequest,
  decideDownload,
  expectStored,
  openDownload,
  resourceHeader,
  servedAs,
} from '../../files/downloads/download.js';
import type { FileRecord } from '../../files/file.js';
import type { StoredObjects } from '../../files/stored/stored-objects.js';
import { mayBeTicket } from '../../files/tickets/ticket.js';
import type { Audit } from '../../ports/audit.js';
import type { Clock } from '../../ports/clock.js';
import type { Log } from '../../ports/log.js';
import type { Metrics } from '../../ports/metrics.js';
import type { ObjectStore } from '../../ports/object-store.js';
import { callerOf } from '../caller.js';
import { countFor } from '../response.js';
import { refuse } from './download-refusal.js';
import { shownHeaders } from './shown-file.js';

export type TicketAnswer =
  /** `expiresAt`: when the ticket expires, milliseconds since the epoch. */
  | { kind: 'ok'; record: FileRecord; expiresAt: number }
  | { kind: 'unknown' }
  | { kind: 'expired' }
  /** `record`: of a file that is revoked, for the audit log alone. */
  | { kind: 'gone'; record?: FileRecord | undefined };

export interface DownloadDeps {
  /** May throw a GatewayError, as when the state store is down. */
  resolveTicket(ticket: string): Promise<TicketAnswer>;
  stored: Pick<StoredObjects, 'read' | 'isThere'>;
  /** Absent: clients cannot fetch from the store itself. */
  presign?: ObjectStore['presign'] | undefined;
  /** Counts the downloads that Wharf streams itself. */
  openDownloads: Ledger;
  /** Redirect GETs to the store's own presigned URL, if it has one. */
  redirect: boolean;
  /** Milliseconds that a response may stall, waiting for the store or for the client. */
  idleMs: number;
  /** Running exchanges, which a drain waits for. */
  open: { count: number };
  audit: Audit;
  clock: Clock;
  log: Log;
  fewLines: FewLines;
  metrics: Metrics;
  /** Called for a link that does not work. */
  refused: (error: GatewayError, request: IncomingMessage) => void;
}

type Env = { Bindings: HttpBindings };
type Outcome = 'served' | 'redirected' | 'head' | 'not_modified' | 'refused' | 'aborted' | 'failed';

const ALLOW = 'GET, HEAD';
/** The query of a link that saves a file which a browser could show: `?download`, with any value. */
const SAVE = 'download';
/** Of one event of an answer that a file is streamed to; an answer ends with its exchange, so that none can pile up. */
const MOST_LISTENERS = 20;
/** A presigned URL cannot be revoked, so it lives no longer than this, and never longer than its ticket. */
const MAX_PRESIGNED_SECONDS = 15 * 60;
/**
 * One of a second may have ended when it is given out: its time is that of a clock's last whole second, the store's clock is
 * another one, and its client has yet to connect there. So Wharf sends the bytes in the last seconds of a link.
 */
const LEAST_PRESIGNED_SECONDS = 5;

/** What has become of a request so far. */
interface Course {
  outcome: Outcome;
  found?: FileRecord;
  /** The file that was asked for, if it is revoked. */
  revoked?: FileRecord | undefined;
  failure?: GatewayError;
}

/** A request for a file, as its parts are asked for it. */
interface Visit {
  c: Context<Env>;
  deps: DownloadDeps;
  isSaved: boolean;
  /** The query of the link, with which a page tries it again. */
  again: string;
  /** Aborts when the client has gone. */
  gone: AbortSignal;
}

/** `GET|HEAD /d/:ticket`: the file behind a download link, streamed or by redirect to the store. */
export function downloads(deps: DownloadDeps): Hono<Env> {
  const app = new Hono<Env>();
  app.all('/d/:ticket', async (c) => {
    const note = noting(deps, c.env.incoming);
    const isSaved = new URL(c.req.url).searchParams.has(SAVE);
    const visit = { c, deps, isSaved, again: isSaved ? `?${SAVE}` : '?', gone: countOpen(deps.open, c.env.outgoing) };
    const course: Course = { outcome: 'refused' };
    try {
      return await hand(visit, c.req.param('ticket'), course);
    } catch (thrown) {
      if (visit.gone.aborted && thrown === visit.gone.reason) {
        course.outcome = 'aborted';
        return RESPONSE_ALREADY_SENT;
      }
      return failed(visit, asGatewayError(thrown), course);
    } finally {
      note(course);
    }
  });
  return app;
}

/** Counts an answer until it is sent: the end of its route is earlier. @returns aborts when its client has gone */
function countOpen(open: DownloadDeps['open'], outgoing: HttpBindings['outgoing']): AbortSignal {
  const gone = new AbortController();
  const onClose = () => {
    open.count -= 1;
    gone.abort();
  };
  open.count += 1;
  if (outgoing.destroyed) onClose();
  else outgoing.once('close', onClose);
  return gone.signal;
}

/** Hands over the file. @throws GatewayError */
async function hand(visit: Visit, ticket: string, course: Course): Promise<Response> {
  const { c, deps, isSaved } = visit;
  const { incoming } = c.env;
  const { method } = incoming;
  if (method !== 'GET' && method !== 'HEAD') {
    throw new GatewayError('method_not_allowed', { method: method ?? '', allow: ALLOW });
  }
  const asked = requestOf(c, method, isSaved);
  const { record, expiresAt } = await resolve(deps, ticket, course);
  course.found = record;
  // a HEAD hands over no bytes
  if (deps.audit.isOn && method === 'GET') await deps.audit.record({ ...auditOf(incoming, record), allowed: true });
  const location = await presigned(visit, asked, { record, expiresAt });
  if (location === undefined) return respond(visit, record, asked, course);
  course.outcome = 'redirected';
  return new Response(null, { status: 302, headers: { location, ...resourceHeader(record) } });
}

/** The store's own address of the file; undefined where Wharf sends the bytes by itself. */
async function presigned(
  { c, deps, gone }: Visit,
  asked: DownloadRequest,
  { record, expiresAt }: { record: FileRecord; expiresAt: number },
): Promise<string | undefined> {
  const seconds = Math.min(MAX_PRESIGNED_SECONDS, Math.floor((expiresAt - deps.clock.now()) / 1000));
  // a script of another site's page: after a redirect a browser tells the store the origin "null", which few let in
  const isOfPage = c.env.incoming.headers.origin !== undefined;
  const isInTime = seconds >= LEAST_PRESIGNED_SECONDS;
  const mayRedirect = deps.redirect && asked.method === 'GET' && isInTime && !isOfPage && !asksByTag(record, asked);
  if (!mayRedirect || deps.presign === undefined) return undefined;
  await expectStored(deps.stored, record, gone);
  return deps.presign(record.key, { ttlSeconds: seconds, ...servedAs(record, asked.isSaved) });
}

function failed({ c, deps, again }: Visit, error: GatewayError, course: Course): Response {
  course.failure = error;
  if (error.httpStatus >= 500) {
    course.outcome = 'failed';
    deps.metrics.count('wharf_errors_total', { code: error.code });
    const leftOut = deps.fewLines.take(`download ${error.code}`);
    const fields = { code: error.code, err: error.cause ?? error, ...leftOut };
    if (leftOut) deps.log.warn(fields, 'A download failed before its first byte.');
  }
  const headers: Record<string, string> = error.code === 'method_not_allowed' ? { allow: ALLOW } : {};
  return refuse(error, c.req.header('accept'), headers, again);
}

/** Counts, logs and audits what became of a request that begins now. */
function noting(deps: DownloadDeps, incoming: HttpBindings['incoming']): (course: Course) => void {
  const startedAt = performance.now();
  const written = incoming.socket.bytesWritten;
  return ({ outcome, found, revoked, failure }) => {
    deps.metrics.count('wharf_downloads_total', { outcome });
    if (deps.audit.isOn && failure && failure.httpStatus < 500)
      deps.audit.note({ ...auditOf(incoming, found ?? revoked), allowed: false, code: failure.code });
    if (!found) {
      if (failure) deps.refused(failure, incoming as IncomingMessage);
      return;
    }
    const { id: file, principal, server, size } = found;
    const bytes = incoming.socket.bytesWritten - written;
    const ms = Math.round(performance.now() - startedAt);
    const about = { file, principal, server, size, ...callerOf(incoming), outcome, error: failure?.code, bytes, ms };
    deps.log.info(about, 'download');
  };
}

function requestOf(c: Context<Env>, method: DownloadRequest['method'], isSaved: boolean): DownloadRequest {
  return {
    method,
    range: c.req.header('range'),
    ifRange: c.req.header('if-range'),
    ifMatch: c.req.header('if-match'),
    ifNoneMatch: c.req.header('if-none-match'),
    isSaved,
  };
}

/** What the audit log says about a download. */
function auditOf(incoming: HttpBindings['incoming'], record: FileRecord | undefined) {
  const { address, agent: client } = callerOf(incoming);
  const of = record && { principal: record.principal, server: record.server, from: record.server, files: [record] };
  return { what: 'download' as const, client, address, ...of };
}

async function resolve(
  deps: DownloadDeps,
  ticket: string,
  course: Course,
): Promise<{ record: FileRecord; expiresAt: number }> {
  if (!mayBeTicket(ticket)) throw new GatewayError('link_unknown');
  const answer = await deps.resolveTicket(ticket);
  switch (answer.kind) {
    case 'ok':
      if (answer.expiresAt <= deps.clock.now()) throw new GatewayError('link_expired');
      return answer;
    case 'unknown':
      throw new GatewayError('link_unknown');
    case 'expired':
      throw new GatewayError('link_expired');
    case 'gone':
      course.revoked = answer.record;
      throw new GatewayError('file_gone');
  }
}

/** Answers with the file's bytes, or with what a condition or a range of the request asks for instead. */
async function respond(visit: Visit, record: FileRecord, asked: DownloadRequest, course: Course): Promise<Response> {
  const { c, deps, again, gone } = visit;
  const { status, body, headers: own } = decideDownload(record, asked);
  if (status === 416) {
    const error = new GatewayError('range_not_satisfiable', { size: record.size });
    return refuse(error, c.req.header('accept'), own, again);
  }
  const headers = { ...own, ...shownHeaders(own) };
  if (body === undefined) {
    if (status !== 412) course.outcome = status === 304 ? 'not_modified' : 'head';
    // Not to the raw response: hono rebuilds every answer to HEAD, and would send RESPONSE_ALREADY_SENT as one.
    return new Response(null, { status, headers });
  }
  course.outcome = await stream(c.env.outgoing, deps, record, { status, headers, body, gone });
  return RESPONSE_ALREADY_SENT;
}

interface Answer {
  status: number;
  headers: Record<string, string>;
  body: Parameters<typeof openDownload>[2];
  /** Aborts when the client has gone, which it may have while its link was looked up. */
  gone: AbortSignal;
}

/**
 * Streams the bytes from the store to the raw response, at the client's pace. After the head, a failure can only be
 * shown by cutting the connection: Content-Length then tells the client that bytes are missing.
 */
async function stream(
  outgoing: HttpBindings['outgoing'],
  deps: DownloadDeps,
  record: FileRecord,
  { status, headers, body, gone }: Answer,
): Promise<Outcome> {
  const { principal, server } = record;
  countFor(principal, outgoing);
  const refusal = deps.openDownloads.take(1, { principal, server });
  if (refusal) throw new GatewayError('downloads_full', refusalFacts(refusal));
  let source: Readable | undefined;
  let storeFailed = false;
  try {
    source = await openDownload(deps.stored, record, body, gone);
    // Record which side failed as it happens: afterwards both streams are closed.
    source.once('error', () => {
      storeFailed = !gone.aborted;
    });
    // Moving bytes in either direction keep the socket active, so this catches a stalled store and a stalled client.
    outgoing.setTimeout(deps.idleMs, () => outgoing.destroy());
    // a pipeline has seven at `close`, and there are others; Node takes more than ten for a leak, and says so in the log
    outgoing.setMaxListeners(MOST_LISTENERS);
    outgoing.writeHead(status, headers);
    await pipeline(source, outgoing);
    return 'served';
  } catch (thrown) {
    if (!outgoing.headersSent && !gone.aborted) throw thrown;
    outgoing.destroy();
    if (!storeFailed) return 'aborted';
    const leftOut = deps.fewLines.take('broken download');
    if (leftOut) deps.log.warn({ file: record.id, err: thrown, ...leftOut }, 'A download broke off.');
    return 'failed';
  } finally {
    // a pipeline into a closed answer refuses to begin, and leaves its source open
    source?.destroy();
    deps.openDownloads.give(1, { principal, server });
  }
}
