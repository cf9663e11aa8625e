import { GatewayError } from '../../errors.js';
import type { JsonValue } from '../../ports/json.js';
import { readDataUri } from '../../wire/data-uri.js';
import type { AskingDeps } from './deps.js';
import type { AskedFor } from './questions.js';

type GivenDeps = Pick<AskingDeps, 'uploads' | 'library' | 'dialects' | 'held' | 'server'>;

/** An answer that a user has accepted. */
export interface Accepted {
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
  const { uploads, library, dialects } = deps;
  const { ticket, fileId, form } = asked;
  const asks = form && dialects.find(({ name }) => name === form.dialect)?.asks;
  // accepting to open a page gives nothing yet
  if (!form || !asks) return undefined;
  const answer = asks.answer(content, form.field, form.uploadId);
  switch (answer.kind) {
    case 'invalid':
      return 'The answer holds no file that was asked for.';
    case 'uploaded': {
      const record = await library.find(fileId);
      if (!record) return 'No file has been uploaded.';
      return answer.size === undefined || answer.size === record.size
        ? undefined
        : `The file that was uploaded has ${record.size} bytes, and the answer says ${answer.size}.`;
    }
    case 'inline': {
      // beside the message that holds it, which is counted where it came in
      const counted = COPIES * answer.uri.length;
      const owner = { principal, server: deps.server };
      try {
        deps.held.add(counted, owner);
        return await storeInline(answer.uri, ticket, uploads, signal);
      } finally {
        deps.held.add(-counted, owner);
      }
    }
  }
}

async function storeInline(
  uri: string,
  ticket: string,
  uploads: GivenDeps['uploads'],
  signal: AbortSignal,
): Promise<string | undefined> {
  const file = readDataUri(uri);
  if (typeof file === 'string') return 'The answer is not a data: URI that can be read.';
  const { bytes, mimeType, name } = file;
  try {
    const admission = await uploads.admit(ticket);
    const claims = () => ({ mimeType, ...(name !== undefined && { name }) });
    await uploads.receive(admission, { bytes: once(bytes), claims }, signal);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.httpStatus >= 500) throw error;
    return error.code === 'upload_done' ? undefined : error.message;
  }
  return undefined;
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
