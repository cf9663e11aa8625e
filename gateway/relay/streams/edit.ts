import { GatewayError } from '../../errors.js';
import { sniff } from '../../files/names/media-type.js';
import { checkResultType } from '../../files/names/result-type.js';
import { storeFile } from '../../files/store-file.js';
import { writerFor } from '../../hosts/spoken.js';
import { lightValue } from '../../json/light-value.js';
import { mayHoldWord } from '../../json/may-hold-word.js';
import { isObject } from '../../json/value.js';
import { eraOf } from '../../mcp/era.js';
import { RANGE, rangeAt } from '../../mcp/ranges.js';
import type { Limits } from '../../policy/limits.js';
import type { OutgoingFile } from '../../ports/dialect.js';
import type { JsonObject, JsonValue } from '../../ports/json.js';
import { completed } from '../client/local-answer.js';
import { FILES_META_KEY } from '../cut/places.js';
import { causeOf } from '../exchange.js';
import type { Addressee, AnswerEdit, EditableAnswer } from '../pending-request.js';
import { replaceOutcome } from '../results/answer-edit.js';
import { fileEntry } from '../results/beside/file-entries.js';
import type { ResultDeps } from '../results/deps.js';
import { prefixOf } from '../upstream/paced.js';
import { itemOf, type StreamItem } from './item.js';
import { namedFile } from './named-file.js';
import { refusalOf, rpcErrorOf, ServerError } from './refusal.js';
import { openRemote, type RemoteContext, twice } from './remote.js';
import type { StreamSender } from './send.js';

const INVALID_PARAMS = -32602;

/**
 * How to request the server's own stream while its answer to `resources/read` is being processed; undefined: it has
 * none.
 */
export type Remote = (answer: { to: Pick<Addressee, 'inquire' | 'signal'> }) => Promise<RemoteContext | undefined>;

/**
 * Turns the answer to a `resources/read` into a link, for a client that requested a stream and cannot get bytes.
 * @param take gets the content instead; the rest of the answer is then empty
 */
export function linkInstead(
  sender: StreamSender,
  remote: Remote,
  deps: ResultDeps,
  take?: (item: StreamItem) => void,
): AnswerEdit {
  const { streaming, client } = sender.order;
  const apply = async (answer: EditableAnswer) => {
    const { message, cuts, base } = answer;
    try {
      const item = await contentOf(answer, sender, remote, deps);
      const { stored } = item;
      const kept = () => stored && cuts.recorded(stored);
      if (take) {
        take(item);
        // the taker removes it
        kept();
        return replaceOutcome(answer, 'result', '{}');
      }
      const link = await sender.linkTo(item, kept);
      replaceOutcome(answer, 'result', JSON.stringify(completed(link, eraOf(client.protocolVersion))));
    } catch (thrown) {
      if (!(thrown instanceof ServerError) && !(thrown instanceof GatewayError && thrown.code === 'stream_refused')) {
        throw thrown;
      }
      if (rangeAt(message, RANGE.error, [...base, 'error']) && thrown instanceof ServerError) return;
      replaceOutcome(answer, 'error', JSON.stringify(rpcErrorOf(thrown, streaming, client)));
    }
  };
  return { apply };
}

async function contentOf(
  answer: EditableAnswer,
  sender: StreamSender,
  remote: Remote,
  deps: ResultDeps,
): Promise<StreamItem> {
  const { uri, streaming } = sender.order;
  const { limits, cut } = deps;
  const error = errorIn(answer, limits);
  if (error === undefined) {
    const named = (item: JsonObject) => namedFile(item, sender, answer.to, deps);
    return itemOf(answer, uri, { library: cut.library, limits, named });
  }
  const refusal = refusalOf(error, uri, streaming);
  const context = isMissing(refusal) ? undefined : await remote(answer);
  if (!context) throw refusal;
  return openRemote(uri, context);
}

/**
 * Gives a client that only reads what the server only streams: as a blob or, if that is too long, as the link that
 * replaces every such resource. Any other answer stays unchanged.
 */
export function readByStream(uri: string, remote: Remote, deps: ResultDeps): AnswerEdit {
  const apply = async (answer: EditableAnswer) => {
    const error = errorIn(answer, deps.limits);
    if (error === undefined) return;
    const context = await remote(answer);
    if (!context || saysMissing(error, uri, context)) return;
    const result = await twice(() => readRemote(uri, context, answer, deps)).catch((thrown: unknown) => {
      // its own refusal to read says more than its refusal to stream
      if (thrown instanceof ServerError || (thrown as GatewayError).code === 'stream_refused') return undefined;
      throw thrown;
    });
    if (result) replaceOutcome(answer, 'result', JSON.stringify(result));
  };
  return { apply, mayChange: (message) => mayHoldWord(message, 'error') };
}

async function readRemote(
  uri: string,
  context: RemoteContext,
  answer: EditableAnswer,
  deps: ResultDeps,
): Promise<JsonObject> {
  const item = await openRemote(uri, context);
  try {
    return await readAll(uri, item, answer, deps);
  } catch (error) {
    item.discard?.();
    throw error;
  }
}

async function readAll(
  uri: string,
  item: StreamItem,
  { to, cuts }: EditableAnswer,
  deps: ResultDeps,
): Promise<JsonObject> {
  const { limits, server, cut } = deps;
  const { client, principal, signal, facts } = to;
  const about = { uri, ...(item.mimeType !== undefined && { mimeType: item.mimeType }) };
  const era = eraOf(client.protocolVersion);
  if (item.size !== undefined && item.size > limits.file) throw tooLarge(uri, limits.file, item.size);
  const prefix = await prefixOf(toGenerator(item.read(signal)), limits.inlineResource);
  if (prefix.complete && prefix.bytes.length <= limits.inlineResource) {
    if (item.size !== undefined && item.size !== prefix.bytes.length) throw broken(server);
    const sniffed = await sniff(prefix.bytes);
    checkResultType(limits.acceptResults, { declared: item.mimeType, sniffed }, uri);
    const blob = prefix.bytes.toString('base64');
    // it is part of the message from now on
    cuts.account(blob.length);
    if (cuts.failure) throw cuts.failure;
    return completed({ contents: [{ ...about, blob }] }, era);
  }
  const record = await storeFile(
    {
      bytes: whole(prefix.all, item.size, server),
      claims: { ...about, ...(item.name !== undefined && { name: item.name }) },
      principal,
      server,
      by: causeOf(to),
      subject: 'resources/read',
      limit: { name: 'limits.file', bytes: limits.file, path: uri },
      types: limits.acceptResults,
    },
    cut,
    signal,
  );
  const ref = await cut.library.refer(record);
  facts.files += 1;
  facts.fileBytes += record.size;
  facts.content = record;
  const place = [...cut.places.values()].find((known) => known.place.kind === 'resource')?.place;
  if (!place) throw new Error('no dialect has a place for resources');
  const file: OutgoingFile = { ref };
  const result = {
    contents: writerFor(client, deps.dialects).write(place, file, about, client),
    ...(era.hasCacheFields && { cacheScope: 'private', ttlMs: ref.ttlSeconds * 1000 }),
    _meta: { [FILES_META_KEY]: [{ ...fileEntry(ref), contentIndex: 0 }] },
  };
  return completed(result, era);
}

/** The error in place of a result. */
function errorIn({ message, base }: EditableAnswer, limits: Limits): JsonValue | undefined {
  const range = rangeAt(message, RANGE.error, [...base, 'error']);
  // an empty error is still an error
  return range && (lightValue(message, range, limits) ?? null);
}

/**
 * In some revisions "not found" has the code of every other invalid parameter, and so does not show that it is missing.
 */
function saysMissing(error: JsonValue, uri: string, { streaming }: RemoteContext): boolean {
  const isAnything = isObject(error) && error.code === INVALID_PARAMS;
  return !isAnything && isMissing(refusalOf(error, uri, streaming));
}

/** A server does not stream what it does not know. */
function isMissing(refusal: GatewayError | ServerError): boolean {
  return refusal instanceof GatewayError && refusal.facts.reason === 'resourceNotFound';
}

async function* toGenerator(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* source;
}

/** Fails when the body is shorter or longer than announced, so that it is not published. */
async function* whole(source: AsyncIterable<Buffer>, size: number | undefined, server: string): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    yield chunk;
  }
  if (size !== undefined && bytes !== size) throw broken(server);
}

function broken(server: string): GatewayError {
  return new GatewayError('upstream_closed', { server });
}

function tooLarge(path: string, allowed: number, actual: number): GatewayError {
  return new GatewayError('file_too_large', { path, limit: 'limits.file', allowed, actual });
}
