import { GatewayError } from '../../errors.js';
import type { FileRecord, StoredObject } from '../../files/file.js';
import type { UploadBody } from '../../files/uploads/upload.js';
import { contrast, countText } from '../../policy/amounts.js';
import type { UploadedFile } from '../../ports/file-question.js';
import type { JsonValue } from '../../ports/json.js';
import { readDataUri } from '../../wire/data-uri.js';
import { faultOfDataUri } from '../../wire/data-uri-fault.js';
import type { AskingDeps } from './deps.js';
import type { AskedFor } from './questions.js';

type GivenDeps = Pick<AskingDeps, 'uploadLinks' | 'uploads' | 'library' | 'dialects' | 'held' | 'server'>;

/** An answer that a user has accepted. */
interface Accepted {
  content: JsonValue | undefined;
  asked: AskedFor;
  principal: string;
}

/** A file in an answer exists at one time as the text that was read, as base64 and as bytes. */
const COPIES = 3;

/**
 * Takes the file that an accepted question holds, or is about: afterwards it is stored under the handle that was asked for.
 * @returns why it cannot be used, for the person; undefined when it can
 * @throws GatewayError what stores fail with, `held_full`
 */
export async function takeGiven(
  { content, asked, principal }: Accepted,
  deps: GivenDeps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { uploadLinks, dialects } = deps;
  const { ticket, fileId, form } = asked;
  const asks = form && dialects.find(({ name }) => name === form.dialect)?.asks;
  // accepting to open a page gives nothing yet
  if (!form || !asks) return undefined;
  const answer = asks.answer(content, form.field, form.uploadId);
  switch (answer.kind) {
    case 'invalid':
      return 'The answer holds no file that was asked for.';
    case 'uploaded': {
      const records = await uploadLinks.given(fileId);
      return records ? whyOther(answer.files, records) : 'No file has been uploaded.';
    }
    case 'inline': {
      // beside the message that holds it, which is counted where it came in
      const counted = COPIES * answer.uris.reduce((sum, { length }) => sum + length, 0);
      const owner = { principal, server: deps.server };
      try {
        deps.held.add(counted, owner);
        const bodies: UploadBody[] = [];
        for (const uri of answer.uris) {
          const body = await bodyOf(uri, { principal, maxInline: form.maxInline }, deps.library, signal);
          if (typeof body === 'string') return body;
          bodies.push(body);
        }
        return await store(bodies, ticket, deps, signal);
      } finally {
        deps.held.add(-counted, owner);
      }
    }
  }
}

/**
 * Why an answer is not about the files that were uploaded: each of them must be one of those, by its size and name. Their
 * order is that of the upload.
 */
function whyOther(said: readonly UploadedFile[], records: readonly FileRecord[]): string | undefined {
  if (said.length !== records.length)
    return `The number of files that were uploaded is ${records.length}, and the answer has ${said.length}.`;
  const [only] = records;
  const [one] = said;
  if (records.length === 1 && only && one?.size !== undefined && one.size !== only.size)
    return `The file that was uploaded has ${countText(only.size, 'byte')}, and the answer says ${one.size}.`;
  if (records.length === 1) return undefined;
  const left = [...records];
  for (const { name, size } of said) {
    const isSame = (record: FileRecord) => size === undefined || record.size === size;
    const named = left.findIndex((record) => isSame(record) && record.name === name);
    const at = named >= 0 ? named : left.findIndex(isSame);
    if (at < 0) return `No file of ${countText(Number(size), 'byte')} was uploaded, and the answer names one.`;
    left.splice(at, 1);
  }
  return undefined;
}

/**
 * The bytes behind a URI: its own, or those of a file that the caller has uploaded before. A server's file is not taken:
 * what may become of it is a question of `handoff`, and its copy would be a file without a server.
 */
async function bodyOf(
  uri: string,
  { principal, maxInline }: { principal: string; maxInline: number | undefined },
  library: GivenDeps['library'],
  signal: AbortSignal,
): Promise<UploadBody | string> {
  if (library.claims(uri)) {
    const found = await library.resolve(uri, principal);
    if (found.kind === 'pending') return 'The answer has the handle of a file that has not been uploaded yet.';
    if (found.kind !== 'ready' || found.record.server !== undefined)
      return 'The answer has a handle, and it is not that of a file that you have uploaded.';
    const { mimeType, name } = found.record;
    return { bytes: stored(found.record, library, signal), claims: () => ({ mimeType, name }) };
  }
  const file = readDataUri(uri);
  if (typeof file === 'string') {
    const why = faultOfDataUri(uri);
    return `The answer is not a data: URI that can be read${why === undefined ? '' : `: ${why}`}.`;
  }
  const { bytes, mimeType, name } = file;
  if (maxInline !== undefined && bytes.length > maxInline) {
    const { allowed, actual } = contrast(maxInline, bytes.length);
    return `The file in the answer has ${actual}, and may have ${allowed}.`;
  }
  return { bytes: each([bytes]), claims: () => ({ mimeType, ...(name !== undefined && { name }) }) };
}

async function* stored(file: StoredObject, library: GivenDeps['library'], signal: AbortSignal): AsyncGenerator<Buffer> {
  const read = await library.read(file, signal);
  if (read.kind !== 'found') throw new GatewayError('file_gone');
  yield* read.body as AsyncIterable<Buffer>;
}

async function store(
  bodies: readonly UploadBody[],
  ticket: string,
  { uploads, uploadLinks }: Pick<GivenDeps, 'uploads' | 'uploadLinks'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const admission = await uploadLinks.admit(ticket);
    if (admission.intent.several) await uploads.receiveAll(admission, each(bodies), signal);
    else if (bodies.length > 1) return `The answer has ${bodies.length} files, and one is asked for.`;
    else await uploads.receive(admission, bodies[0] as UploadBody, signal);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.httpStatus >= 500) throw error;
    return error.code === 'upload_done' ? undefined : error.message;
  }
  return undefined;
}

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}
