import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HeldBudget } from '../budget/held.js';
import type { Ledger } from '../budget/ledger.js';
import { asGatewayError, GatewayError } from '../errors.js';
import type { FewLines } from '../few-lines.js';
import type { FileRecord } from '../files/file.js';
import type { UploadIntent } from '../files/tickets/upload-intent.js';
import { ReadAhead } from '../files/uploads/read-ahead.js';
import type { Admission, UploadLinks } from '../files/uploads/upload-links.js';
import type { Limits, Timeouts } from '../policy/limits.js';
import type { Audit, AuditEntry } from '../ports/audit.js';
import type { Authenticate } from '../ports/identity.js';
import type { Log, LogFields } from '../ports/log.js';
import type { Metrics } from '../ports/metrics.js';
import type { Owner } from '../ports/owner.js';
import type { RequestQuotas } from '../quotas/requests.js';
import type { TracedUploads } from '../telemetry/traced-uploads.js';
import { bodyPace } from './body.js';
import { callerOf } from './caller.js';
import { CLIENT_GONE, whyClosed } from './client-gone.js';
import type { Lately } from './console/lately.js';
import { countRequest } from './gate.js';
import { Received } from './incoming/received.js';
import { countFor } from './response.js';
import { proofIn } from './upload-code.js';

export interface UploadExchangeDeps {
  authenticate: Authenticate;
  uploadLinks: Pick<UploadLinks, 'link' | 'prove'>;
  held: HeldBudget;
  /** Counts the running requests of each principal. */
  requests: Ledger;
  /** What each caller may send. */
  quotas: RequestQuotas;
  limits: Pick<Limits, 'leastRate'>;
  timeouts: Pick<Timeouts, 'idle' | 'grace' | 'upload'>;
  /** Running exchanges, which a drain waits for. */
  open: { count: number };
  /** Takes back a file. */
  withdraw: (record: FileRecord) => Promise<void>;
  audit: Audit;
  /** Absent: no spans are recorded. */
  traced?: TracedUploads | undefined;
  log: Log;
  fewLines: FewLines;
  metrics: Metrics;
  /** Keeps refusals for the console. */
  lately: Pick<Lately, 'noteUpload'>;
  /** Called for a link that does not work. */
  refused: (error: GatewayError, request: IncomingMessage) => void;
}

/** One request for an upload. */
interface Steps<Result> {
  /** As the address names it. */
  ticket: string;
  /** Decides whose upload it is. @param ticket one that the sender may use, here and below */
  admit(ticket: string): Promise<Admission>;
  /** @param gone aborts when the client has gone */
  run(ticket: string, admission: Admission, gone: AbortSignal): Promise<Result>;
  /** The files that it became; none for a part of one. */
  recordsOf(result: Result): readonly FileRecord[];
}

/** No link has it. */
const NO_TICKET = '';

/**
 * Some links may be used by their caller alone, who sends credentials. For other callers they do not exist, whatever has
 * become of them: so this comes before anything else is asked about a link, or noted.
 * @returns the ticket, or one of no link
 * @throws GatewayError `unauthorized`, and others about credentials
 */
export async function ticketFor(
  deps: Pick<UploadExchangeDeps, 'authenticate' | 'uploadLinks'>,
  ticket: string,
  incoming: IncomingMessage,
): Promise<string> {
  return (await linkFor(deps, ticket, incoming)).ticket;
}

/** As `ticketFor`. @returns also whose link it is, as long as that is known */
async function linkFor(
  { authenticate, uploadLinks }: Pick<UploadExchangeDeps, 'authenticate' | 'uploadLinks'>,
  ticket: string,
  incoming: IncomingMessage,
): Promise<{ ticket: string; intent?: UploadIntent | undefined }> {
  const intent = (await uploadLinks.link(ticket))?.intent;
  if (!intent?.isCallers) return { ticket, intent };
  const { principal } = await authenticate(incoming, intent.purpose?.server);
  return principal === intent.principal ? { ticket, intent } : { ticket: NO_TICKET };
}

/**
 * Runs a request about an upload as one of the running exchanges. A drain waits for the answer too, because the client must
 * learn what was stored.
 */
export async function whileOpen<Result>(
  { open }: Pick<UploadExchangeDeps, 'open'>,
  outgoing: ServerResponse,
  run: () => Promise<Result>,
): Promise<Result> {
  open.count += 1;
  try {
    return await run();
  } finally {
    const end = () => {
      open.count -= 1;
    };
    if (outgoing.destroyed) end();
    else outgoing.once('close', end);
  }
}

/** Runs a request for an upload: counts it for its principal, and tells what becomes of it. */
export function exchangeUpload<Result>(
  deps: UploadExchangeDeps,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  steps: Steps<Result>,
): Promise<Result> {
  return whileOpen(deps, outgoing, () => runUpload(deps, incoming, outgoing, steps));
}

async function runUpload<Result>(
  deps: UploadExchangeDeps,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { ticket: named, admit, run, recordsOf }: Steps<Result>,
): Promise<Result> {
  const gone = new AbortController();
  const onClose = () => gone.abort(whyClosed(incoming.socket));
  outgoing.once('close', onClose);
  const told = new UploadTold(deps, incoming);
  let counted: Owner | undefined;
  let ended: (() => void) | undefined;
  try {
    const { ticket, intent } = await linkFor(deps, named, incoming);
    told.found(intent);
    const admission = await admit(ticket);
    told.admitted(admission);
    await deps.uploadLinks.prove(admission, proofIn(incoming, admission.fileId));
    told.proved();
    counted = countRequest(deps.requests, admission.intent.principal);
    countFor(admission.intent.principal, outgoing);
    // refused now, the bytes need not be sent
    if (deps.audit.isOn) await deps.audit.check();
    if (deps.quotas.isOn) ended = await deps.quotas.beginUpload(admission.intent.principal);
    const result = await run(ticket, admission, gone.signal);
    const records = recordsOf(result);
    if (deps.audit.isOn && records.length > 0) await recordUpload(deps, entryOf(incoming, admission.intent), records);
    told.stored(records);
    return result;
  } catch (thrown) {
    const error = asGatewayError(thrown);
    told.failed(error, gone.signal.aborted);
    throw error;
  } finally {
    outgoing.off('close', onClose);
    ended?.();
    if (counted) deps.requests.give(1, counted);
  }
}

/** Tells logs, metrics, traces, the console and the audit log what becomes of one request for an upload. */
class UploadTold {
  readonly #deps: UploadExchangeDeps;
  readonly #incoming: IncomingMessage;
  readonly #startedAt = performance.now();
  #intent: UploadIntent | undefined;
  #admission: Admission | undefined;
  /** The link's own caller sends it: a refusal of a stranger is not one of theirs. */
  #isProved = false;

  constructor(deps: UploadExchangeDeps, incoming: IncomingMessage) {
    this.#deps = deps;
    this.#incoming = incoming;
  }

  /** Notes whose link it is, also of one that is over. */
  found(intent: UploadIntent | undefined): void {
    this.#intent = intent;
  }

  admitted(admission: Admission): void {
    this.#admission = admission;
  }

  proved(): void {
    this.#isProved = true;
  }

  /** @param records none for a part of a file */
  stored(records: readonly FileRecord[]): void {
    const size = records.reduce((sum, record) => sum + record.size, 0);
    const files = records.length > 0 ? { 'wharf.files': records.length, 'wharf.file_bytes': size } : {};
    this.#deps.traced?.tell(this.#incoming, { 'wharf.server': this.#admission?.intent.purpose?.server, ...files });
    for (const { id, size, mimeType } of records) this.#count('info', 'stored', { file: id, size, mimeType });
    if (records.length === 0) this.#count('debug', 'part', {});
  }

  failed(error: GatewayError, isGone: boolean): void {
    const { log, fewLines, traced, lately, audit, refused, metrics } = this.#deps;
    const incoming = this.#incoming;
    const admission = this.#admission;
    const isAborted = isGone || error.code === 'upload_incomplete';
    const outcome = isAborted ? 'aborted' : isRefusal(error) ? 'refused' : 'failed';
    const leftOut = outcome === 'failed' ? fewLines.take(`upload ${error.code}`) : undefined;
    if (leftOut) log.warn({ code: error.code, err: error.cause ?? error, ...leftOut }, 'an upload failed');
    const why = whyClosed(incoming.socket);
    const failure = isAborted
      ? { type: why === CLIENT_GONE ? 'client_gone' : why.code }
      : { type: error.code, message: error.message };
    const server = admission?.intent.purpose?.server;
    traced?.tell(incoming, { 'wharf.server': server, 'wharf.error.code': error.code }, failure);
    const { limit, allowed, actual } = error.facts;
    this.#count('info', outcome, { error: failure.type, ...(outcome === 'refused' && { limit, allowed, actual }) });
    if (admission && this.#isProved && outcome === 'refused') {
      const { principal } = admission.intent;
      lately.noteUpload({ principal, server, client: callerOf(incoming).agent, error });
    }
    if (audit.isOn && outcome === 'refused')
      audit.note({
        ...entryOf(incoming, admission?.intent ?? this.#intent),
        allowed: false,
        code: error.code,
        rule: limitOf(error),
      });
    if (!admission) refused(error, incoming);
    else if (!isAborted) metrics.count('wharf_errors_total', { code: error.code });
    if (limit !== undefined) metrics.count('wharf_limits_total', { limit: String(limit) });
  }

  #count(level: 'info' | 'debug', outcome: string, about: LogFields): void {
    const { metrics, log } = this.#deps;
    metrics.count('wharf_uploads_total', { outcome });
    if (!this.#admission) return;
    const { fileId: file, intent } = this.#admission;
    const { principal, purpose } = intent;
    const ms = Math.round(performance.now() - this.#startedAt);
    log[level](
      { file, principal, server: purpose?.server, ...callerOf(this.#incoming), outcome, ...about, ms },
      'upload',
    );
  }
}

/** What the audit log says about an upload. */
function entryOf(incoming: IncomingMessage, intent: UploadIntent | undefined): Omit<AuditEntry, 'allowed'> {
  const { address, agent: client } = callerOf(incoming);
  const { principal, purpose } = intent ?? {};
  return { what: 'upload', principal, client, address, server: purpose?.server };
}

/** Stored bytes become the caller's only if that is recorded. */
async function recordUpload(
  { audit, withdraw }: UploadExchangeDeps,
  entry: Omit<AuditEntry, 'allowed'>,
  files: readonly FileRecord[],
): Promise<void> {
  try {
    await audit.record({ ...entry, files, allowed: true });
  } catch (error) {
    await Promise.all(files.map(withdraw));
    throw error;
  }
}

/** Of its sender, and not by a part that has failed: a full account of the caller's own is one too. */
function isRefusal({ code, httpStatus }: GatewayError): boolean {
  return httpStatus < 500 || code === 'storage_full';
}

function limitOf({ facts: { limit, source = limit } }: GatewayError): string | undefined {
  return source === undefined ? undefined : String(source);
}

/**
 * Passes a request's body to `take`, watched: it must arrive fast enough, and within `timeouts.upload`. A client that waits
 * for `100 Continue` gets it.
 * @param until ends it with the signal's reason
 */
export async function receivedUpload<Result>(
  { held, limits, timeouts }: UploadExchangeDeps,
  { intent: { principal } }: Admission,
  { incoming, outgoing, until }: { incoming: IncomingMessage; outgoing: ServerResponse; until: AbortSignal },
  take: (bytes: AsyncIterable<Buffer>, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  if (incoming.headers.expect !== undefined) outgoing.writeContinue();
  const late = new AbortController();
  const error = () => new GatewayError('upload_timeout', { limit: 'timeouts.upload', allowed: timeouts.upload });
  const timer = setTimeout(() => late.abort(error()), timeouts.upload);
  const signal = AbortSignal.any([until, late.signal]);
  const bytes = new Received(incoming, {
    owner: { principal },
    ahead: new ReadAhead(held, { principal }),
    paceOf: (tooSlow) => bodyPace(incoming, { limits, timeouts }, tooSlow),
    signal,
  });
  try {
    return await take(bytes, signal);
  } finally {
    clearTimeout(timer);
    bytes.close();
  }
}
