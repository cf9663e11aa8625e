import type { ErrorFacts, GatewayError } from '../../errors.js';
import type { Uploads } from '../../files/upload.js';
import { isObject } from '../../json/value.js';
import type { ClientFacts } from '../../ports/client.js';
import type { Dialect } from '../../ports/dialect.js';
import type { JsonObject } from '../../ports/json.js';
import { type LocalAnswer, refusalAnswer } from '../client/local-answer.js';
import { atMost, offerOf } from './upload-steps.js';

/** Where a tool result says for programs how the file that it lacks, or would not take, can be uploaded. */
const UPLOAD_REQUIRED_META_KEY = 'dev.wharf/uploadRequired';

export interface OfferDeps {
  server: string;
  principal: string;
  uploads: Pick<Uploads, 'authorize'>;
}

/**
 * What a client is told of a call that lacks a file, or has one that is refused: what is wrong, and where a file may come by
 * a handle how to upload it.
 */
export async function fileAnswer(
  error: GatewayError,
  client: ClientFacts,
  deps: OfferDeps & { dialects: readonly Dialect[] },
): Promise<LocalAnswer> {
  if (error.code === 'file_missing') return missingAnswer(error, deps);
  return withOffer(refusalAnswer(error, client, deps.dialects), error, deps);
}

/** What a model is told of a call that lacks a file: what is missing, and how to come by it, link included. */
async function missingAnswer({ facts, message }: GatewayError, deps: OfferDeps): Promise<LocalAnswer> {
  const modes = Array.isArray(facts.transferModes) ? (facts.transferModes as string[]) : ['upload'];
  if (!modes.includes('upload')) {
    const text = `${message} Pass it as a data: URI, data:<type>;base64,<bytes>. Do not make up what is in it.`;
    return { result: { content: [{ type: 'text', text }], isError: true } };
  }
  const { steps, meta } = await offer(facts, facts.maxSize, facts.accept, deps);
  return { result: { content: [{ type: 'text', text: `${message}\n${steps}` }], isError: true, _meta: meta } };
}

/** A refusal of a file that may come by a handle, with the way to it; whatever is no tool result stays as it is. */
async function withOffer(answer: LocalAnswer, { facts, message }: GatewayError, deps: OfferDeps): Promise<LocalAnswer> {
  if (facts.uploadLimit === undefined || !('result' in answer)) return answer;
  const { steps, meta } = await offer(facts, facts.uploadLimit, facts.uploadAccept, deps);
  const { _meta, ...rest } = answer.result;
  const kind = atMost(Number(facts.uploadLimit), facts.uploadAccept as readonly string[] | undefined);
  const content = [{ type: 'text', text: `${message} An upload takes a file${kind}.\n${steps}` }];
  return { result: { ...rest, content, _meta: { ...(isObject(_meta) && _meta), ...meta } } };
}

/** The right to one upload for an argument: steps for a model, and the same for programs. */
async function offer(
  facts: ErrorFacts,
  largest: unknown,
  types: unknown,
  { server, principal, uploads }: OfferDeps,
): Promise<{ steps: string; meta: JsonObject }> {
  const argument = String(facts.argument);
  const maxSize = Number(largest);
  const accept = Array.isArray(types) ? { accept: types as string[] } : {};
  const authorization = await uploads.authorize({
    principal,
    maxSize,
    ...accept,
    purpose: { server, tool: String(facts.tool), argument },
  });
  const then = `call the tool again with this handle as '${argument}'`;
  const { steps, upload, curl, page } = offerOf(authorization, undefined, then);
  const agent = { method: 'POST', url: page, headers: {}, example: curl };
  const file = { uri: authorization.uri };
  const wanted = { argument, file, maxSize, ...accept, upload, human: { url: page }, agent };
  return { steps, meta: { [UPLOAD_REQUIRED_META_KEY]: wanted } };
}
