import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../../errors.js';
import type { Library } from '../../files/library.js';
import type { ResumableUploads } from '../../files/uploads/resumable/resumable-uploads.js';
import type { SeveralUploads } from '../../files/uploads/several-uploads.js';
import type { Admission, UploadLinks } from '../../files/uploads/upload-links.js';
import { jsonIn } from '../../json/text.js';
import type { Come } from '../browser/page-data.js';
import { malformed } from '../multipart-head.js';
import { wholeText } from '../short-body.js';
import { begunOn } from '../tus/begun.js';
import { exchangeUpload, receivedUpload, type UploadExchangeDeps } from '../upload-exchange.js';
import { placed, storedAll } from './upload-answers.js';

export interface SeveralDeps extends UploadExchangeDeps {
  uploadLinks: Pick<UploadLinks, 'link' | 'find' | 'admit' | 'prove'>;
  several: SeveralUploads;
  library: Pick<Library, 'describe'>;
  /** Present when the object store supports it. */
  resumable?: ResumableUploads | undefined;
}

/** Parameter of a link's address at which one more of several files gets an address of its own. */
export const ADD = 'add';

/** Parameter of the address at which a person says that all files are there. */
export const FINISH = 'finish';

/** Bytes of the list of files that are given: ids of 24 characters. */
const MAX_LIST = 64 * 1024;

/** Makes an address for one more file. */
export async function addFile(
  deps: SeveralDeps,
  named: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<Response> {
  const place = await exchangeUpload(deps, incoming, outgoing, {
    ticket: named,
    admit: (ticket) => deps.uploadLinks.admit(ticket),
    run: (ticket, admission) => deps.several.add(ticket, admission),
    recordsOf: () => [],
  });
  return placed(place);
}

/** Completes a link with the files whose ids are in the body, in their order. Files under way may outlive the link. */
export async function finishFiles(
  deps: SeveralDeps,
  named: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<Response> {
  const records = await exchangeUpload(deps, incoming, outgoing, {
    ticket: named,
    admit: (ticket) => known(deps, ticket),
    async run(ticket, admission, gone) {
      const order = await receivedUpload(deps, admission, { incoming, outgoing, until: gone }, (bytes) => idsIn(bytes));
      return deps.several.finish(ticket, order);
    },
    recordsOf: () => [],
  });
  const files = records.map((record) => deps.library.describe(record));
  return storedAll(files, incoming.headers.accept);
}

/** Gives up one of several files. @param named the file's own ticket */
export async function removeFile(
  deps: SeveralDeps,
  named: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<Response> {
  const { several, resumable } = deps;
  await exchangeUpload(deps, incoming, outgoing, {
    ticket: named,
    admit: (ticket) => known(deps, ticket),
    async run(ticket) {
      await several.remove(ticket);
      await resumable?.drop(ticket);
    },
    recordsOf: () => [],
  });
  return new Response(null, { status: 204 });
}

/** What has come of several files, for a page that is opened. */
export async function filesCome(
  { several, resumable }: SeveralDeps,
  ticket: string,
  { fileId, intent }: Admission,
): Promise<Come[] | undefined> {
  if (!intent.several) return undefined;
  const come: Come[] = [];
  for (const { record, ...place } of await several.places(ticket, fileId)) {
    if (record) {
      const { name, size } = record;
      come.push({ ...place, name, size, offset: size, lastModified: 0 });
      continue;
    }
    const begun = resumable && (await begunOn(resumable, place.ticket));
    if (begun) come.push({ ...place, ...begun });
  }
  return come;
}

async function known({ uploadLinks }: SeveralDeps, ticket: string): Promise<Admission> {
  const found = await uploadLinks.find(ticket);
  if (!found) throw new GatewayError('link_unknown', { reason: 'fileNotFound' });
  return found;
}

/** The ids in a list of them, written as JSON. @throws GatewayError `upload_malformed` */
async function idsIn(bytes: AsyncIterable<Buffer>): Promise<string[]> {
  const text = await wholeText(bytes, MAX_LIST, () => malformed(`the list of files is longer than ${MAX_LIST} bytes`));
  if (text === '') return [];
  const list = jsonIn(text);
  if (!Array.isArray(list) || list.some((id) => typeof id !== 'string'))
    throw malformed('the list of files must be a JSON array of their ids');
  return list as string[];
}
