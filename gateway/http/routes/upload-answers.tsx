import type { IncomingMessage } from 'node:http';
import type { ErrorCode, GatewayError } from '../../errors.js';
import type { DescribedFile } from '../../files/file.js';
import type { UploadState } from '../../files/uploads/upload-links.js';
import { challengeOf } from '../../identity/challenge.js';
import type { Begun, FilePlace, SeveralFiles, TicketState } from '../browser/page-data.js';
import type { Closed } from '../browser/texts.js';
import { UPLOAD_MODULES } from '../browser-files.js';
import { retryAfterOf } from '../error-response.js';
import { CodeForm } from '../pages/code-form.js';
import { page, wantsPage } from '../pages/page-response.js';
import { UploadForm } from '../pages/upload-form.js';
import { ClosedPage, UploadedPage, UploadRefusedPage, UploadUnavailablePage } from '../pages/upload-pages.js';

/** HTTP status for each state of a link at which nothing can be uploaded. */
const STATUS: Readonly<Record<Exclude<UploadState['kind'], 'open'>, number>> = {
  done: 200,
  expired: 410,
  cancelled: 410,
  locked: 403,
  unknown: 404,
};

/** Errors that only say that the link is closed. */
const CLOSED_BY: Partial<Record<ErrorCode, Closed>> = {
  link_unknown: 'unknown',
  link_expired: 'expired',
  upload_done: 'done',
  upload_cancelled: 'cancelled',
  upload_locked: 'locked',
};

/** True when a GET comes from a program that wants facts. */
function wantsState(accept: string | undefined): boolean {
  return accept?.includes('application/json') === true && !wantsPage(accept);
}

/** 201: the file, and its record, are stored. */
export function stored(file: DescribedFile, accept: string | undefined): Response {
  if (wantsPage(accept)) return page(<UploadedPage files={[file]} />, 201);
  const digest = { algorithm: 'sha-256', value: file.digest };
  return json({ status: 'completed', file: { ...file, digest } }, 201);
}

/** 201: all files, and their bundle, are stored. */
export function storedAll(files: readonly DescribedFile[], accept: string | undefined): Response {
  if (wantsPage(accept)) return page(<UploadedPage files={files} />, 201);
  const all = files.map((file) => ({ ...file, digest: { algorithm: 'sha-256', value: file.digest } }));
  return json({ status: 'completed', files: all }, 201);
}

/** 201: the address of one more file. */
export function placed(place: FilePlace): Response {
  return json(place, 201);
}

/** Facts that a page shows besides its ticket. */
interface ShownWith {
  /** Milliseconds since the Unix epoch. */
  now: number;
  /** True when an upload can be interrupted and continued. */
  isResumable: boolean;
  /** The part of a file that has already arrived. */
  begun?: Begun | undefined;
  /** What has arrived of several files. */
  come?: SeveralFiles['come'] | undefined;
}

/** True when the answer is a page, and one that takes a file. */
export function showsForm(
  state: UploadState,
  accept: string | undefined,
): state is Extract<UploadState, { kind: 'open' }> {
  return state.kind === 'open' && !wantsState(accept);
}

/** The page that asks for a link's code; for programs, that one is needed. */
export function codeAsked(
  state: Extract<UploadState, { kind: 'open' }>,
  accept: string | undefined,
  wrong?: Pick<GatewayError, 'message' | 'httpStatus'>,
): Response {
  if (wantsState(accept)) return json({ ...stateOf(state), needsCode: true }, 200);
  return page(<CodeForm intent={state.intent} problem={wrong?.message} />, wrong?.httpStatus ?? 200);
}

/** The state of a ticket: as a page, or as brief JSON for programs. */
export function shown(state: UploadState, accept: string | undefined, { now, ...about }: ShownWith): Response {
  const status = state.kind === 'open' ? 200 : STATUS[state.kind];
  if (wantsState(accept)) return json(stateOf(state), status);
  if (state.kind !== 'open') return closedPage(state.kind, status);
  return page(<UploadForm upload={state} now={now} modules={UPLOAD_MODULES} {...about} />, status);
}

/** A page that says why nothing can be uploaded. */
export function closedPage(closed: Closed, status: number, headers: Record<string, string> = {}): Response {
  return page(<ClosedPage closed={closed} />, status, headers);
}

/** Contains no more than the page: nothing about a file that was stored. */
function stateOf(state: UploadState): TicketState & Record<string, unknown> {
  if (state.kind === 'done') return { status: 'completed' };
  if (state.kind !== 'open') return { status: state.kind };
  const { intent, largest, expiresAt } = state;
  const { name, mimeType, size, accept, several } = intent;
  return {
    status: 'open',
    expiresAt: new Date(expiresAt).toISOString(),
    maxSize: largest.allowed,
    ...(several && { minFiles: several.least, maxFiles: several.most }),
    ...(accept && { accept }),
    ...(name !== undefined && { name }),
    ...(mimeType !== undefined && { mimeType }),
    ...(size !== undefined && { size }),
  };
}

/** An error as a page for people, or as JSON, by what the request accepts. */
export function refused(
  error: GatewayError,
  { method, headers: { accept } }: Pick<IncomingMessage, 'method' | 'headers'>,
  headers: Record<string, string> = {},
): Response {
  const challenge = challengeOf(error);
  const all = {
    ...headers,
    ...(retryAfterOf(error) !== undefined && { 'retry-after': String(retryAfterOf(error)) }),
    ...(challenge !== undefined && { 'www-authenticate': challenge }),
  };
  if (wantsPage(accept)) {
    const closed = CLOSED_BY[error.code];
    if (closed) return closedPage(closed, error.httpStatus, all);
    const Page = method === 'GET' || method === 'HEAD' ? UploadUnavailablePage : UploadRefusedPage;
    return page(<Page error={error} />, error.httpStatus, all);
  }
  return json(
    { error: { reason: reasonOf(error), code: error.code, message: error.message, ...numbersOf(error) } },
    error.httpStatus,
    all,
  );
}

/** SEP-2631's name for the error if it has one, otherwise the error's own name in the same style. */
function reasonOf({ code, facts }: GatewayError): string {
  const { reason } = facts;
  return typeof reason === 'string' && /^[a-z]+[A-Z]\w*$/.test(reason)
    ? reason
    : code.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function numbersOf({ code, facts }: GatewayError): Record<string, unknown> {
  const { reason: _reason, detail: _detail, ...numbers } = facts;
  return code === 'upload_too_large' ? { ...numbers, maxSize: facts.allowed, actualSize: facts.actual } : numbers;
}

function json(value: unknown, status: number, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });
}
