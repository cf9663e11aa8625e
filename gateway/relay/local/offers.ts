import { type ErrorFacts, GatewayError } from '../../errors.js';
import type { FewLines } from '../../few-lines.js';
import { severalIn } from '../../files/tickets/several.js';
import { acceptByIn, sizeByIn } from '../../files/tickets/upload-intent.js';
import type { UploadLinks } from '../../files/uploads/upload-links.js';
import { isObject } from '../../json/value.js';
import type { ClientFacts } from '../../ports/client.js';
import type { Dialect } from '../../ports/dialect.js';
import type { JsonObject } from '../../ports/json.js';
import type { Log } from '../../ports/log.js';
import type { Metrics } from '../../ports/metrics.js';
import type { Asked } from '../caller.js';
import { answerFor, type LocalAnswer, refusalAnswer } from '../client/local-answer.js';
import { tellError } from '../exchange-log.js';
import { atMost, offerOf, offerOfSeveral } from './upload-steps.js';

/** Key in a tool result's `_meta` with the offer to upload a missing or refused file, for programs. */
const UPLOAD_REQUIRED_META_KEY = 'dev.wharf/uploadRequired';

interface OfferDeps {
  server: string;
  principal: string;
  uploadLinks: Pick<UploadLinks, 'authorize'>;
}

interface RefusalDeps extends Omit<OfferDeps, 'principal'> {
  dialects: readonly Dialect[];
  log: Log;
  fewLines: FewLines;
  metrics: Metrics;
}

/** Whether a call fails for a file that it lacks, or that is refused: Wharf answers it, with a link to upload one. */
export function isAboutFile(error: unknown): error is GatewayError {
  return error instanceof GatewayError && (error.code === 'file_refused' || error.code === 'file_missing');
}

/** Notes a call that lacks a file, or has one that is refused, and answers it: the model can mend that. */
export async function answerRefusedFile(
  error: GatewayError,
  { exchange, client }: Pick<Asked, 'exchange' | 'client'>,
  deps: RefusalDeps,
): Promise<LocalAnswer> {
  const { facts, principal } = exchange;
  const { server, uploadLinks, dialects, log } = deps;
  tellError(deps, error, exchange);
  const { reason, argument } = error.facts;
  const { limit, allowed, actual } = facts;
  log.info({ principal, reason, argument, limit, allowed, actual, err: error.cause }, 'a file was refused');
  return fileAnswer(error, client, { server, principal, uploadLinks, dialects });
}

/**
 * The answer to a call with a missing or refused file: what is wrong and, if the argument takes a handle, how to upload
 * the file.
 */
async function fileAnswer(
  error: GatewayError,
  client: ClientFacts,
  deps: OfferDeps & { dialects: readonly Dialect[] },
): Promise<LocalAnswer> {
  const refusal = () => refusalAnswer(error, client, deps.dialects);
  const answer =
    error.code === 'file_missing' ? await missingAnswer(error, deps) : await withOffer(refusal(), error, deps);
  return answerFor(client, answer);
}

/** Tells a model which file a call lacks, and how to provide it, with a link. */
async function missingAnswer({ facts, message }: GatewayError, deps: OfferDeps): Promise<LocalAnswer> {
  const modes = Array.isArray(facts.transferModes) ? (facts.transferModes as string[]) : ['upload'];
  if (!modes.includes('upload')) {
    const text = `${message} Pass it as a data: URI, data:<type>;base64,<bytes>. Do not make up what is in it.`;
    return { result: { content: [{ type: 'text', text }], isError: true } };
  }
  const { steps, meta } = await offer(facts, facts.maxSize, facts.accept, deps);
  return { result: { content: [{ type: 'text', text: `${message}\n${steps}` }], isError: true, _meta: meta } };
}

/**
 * Adds the upload offer to a refusal of a file that may be given by its handle; an answer that is not a tool result
 * stays unchanged.
 */
async function withOffer(answer: LocalAnswer, { facts, message }: GatewayError, deps: OfferDeps): Promise<LocalAnswer> {
  if (facts.uploadLimit === undefined || !('result' in answer)) return answer;
  const { steps, meta } = await offer(facts, facts.uploadLimit, facts.uploadAccept, deps);
  const { _meta, ...rest } = answer.result;
  const kind = atMost(Number(facts.uploadLimit), facts.uploadAccept as readonly string[] | undefined);
  const content = [{ type: 'text', text: `${message} An upload takes a file${kind}.\n${steps}` }];
  return { result: { ...rest, content, _meta: { ...(isObject(_meta) && _meta), ...meta } } };
}

/** The right to one upload for an argument: steps for a model, and the same facts for programs. */
async function offer(
  facts: ErrorFacts,
  largest: unknown,
  types: unknown,
  { server, principal, uploadLinks }: OfferDeps,
): Promise<{ steps: string; meta: JsonObject }> {
  const argument = String(facts.argument);
  const maxSize = Number(largest);
  const accept = Array.isArray(types) ? { accept: types as string[] } : {};
  const several = severalIn(facts);
  const authorization = await uploadLinks.authorize({
    principal,
    maxSize,
    ...sizeByIn(facts),
    ...accept,
    ...acceptByIn(facts),
    isForPerson: true,
    ...(several && { several }),
    purpose: { server, tool: String(facts.tool), argument },
  });
  const then = `call the tool again with this handle as '${argument}'`;
  const { steps, upload, curl, page, code } = several
    ? offerOfSeveral(authorization, several, then)
    : offerOf(authorization, undefined, then);
  const agent = { method: 'POST', url: page, headers: upload.headers ?? {}, example: curl };
  const file = { uri: authorization.uri };
  const wanted = {
    argument,
    file,
    maxSize,
    ...accept,
    ...(several && { minFiles: several.least, maxFiles: several.most }),
    upload,
    human: { url: page, ...(code !== undefined && { code }) },
    agent,
  };
  return { steps, meta: { [UPLOAD_REQUIRED_META_KEY]: wanted } };
}
