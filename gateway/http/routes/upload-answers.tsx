import type { ErrorCode, GatewayError } from '../../errors.js';
import type { FileValue } from '../../files/file.js';
import type { UploadState } from '../../files/upload.js';
import { PAGE_POLICY } from '../pages/layout.js';
import { UploadedPage, UploadForm, UploadRefusedPage } from '../pages/upload-pages.js';

/** Seconds after which a failure of a store is worth another try. */
const RETRY_SECONDS = '5';

/** What a person reads first. */
const TITLES: Partial<Record<ErrorCode, string>> = {
  link_unknown: 'Unknown link',
  link_expired: 'This link has expired',
  upload_done: 'Already uploaded',
};

export function wantsPage(accept: string | undefined): boolean {
  return accept?.includes('text/html') === true;
}

/** 201: the file, and its record, are stored. */
export function stored(file: FileValue, accept: string | undefined): Response {
  if (wantsPage(accept)) return page(<UploadedPage file={file} />, 201);
  return json({ status: 'completed', file }, 201);
}

/** What a ticket is good for, in words. */
export function shown(state: UploadState): Response {
  switch (state.kind) {
    case 'open':
      return page(<UploadForm upload={state} />, 200);
    case 'done':
      return refusedPage('Already uploaded', 'A file has been uploaded here. This link takes only one.', 200);
    case 'expired':
      return refusedPage('This link has expired', 'Nothing can be uploaded here any more. Ask for a new link.', 410);
    case 'unknown':
      return refusedPage('Unknown link', 'There is no such link, or it expired long ago.', 404);
  }
}

export function refused(
  error: GatewayError,
  accept: string | undefined,
  headers: Record<string, string> = {},
): Response {
  const all = error.httpStatus === 503 ? { ...headers, 'retry-after': RETRY_SECONDS } : headers;
  if (wantsPage(accept)) {
    const title = TITLES[error.code];
    return refusedPage(title ?? 'The file was not stored', error.message, error.httpStatus, title === undefined, all);
  }
  return json(
    { error: { reason: reasonOf(error), code: error.code, message: error.message, ...numbersOf(error) } },
    error.httpStatus,
    all,
  );
}

/** SEP-2631's word where it has one, else the error's own name in its style. */
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

function refusedPage(title: string, text: string, status: number, isOpen = false, headers = {}): Response {
  return page(<UploadRefusedPage title={title} text={text} isOpen={isOpen} />, status, headers);
}

function page(content: { toString(): string }, status: number, headers: Record<string, string> = {}): Response {
  return new Response(`<!doctype html>${content}`, {
    status,
    headers: {
      'content-security-policy': PAGE_POLICY,
      'content-type': 'text/html; charset=utf-8',
      ...headers,
    },
  });
}

function json(value: unknown, status: number, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });
}
