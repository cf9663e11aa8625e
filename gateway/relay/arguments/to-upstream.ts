import { GatewayError } from '../../errors.js';
import { itemPaths, JsonDocument } from '../../json/document.js';
import { Edits, type Range } from '../../json/edit.js';
import type { ClientMessages } from '../../mcp/request.js';
import { contrast } from '../../policy/amounts.js';
import type { OutgoingMessage } from '../../ports/upstream.js';
import { plainText } from '../../wire/json/plain-text.js';
import type { PendingRequest } from '../pending-request.js';
import { writtenAt } from '../tools/lifted-arguments.js';
import { declareAbilities, PROGRESS_TOKEN, putBackLifted, renameRequest, renameTools } from './around-calls.js';
import { countFiles } from './count-files.js';
import { Deliveries } from './deliveries.js';
import { findCalls, findFiles } from './find-files.js';
import { findPlaces } from './find-places.js';
import { handOnTrace } from './hand-on-trace.js';
import { refuseMissing } from './missing-files.js';
import { openBundles } from './open-bundles.js';
import { outgoing } from './outgoing-message.js';
import { keepOwnSubscriptions } from './own-subscriptions.js';
import { type HandedOver, lifts, nameIn, ownerOf, type Post, type PostContext, type Stage, splits } from './post.js';
import { writeFiles } from './write-files.js';

/**
 * The stages of a client's messages, in order: each adds edits, or throws the error that answers them. The list in
 * `results/to-client.ts` is the counterpart.
 */
const STAGES = [
  renameRequest,
  renameTools,
  declareAbilities,
  putBackLifted,
  keepOwnSubscriptions,
  handOnTrace,
  findCalls,
] as const;

/** Those of calls with files, and of what the ones before have changed. */
const FILE_STAGES = [
  refuseMissing,
  openBundles,
  findFiles,
  countFiles,
  findPlaces,
  refuseLongRest,
  writeFiles,
] as const;

const ALL_STAGES: readonly Stage[] = [...STAGES, ...FILE_STAGES];

/** A POST in the form for the server. */
export interface ToUpstream {
  /** Several where the server takes no batch. */
  messages: readonly [OutgoingMessage, ...OutgoingMessage[]];
  /** Its requests, with what has been found in them. */
  requests: readonly PendingRequest[];
  /** Headers that go with it. */
  headers: Readonly<Record<string, string>>;
  /** For a renamed request: its client's progress token, as JSON text. */
  progressToken: string | undefined;
  /** Removes what existed only for it; absent where there is nothing. Call it when the POST is answered, or not sent. */
  done?: () => Promise<void>;
}

/**
 * Prepares a client's messages for the server: declares what Wharf can do for the client, and writes file arguments in
 * the form that the server takes. Messages without either pass unchanged.
 * @throws GatewayError `file_refused` before the server has been asked, and the errors of stores and upstream
 */
export function toUpstream(messages: ClientMessages, context: PostContext): ToUpstream | Promise<ToUpstream> {
  const document = JsonDocument.of(messages.bytes, messages.isBatch, ownerOf(context));
  const { requests } = messages;
  const base = { context, messages, document, edits: new Edits(document), deliveries: new Deliveries(context) };
  let post: Post = { ...base, requests, calls: [], handed: [], headers: {} };
  // most calls have no file: they get here in one turn, without the stages of files
  for (let at = 0; at < STAGES.length; at++) {
    post.edits.nextStage();
    const next = (STAGES[at] as Stage)(post);
    if (next instanceof Promise) return inTurns(next, at + 1);
    post = next;
  }
  if (post.calls.length > 0) return inTurns(post, STAGES.length);
  return post.edits.isEmpty && !splits(post) ? unchanged(post) : renamed(post);
}

/** A POST without files, in which names have changed, or a batch: a short one gets through in the same turn. */
function renamed(post: Post): ToUpstream | Promise<ToUpstream> {
  const found = findPlaces(post);
  return found instanceof Promise ? found.then(sent) : sent(found);
}

/** A POST that needs none of it. */
function unchanged({ messages: { bytes }, requests, headers, context }: Post): ToUpstream {
  refuseLongMessage(bytes.length, bytes.length, context);
  return { messages: [bytes], requests, headers, progressToken: undefined };
}

/** @param from of the stages, the first one that is left */
async function inTurns(given: Post | Promise<Post>, from: number): Promise<ToUpstream> {
  let post = await given;
  const { deliveries } = post;
  try {
    for (const stage of ALL_STAGES.slice(from)) {
      post.edits.nextStage();
      const next = stage(post);
      post = next instanceof Promise ? await next : next;
    }
    return await sent(post);
  } catch (error) {
    await deliveries.done();
    throw error;
  }
}

function sent(post: Post): ToUpstream | Promise<ToUpstream> {
  const { context, messages, document, edits, requests, calls, handed, headers, deliveries } = post;
  const written = edits.isEmpty && !splits(post) ? undefined : edits.appliedIn(partsOf(post));
  const length = written ? written.reduce((sum, part) => sum + part.length, 0) : messages.bytes.length;
  if (calls.length > 0) refuseLongCall(length, calls, context);
  else refuseLongMessage(length, messages.bytes.length, context);
  const sending = written ? written.map(outgoing) : [messages.bytes];
  const token = context.id === undefined ? undefined : document.at(PROGRESS_TOKEN);
  const progressToken = token && plainText(document.slice(token.start, token.end).toString('utf8'));
  const done = deliveries.isEmpty ? {} : { done: deliveries.done };
  const { deps, principal } = context;
  const handOver = (ready: readonly OutgoingMessage[]): ToUpstream => {
    for (const one of handed) deps.log.info({ principal, to: deps.server, ...factsOf(one) }, 'a file was handed over');
    return { messages: ready as ToUpstream['messages'], requests, headers, progressToken, ...done };
  };
  return sending.every(isReady) ? handOver(sending) : Promise.all(sending).then(handOver);
}

function isReady(sending: OutgoingMessage | Promise<OutgoingMessage>): sending is OutgoingMessage {
  return !(sending instanceof Promise);
}

/** What is sent by itself: the whole body, or each message of a batch. */
function partsOf(post: Post): readonly Range[] {
  const { document, messages } = post;
  if (!splits(post)) return [{ start: 0, end: document.size }];
  return itemPaths(messages.count).map((path) => document.at(path) as Range);
}

/** Over stdio a line that is too long ends the server's process, and with it all its other calls. */
function refuseLongCall(actual: number, calls: Post['calls'], context: PostContext): void {
  const { accepts: allowed, server } = context.deps;
  if (actual <= allowed) return;
  const called = calls.flatMap((call) => call.uses.map((use) => nameIn(call, use, context)));
  const argument = called.join(', ');
  const sizes = contrast(allowed, actual);
  const text =
    `The server "${server}" takes messages of at most ${sizes.allowed}; with the files in ${argument} this one ` +
    `has ${sizes.actual}. Pass fewer or smaller files.`;
  const reason = 'maxSizeExceeded';
  const limit = `servers.${server}.accepts`;
  const told = { reason, argument, text, maxSize: allowed, actualSize: actual };
  throw new GatewayError('file_refused', { ...told, limit, allowed, actual });
}

/** What stands beside files is known only now: a string there could have been one as well. */
function refuseLongRest(post: Post): Post {
  const { context, messages, calls, document } = post;
  const { limits } = context.deps;
  const came = messages.bytes.length;
  if (came <= limits.message || calls.length === 0) return post;
  // several files may have come as one handle
  const places = new Map<number, Range>();
  for (const { base, uses, cameAt } of calls) {
    for (const { slot, path } of uses) {
      const own = cameAt?.(path) ?? path;
      // a lifted argument came under another name
      const place = document.at([...base, ...writtenAt(slot, own, lifts(context))]) ?? document.at([...base, ...own]);
      if (place) places.set(place.start, place);
    }
  }
  let actual = came;
  for (const { start, end } of places.values()) actual -= end - start;
  if (actual <= limits.message) return post;
  throw new GatewayError('message_too_large', { limit: 'limits.message', allowed: limits.message, actual });
}

/** @param came length of the message as the client sent it */
function refuseLongMessage(actual: number, came: number, { deps: { accepts, limits, server } }: PostContext): void {
  if (actual > accepts) {
    throw new GatewayError('message_too_large', { limit: `servers.${server}.accepts`, allowed: accepts, actual });
  }
  // the strings that could have been files were not
  if (came > limits.message) {
    throw new GatewayError('message_too_large', { limit: 'limits.message', allowed: limits.message, actual: came });
  }
}

/** The log's facts about a file: nothing of its content, and of its origin only what is known. */
function factsOf({ argument, file: { origin, size, record } }: HandedOver) {
  const { id, server, digest } = record ?? {};
  return {
    origin,
    argument,
    size,
    ...(record && { file: id, digest }),
    ...(server !== undefined && { from: server }),
  };
}
