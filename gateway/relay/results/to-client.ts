import { asGatewayError, GatewayError } from '../../errors.js';
import { Edits, growthOf } from '../../json/edit.js';
import { lightValue } from '../../json/light-value.js';
import { patchText } from '../../json/patch.js';
import { isObject } from '../../json/value.js';
import type { Piece } from '../../json/written.js';
import { errorAnswer, errorAnswers } from '../../mcp/error-response.js';
import { placesOf, RANGE, rangeAt } from '../../mcp/ranges.js';
import type { JsonPatch } from '../../ports/json.js';
import { type HeldMessage, MAX_CAPTURE } from '../../wire/json/reader.js';
import { plainSize, Room } from '../client/room.js';
import type { MessageCuts } from '../cut/message-cuts.js';
import { splice } from '../cut/splice.js';
import { causeOf, noteError } from '../exchange.js';
import { reportError } from '../exchange-log.js';
import type { Addressee, AnswerEdit, PendingRequest } from '../pending-request.js';
import { editToolList } from '../tools/tool-list.js';
import { withSource } from '../under-limits.js';
import { maySpeakForWharf, silenceServer } from '../upstream/own-words.js';
import { hasResources } from '../upstream/server-abilities.js';
import { viewOf } from '../upstream/view.js';
import type { ResultDeps } from './deps.js';
import { namesFiles } from './file-methods.js';
import { handleUses } from './handle-uses.js';
import { hidesContent } from './host/dropped-structure.js';
import { mayBeUnshown } from './host/unshown-blocks.js';
import { lookInside } from './inside/look-inside.js';
import { linkFiles } from './link-files.js';
import { OutgoingFiles } from './outgoing-files.js';
import { noticesIn } from './tool/task-notices.js';
import { mayBecomeTask, mayNameTask } from './tool/tool-of-task.js';
import { answersWithRequests, mayBeUnderTool, underTools } from './tool/under-tool.js';
import { liftedFacts, mayRefuseFile, retoldError } from './upstream-refusals.js';
import type { Work } from './work.js';

/** Methods whose results describe the server's abilities. */
const SERVER_METHODS = new Set(['initialize', 'server/discover']);

/** Methods whose results Wharf itself reads. */
const READ_METHODS = new Set([...SERVER_METHODS, 'tools/list']);

/** Of names that a message is given back: an id, a token, a subscription. A server may write the key `id` without end. */
const MOST_RENAMED = 4 * MAX_CAPTURE;

const LIST_CHANGED = 'notifications/tools/list_changed';

/** The stages of an upstream's message, in order. Each stage adds edits or throws the answer's error. */
const STAGES: readonly ((work: Work) => void | Promise<void>)[] = [
  refuseFailed,
  refuseLongBatch,
  refuseMalformed,
  lookInside,
  showServer,
  rewriteToolList,
  noteTasks,
  editAnswers,
  linkFiles,
  liftRefusals,
  remapIds,
  // storing a string late can fail as well
  refuseFailed,
];

interface Outgoing {
  pieces: Piece[];
  /** Ids, as the upstream knows them, of the requests it answers. */
  answered: readonly string[];
  /** Malformed JSON that passes unchanged: only its reader can tell whether it answers anything. */
  isBroken?: boolean;
  /** Removes what existed only for sending the message. Call it whether or not sending succeeded. */
  sent: () => Promise<void>;
}

/** A message's bytes when nothing in it needs work but what its channel restores: the hot path. */
export function untouched(
  message: HeldMessage,
  cuts: MessageCuts,
  deps: ResultDeps,
  to: Addressee,
): Piece[] | undefined {
  if (message.slots.length > 0 || cuts.failure || isLongBatch(message, deps)) return undefined;
  const requests = answersWithRequests(message, to.answered).map(({ request }) => request);
  const told = noticesIn(message).map(({ request }) => request);
  if ([...requests, ...told].some((request) => mayBeUnderTool(request, deps))) return undefined;
  const read = (start: number, end: number) => message.slice(start, end);
  if (
    requests.some(needsLook) ||
    mayConcern(requests, message.size, read) ||
    mayRefuseFile(requests, message.size, read)
  )
    return undefined;
  if (tellsOfChange(message) || namesFiles(message, deps, to) || maySpeak(message)) return undefined;
  if (hidesContent(message, to.client) || mayBeUnshown(message, to.client)) return undefined;
  if (!to.remap) return message.render([]) as Buffer[];
  const edits = new Edits(placesOf(message));
  const renamed = freeNames(to.remap(message, edits));
  if (edits.isEmpty) return message.render([]) as Buffer[];
  const { length, pieces } = edits.applied();
  return length > deps.limits.response + renamed ? undefined : [...pieces];
}

function maySpeak(message: HeldMessage): boolean {
  return maySpeakForWharf(message.pieces());
}

/** True when the answer to a request must be read, however short it is. */
export function needsLook(request: PendingRequest | undefined): boolean {
  if (request === undefined) return false;
  const { method, edits = NO_EDITS } = request;
  return READ_METHODS.has(method) || edits.some(({ mayChange }) => !mayChange);
}

const NO_EDITS: readonly AnswerEdit[] = [];

/** Bytes of a message that is searched for what its request is about: to read a longer one through costs little more. */
const MOST_SEARCHED = 64 * 1024;

/** True when an answer to these requests may need the edits of its request, or be a task. */
export function mayConcern(
  requests: readonly (PendingRequest | undefined)[],
  size: number,
  read: (start: number, end: number) => Buffer,
): boolean {
  const concerned = requests.flatMap((one) => (one && (one.edits || mayBecomeTask(one)) ? one : []));
  if (concerned.length === 0 || size > MOST_SEARCHED) return concerned.length > 0;
  const message = read(0, size);
  return concerned.some(
    ({ edits = NO_EDITS }) => mayNameTask(message) || edits.some(({ mayChange }) => !mayChange || mayChange(message)),
  );
}

/** The message for the client; undefined when it cannot be delivered and answers nothing. Never throws. */
export async function toClient(
  message: HeldMessage,
  cuts: MessageCuts,
  given: ResultDeps,
  to: Addressee,
): Promise<Outgoing | undefined> {
  await cuts.settle();
  const { deps, answers, notices } = await underTools(message, cuts, given, to);
  const owner = { principal: to.principal, server: deps.server };
  const files = new OutgoingFiles(deps.files, cuts, {
    owner,
    by: causeOf(to),
    signal: to.signal,
    tools: toolsIn(answers),
    uses: () => handleUses(deps, to),
  });
  const { response } = deps.limits;
  const room = new Room(response, plainSize(message, cuts));
  const edits = new Edits(placesOf(message));
  const work: Work = { message, cuts, deps, to, answers, notices, files, room, edits, renamed: 0 };
  try {
    if (maySpeak(message) && (await silenceServer(message, owner))) cuts.reread();
    const retold = retell(work);
    if (retold) {
      await dismiss(cuts);
      return retold;
    }
    for (const stage of STAGES) await stage(work);
    const spans = edits.spans();
    const pieces = splice(message, spans, {
      library: deps.cut.library,
      keyOf: (digest) => files.keyOf(digest),
      signal: to.signal,
    });
    if (growthOf(spans) > 0) refuseGrown(pieces, plainSize(message, cuts), { response, renamed: work.renamed });
    to.facts.files += files.count;
    to.facts.fileBytes += files.bytes;
    const isBroken = message.malformed !== undefined;
    return { pieces, answered: answers.map(({ id }) => id), isBroken, sent: () => dismiss(cuts) };
  } catch (thrown) {
    await dismiss(cuts);
    return failed(work, thrown);
  }
}

/** Finishes a message: releases its memory and removes its files without a record. */
export async function dismiss(cuts: MessageCuts): Promise<void> {
  await cuts.settle();
  cuts.discardFiles();
  cuts.release();
}

function failed({ message, answers, deps, to }: Work, thrown: unknown): Outgoing | undefined {
  const error = asGatewayError(withSource(thrown, deps.limits));
  // the caller has gone: not a fault, so do not log it
  if (!to.signal.aborted) reportError(deps, error, 'a message could not be delivered', { exchange: to });
  // of a batch that is too long, each request gets one answer
  const due = isLongBatch(message, deps)
    ? new Map(answers.flatMap((answer) => (answer.request ? [[answer.request.id, answer] as const] : []))).values()
    : answers;
  const own = [...due].map(({ base, id, request }) => ({ base, id: request?.id ?? id }));
  const lost = own.length === 0 && message.captured('method') === undefined ? to.onlyOpen?.() : undefined;
  const bytes = lost === undefined ? errorAnswers(own, error) : errorAnswer(error, to.answered(lost)?.id ?? lost);
  if (!bytes) {
    deps.metrics.count('wharf_dropped_messages_total', { server: deps.server, reason: error.code });
    return undefined;
  }
  noteError(to.facts, error);
  return { pieces: [bytes], answered: lost === undefined ? answers.map(({ id }) => id) : [lost], sent: async () => {} };
}

function refuseFailed({ cuts }: Work): void {
  if (cuts.failure) throw cuts.failure;
}

/**
 * A necessary edit, such as the preview of an image, may still exceed the limit.
 * @param pieces as sent; strings that left memory and are written back do not count
 * @param came size of the message as its server has written it
 */
function refuseGrown(
  pieces: readonly Piece[],
  came: number,
  { response: allowed, renamed }: { response: number; renamed: number },
): void {
  const actual = pieces.reduce((sum, piece) => sum + (Buffer.isBuffer(piece) ? piece.length : 0), 0);
  if (actual <= allowed + renamed) return;
  throw new GatewayError('response_too_large', { limit: 'limits.response', allowed, actual, came });
}

function refuseLongBatch({ message, deps }: Work): void {
  if (isLongBatch(message, deps)) {
    const reason = `a batch of it has more than limits.batch = ${deps.limits.batch} messages`;
    throw new GatewayError('upstream_invalid', { reason });
  }
}

function isLongBatch({ captures }: HeldMessage, { limits }: ResultDeps): boolean {
  const index = captures.at(-1)?.path[0];
  return typeof index === 'number' && index >= limits.batch;
}

/** Small malformed messages pass unchanged; one with a file in it would circumvent the limits, or the antivirus. */
function refuseMalformed({ message, cuts, deps }: Work): void {
  const isJudged = deps.cut.ingest.antivirus !== undefined || deps.limits.acceptResults !== undefined;
  const isFile = isJudged && message.slots.length > 0;
  if (message.malformed && (isFile || cuts.cuts.some((cut) => !cut.inline))) {
    const { offset, reason } = message.malformed;
    throw new GatewayError('upstream_invalid', { reason: `${reason} at byte ${offset}` });
  }
}

/** As bytes: made of a text for each answer, it costs as much as the search. */
const CHANGED = Buffer.from('list_changed');

/** A cheap test of a whole body; JSON may spell slashes in two ways. */
export function mayTellOfChange(body: Buffer): boolean {
  return body.includes(CHANGED);
}

/** True when a server says, in any message of a batch, that its tools have changed. */
export function tellsOfChange(message: HeldMessage): boolean {
  return message.captures.some(({ name, text }) => name === 'method' && text === `"${LIST_CHANGED}"`);
}

async function editAnswers({ message, cuts, answers, to, edits }: Work): Promise<void> {
  if (message.malformed) return;
  for (const { base, request } of answers)
    for (const edit of request?.edits ?? []) await edit.apply({ message, cuts, base, to, edits });
}

function showServer({ message, answers, deps, to, edits }: Work): void {
  if (message.malformed) return;
  for (const { base, request } of answers) {
    const range = rangeAt(message, RANGE.capabilities, [...base, 'result', 'capabilities']);
    if (!range || !SERVER_METHODS.has(request?.method ?? '')) continue;
    const capabilities = lightValue(message, range, deps.limits);
    if (!isObject(capabilities)) continue;
    const patches: JsonPatch[] = deps.dialects.flatMap(
      (dialect) => dialect.showServer?.(capabilities, to.client) ?? [],
    );
    // Wharf's own links and handles are resources, and hosts read those only where they are declared
    if (!hasResources(capabilities)) patches.unshift({ path: ['resources'], value: {} });
    if (patches.length > 0) edits.replace(range, patchText(message.slice(range.start, range.end), patches));
  }
}

/** A record keeps the name, which the client has chosen. */
const LONGEST_TOOL = 256;

/** Names of the tools that the requests of these answers have called. */
function toolsIn(answers: Work['answers']): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { request } of answers) {
    const { method, subject = '' } = request ?? {};
    if (method === 'tools/call' && subject.length <= LONGEST_TOOL) names.add(subject);
  }
  return names;
}

async function rewriteToolList({ message, answers, deps, to, room, edits }: Work): Promise<void> {
  const view = viewOf(to.client.protocolVersion, to.principal);
  if (tellsOfChange(message)) deps.catalog.forget(view);
  if (message.malformed) return;
  const unknownMethods = deps.unknownMethods.of(to.principal);
  for (const { base, request } of answers) {
    if (request?.method !== 'tools/list') continue;
    const owner = { principal: to.principal, server: deps.server };
    const list = {
      owner,
      message,
      at: [...base, 'result'],
      view,
      client: to.client,
      identity: to.identity,
      room,
      edits,
    };
    await editToolList(list, { ...deps, unknownMethods });
  }
}

async function noteTasks({ message, answers, deps, to: { principal } }: Work): Promise<void> {
  for (const { base, request } of answers) {
    if (request) await deps.taskTools.note(message, { base, request }, { principal, server: deps.server }, deps.limits);
  }
}

/** Replaces the whole message when its error takes another form for this client. */
function retell({ message, answers, deps, to }: Work): Outgoing | undefined {
  const [answer] = answers;
  if (message.slots.length > 0 || to.isFailure || answer?.base.length !== 0) return undefined;
  const bytes = retoldError(message, answer.request, refusalContext(answer, deps, to));
  return bytes && { pieces: [bytes], answered: [answer.id], sent: async () => {} };
}

function liftRefusals({ message, answers, deps, to, edits }: Work): void {
  if (message.slots.length > 0) return;
  for (const answer of answers) {
    const lifted = liftedFacts(message, answer, answer.request, refusalContext(answer, deps, to));
    if (lifted) edits.replace(lifted.range, lifted.text);
  }
}

function refusalContext({ request }: Work['answers'][number], deps: ResultDeps, { client, principal }: Addressee) {
  const tool = deps.catalog.known(viewOf(client.protocolVersion, principal), request?.subject ?? '');
  // a schema too large to be kept is unknown, so it allows nothing
  const outputSchema = () => (tool?.hasUnkeptSchema ? {} : tool?.outputSchema);
  return { client, dialects: deps.dialects, outputSchema };
}

function remapIds(work: Work): void {
  const { message, to, edits } = work;
  if (to.remap) work.renamed = freeNames(to.remap(message, edits));
}

/** An answer that its server has written within the limit is not refused for the name that its client gave the request. */
function freeNames(longer: number): number {
  return Math.min(Math.max(longer, 0), MOST_RENAMED);
}
