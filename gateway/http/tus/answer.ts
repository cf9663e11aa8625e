import type { IncomingMessage, ServerResponse } from 'node:http';
import { asGatewayError, GatewayError } from '../../errors.js';
import type { FileRecord } from '../../files/file.js';
import type { Library } from '../../files/library.js';
import { tooLarge } from '../../files/tickets/upload-intent.js';
import type { AppendResult } from '../../files/uploads/resumable/append.js';
import type { ResumableUploads, UnderWay } from '../../files/uploads/resumable/resumable-uploads.js';
import type { SeveralUploads } from '../../files/uploads/several-uploads.js';
import type { UploadLinks } from '../../files/uploads/upload-links.js';
import { refuseCodings } from '../codings.js';
import { refused } from '../routes/upload-answers.js';
import { proofIn } from '../upload-code.js';
import { exchangeUpload, receivedUpload, ticketFor, type UploadExchangeDeps } from '../upload-exchange.js';
import {
  announcedIn,
  CHECKSUMS,
  checkContentType,
  checksumIn,
  checkVersion,
  hasBody,
  methodOf,
  offsetIn,
  TUS_VERSION,
} from './request.js';

interface TusDeps extends UploadExchangeDeps {
  uploadLinks: Pick<UploadLinks, 'link' | 'inspect' | 'find' | 'prove'>;
  resumable: ResumableUploads;
  several: Pick<SeveralUploads, 'add'>;
  library: Pick<Library, 'describe'>;
}

/** The upload that a request concerns: the ticket's, or a particular one of several begun with the ticket. */
interface Target {
  ticket: string;
  upload: string | undefined;
}

const EXTENSIONS = 'creation,creation-with-upload,expiration,checksum,termination';
const METHODS = 'OPTIONS, HEAD, POST, PATCH, DELETE';

/** Header with the file's handle, in answers to its last bytes and to later queries. */
const HANDLE = 'wharf-file-uri';

/**
 * Answers a request of the tus protocol, 1.0.0, whose uploads may be interrupted and continued.
 * @see https://tus.io/protocols/resumable-upload
 */
export async function answerTus(
  deps: TusDeps,
  target: Target,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<Response> {
  const method = methodOf(incoming);
  try {
    if (method === 'OPTIONS') return answer(204, await optionsOf(deps, await usable(deps, target, incoming)));
    checkVersion(incoming);
    switch (method) {
      case 'HEAD':
        return answer(200, await headOf(deps, await proven(deps, target, incoming), incoming));
      case 'POST':
        return answer(201, await create(deps, target, incoming, outgoing));
      case 'PATCH':
        return answer(204, await append(deps, target, incoming, outgoing));
      case 'DELETE': {
        const { ticket, upload } = await proven(deps, target, incoming);
        await deps.resumable.end(await deps.resumable.open(ticket, upload));
        return answer(204, {});
      }
      default:
        throw new GatewayError('method_not_allowed', { method, allow: METHODS });
    }
  } catch (thrown) {
    const error = asGatewayError(thrown);
    // never as a page
    return refused(
      error,
      { method, headers: {} },
      {
        'tus-resumable': TUS_VERSION,
        ...(error.code === 'tus_version_unsupported' && { 'tus-version': TUS_VERSION }),
        ...(error.code === 'method_not_allowed' && { allow: METHODS }),
      },
    );
  }
}

async function optionsOf(deps: TusDeps, { ticket }: Target) {
  const state = await deps.uploadLinks.inspect(ticket);
  if (state.kind === 'unknown') throw new GatewayError('link_unknown', { reason: 'fileNotFound' });
  return {
    'tus-version': TUS_VERSION,
    'tus-extension': EXTENSIONS,
    'tus-checksum-algorithm': CHECKSUMS.join(','),
    ...(state.kind === 'open' && { 'tus-max-size': String(state.largest.allowed) }),
  };
}

/** A link with a code needs it for every request, not only for those with bytes. */
async function proven(deps: TusDeps, named: Target, incoming: IncomingMessage): Promise<Target> {
  const target = await usable(deps, named, incoming);
  const found = await deps.uploadLinks.find(target.ticket);
  if (!found) return target;
  await deps.uploadLinks.prove(found, proofIn(incoming, found.fileId));
  return target;
}

/** The target, if the sender may use its link; otherwise one that does not exist. */
async function usable(deps: TusDeps, target: Target, incoming: IncomingMessage): Promise<Target> {
  return { ...target, ticket: await ticketFor(deps, target.ticket, incoming) };
}

async function headOf(deps: TusDeps, { ticket, upload }: Target, incoming: IncomingMessage) {
  try {
    const found = await deps.resumable.find(ticket, upload);
    if ('record' in found) {
      const { size, metadata } = found.record;
      return { ...position(size, size), ...declared(metadata), ...handleIn(deps, found.record) };
    }
    const { offset, length, metadata, expiresAt } = found.noted.progress;
    return { ...position(offset, length), ...declared(metadata), ...expiry(expiresAt) };
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'link_unknown') deps.refused(error, incoming);
    throw error;
  }
}

/**
 * "The Server MUST set the Location header to the URL of the created resource", relative, so that it is valid under any
 * host name.
 */
async function create(deps: TusDeps, { ticket: named }: Target, incoming: IncomingMessage, outgoing: ServerResponse) {
  let headers: Record<string, string> = {};
  await exchangeUpload<AppendResult | undefined>(deps, incoming, outgoing, {
    ticket: named,
    admit: (ticket) => deps.resumable.admit(ticket),
    async run(ticket, admission) {
      const announced = announcedIn(incoming);
      if (hasBody(incoming)) checkBody(incoming, 0, announced.length);
      // of several files each has a ticket of its own
      const place = admission.intent.several ? await deps.several.add(ticket, admission) : { ticket };
      const own = place.ticket === ticket ? admission : await deps.resumable.admit(place.ticket);
      const begun = await deps.resumable.begin(place.ticket, own, announced);
      const { id, length, expiresAt } = begun.noted.progress;
      headers = { location: `${place.ticket}?upload=${id}`, ...expiry(expiresAt) };
      if (length > 0 && !hasBody(incoming)) return undefined;
      const result = await appendTo(deps, begun, 0, { incoming, outgoing });
      headers = { ...headers, ...appended(deps, result, expiresAt) };
      return result;
    },
    recordsOf: (result) => (result?.record ? [result.record] : []),
  });
  return headers;
}

async function append(
  deps: TusDeps,
  { ticket: named, upload }: Target,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
) {
  let found: UnderWay | undefined;
  const result = await exchangeUpload(deps, incoming, outgoing, {
    ticket: named,
    admit: async (ticket) => {
      found = await deps.resumable.open(ticket, upload);
      return found.admission;
    },
    run: async () => {
      const offset = offsetIn(incoming);
      const { length } = (found as UnderWay).noted.progress;
      checkBody(incoming, offset, length);
      return appendTo(deps, found as UnderWay, offset, { incoming, outgoing });
    },
    recordsOf: ({ record }) => (record ? [record] : []),
  });
  return appended(deps, result, (found as UnderWay).noted.progress.expiresAt);
}

async function appendTo(
  deps: TusDeps,
  found: UnderWay,
  offset: number,
  { incoming, outgoing }: { incoming: IncomingMessage; outgoing: ServerResponse },
): Promise<AppendResult> {
  const checksum = checksumIn(incoming);
  return deps.resumable.append(found, offset, (until, take) => {
    return receivedUpload(deps, found.admission, { incoming, outgoing, until }, (bytes, signal) =>
      take(checksum ? { bytes: checksum.over(bytes), checked: () => checksum.check() } : { bytes }, signal),
    );
  });
}

/** @throws GatewayError for faults that show before the body is read */
function checkBody(incoming: IncomingMessage, offset: number, length: number): void {
  checkContentType(incoming);
  refuseCodings(incoming);
  checksumIn(incoming);
  const end = offset + Number(incoming.headers['content-length'] ?? 0);
  if (end > length) throw tooLarge({ limit: 'Upload-Length', allowed: length }, end);
}

function appended(deps: TusDeps, { offset, record }: AppendResult, expiresAt: number): Record<string, string> {
  return { 'upload-offset': String(offset), ...(record ? handleIn(deps, record) : expiry(expiresAt)) };
}

function position(offset: number, length: number): Record<string, string> {
  return { 'upload-offset': String(offset), 'upload-length': String(length) };
}

function declared(metadata: string | undefined): Record<string, string> {
  return metadata === undefined ? {} : { 'upload-metadata': metadata };
}

function handleIn({ library }: TusDeps, record: FileRecord): Record<string, string> {
  return { [HANDLE]: library.describe(record).uri };
}

function expiry(expiresAt: number): Record<string, string> {
  return { 'upload-expires': new Date(expiresAt).toUTCString() };
}

function answer(status: number, headers: Record<string, string>): Response {
  return new Response(null, { status, headers: { 'tus-resumable': TUS_VERSION, ...headers } });
}
